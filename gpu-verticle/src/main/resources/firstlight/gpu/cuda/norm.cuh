// Root-mean-square norms with what comes before them (Zhang and Sennrich, 2019).
#pragma once
#include "device.cuh"

static __device__ __forceinline__ float norm_factor(const float* x, int size, float epsilon) {
  float sum = 0;
  for (int i = threadIdx.x; i < size; i += blockDim.x) {
    sum = fmaf(x[i], x[i], sum);
  }
  return 1.f / sqrtf(block_sum(sum) / size + epsilon);
}

// out: [rows][size], bf16 in lane order; stream: [rows][size]; added: [rows][size], or null;
// post_norm: [size], or null; wanted: the rows of the stream that are taken, or null: all
struct AddNorm {
  bf16* out;
  float* stream;
  const float* added;
  const float* post_norm;
  const float* norm;
  const int* wanted;
  const Counts* counts;
  int size;
  // Between rows of what is added.
  int stride;
  float epsilon;
};

// One block a row: adds a part's output to the stream, normalised before where there is a post
// norm, and writes the normalised stream as the next product's input.
KERNEL __launch_bounds__(256) add_norm(AddNorm a) {
  if (blockIdx.x >= (a.wanted ? a.counts->sampled : a.counts->rows)) {
    return;
  }
  int row = a.wanted ? a.wanted[blockIdx.x] : blockIdx.x;
  float* x = a.stream + (u64)row * a.size;
  if (a.added) {
    const float* y = a.added + (u64)row * a.stride;
    float factor = a.post_norm ? norm_factor(y, a.size, a.epsilon) : 0.f;
    for (int i = threadIdx.x; i < a.size; i += blockDim.x) {
      x[i] = a.post_norm ? fmaf(y[i] * factor, a.post_norm[i], x[i]) : x[i] + y[i];
    }
  }
  // Each thread reads again only what it wrote itself.
  float factor = norm_factor(x, a.size, a.epsilon);
  bf16* out = a.out + (u64)blockIdx.x * a.size;
  for (int i = threadIdx.x; i < a.size; i += blockDim.x) {
    out[lane_order(i)] = float_to_bf16(x[i] * factor * a.norm[i]);
  }
}
