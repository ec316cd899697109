// What is done to numbers one by one.
#pragma once
#include "device.cuh"

// gates, ups: [rows][stride]; out: [rows][size], bf16 in lane order
struct Activate {
  bf16* out;
  const float* gates;
  const float* ups;
  const Counts* counts;
  int size;
  int stride;
  int is_gelu;
};

// The gated activation: a thread a number.
KERNEL __launch_bounds__(256) activate(Activate a) {
  int i = blockIdx.y * blockDim.x + threadIdx.x;
  if (blockIdx.x >= a.counts->rows || i >= a.size) {
    return;
  }
  u64 at = (u64)blockIdx.x * a.stride + i;
  float active = a.is_gelu ? gelu(a.gates[at]) : silu(a.gates[at]);
  a.out[(u64)blockIdx.x * a.size + lane_order(i)] = float_to_bf16(active * a.ups[at]);
}
