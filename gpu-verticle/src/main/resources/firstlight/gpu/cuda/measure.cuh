// What measuring needs and serving does not: memory full of numbers that can be made again from a
// seed, and memory that is only read.
#pragma once
#include "device.cuh"

enum FillKind { FILL_BF16, FILL_HALF, FILL_BLOCKS };

// to: words of 16 bits. Numbers are nearly normal. Blocks are of so many words, all bits random but
// for the scales, which are positive halves.
struct Fill {
  unsigned short* to;
  u64 words;
  u64 seed;
  float factor;
  int kind;
  int block_words;
  int first_scale;
  int scales;
};

// What stands at a place depends on the seed and the place alone.
static __device__ __forceinline__ unsigned short fill_word(const Fill& f, u64 at) {
  u64 bits = mixed(f.seed + GAMMA * (at + 1));
  if (f.kind == FILL_BLOCKS) {
    int scale = (int)(at % f.block_words) - f.first_scale;
    int some = (int)(bits & 0xffff);
    // Between a half and one and a half.
    return scale >= 0 && scale < f.scales ? float_to_half((some + 32768) * f.factor)
                                          : (unsigned short)some;
  }
  // Four even numbers add up to a nearly normal one.
  int sum = (int)(bits & 0xffff) + (int)(bits >> 16 & 0xffff) + (int)(bits >> 32 & 0xffff)
      + (int)(bits >> 48);
  float x = (sum - 131070) * f.factor;
  return f.kind == FILL_HALF ? float_to_half(x) : float_to_bf16(x);
}

KERNEL __launch_bounds__(256) fill_random(Fill f) {
  u64 step = (u64)gridDim.x * blockDim.x;
  for (u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x; at < f.words; at += step) {
    f.to[at] = fill_word(f, at);
  }
}

// out: a word of each thread, which all words together make by "exclusive or".
struct Reading {
  const uint4* from;
  u64 count;
  unsigned* out;
};

KERNEL __launch_bounds__(256) read_words(Reading r) {
  u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  u64 step = (u64)gridDim.x * blockDim.x;
  unsigned all = 0;
#pragma unroll 4
  for (u64 at = thread; at < r.count; at += step) {
    uint4 x = r.from[at];
    all ^= x.x ^ x.y ^ x.z ^ x.w;
  }
  r.out[thread] = all;
}
