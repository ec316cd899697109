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

// from: [rows][size], bf16 in lane order; to: the same in the order of elements
struct Restore {
  bf16* to;
  const bf16* from;
  int size;
};

// Undoes lane_order, for products that are not ours: a thread four numbers, which stay together.
KERNEL __launch_bounds__(256) restore_order(Restore r) {
  int i = 4 * (blockIdx.y * blockDim.x + threadIdx.x);
  if (i < r.size) {
    u64 row = (u64)blockIdx.x * r.size;
    *(uint2*)(r.to + row + i) = *(const uint2*)(r.from + row + lane_order(i));
  }
}
