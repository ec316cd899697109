// What all kernels share: number formats, the tensor cores' product, sums over a block.
//
// No header of NVIDIA's is needed: bf16 and half are unsigned shorts, and what C++ has no word for
// is PTX. Under the simulator of the tests the same names are plain functions.
#pragma once

#ifdef FIRSTLIGHT_SIMULATED
#include "simulated.h"
#else

static __device__ __forceinline__ float bf16_to_float(unsigned short x) {
  return __uint_as_float((unsigned)x << 16);
}

static __device__ __forceinline__ unsigned short float_to_bf16(float x) {
  unsigned short to;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(to) : "f"(x));
  return to;
}

static __device__ __forceinline__ unsigned pack_bf16(float low, float high) {
  unsigned to;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(to) : "f"(high), "f"(low));
  return to;
}

static __device__ __forceinline__ float half_to_float(unsigned short x) {
  float to;
  asm("cvt.f32.f16 %0, %1;" : "=f"(to) : "h"(x));
  return to;
}

static __device__ __forceinline__ unsigned short float_to_half(float x) {
  unsigned short to;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to) : "f"(x));
  return to;
}

static __device__ __forceinline__ unsigned pack_half(float low, float high) {
  unsigned to;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(to) : "f"(high), "f"(low));
  return to;
}

static __device__ __forceinline__ void mma_bf16(
    float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ __forceinline__ void mma_half(
    float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#endif

#define KERNEL extern "C" __global__ void

#define WARP 32
#define ALL_LANES 0xffffffffu

typedef unsigned char byte;
typedef unsigned short half_bits;
typedef unsigned short bf16;
typedef unsigned long long u64;

// How much of a Step there is. Launches are made for the largest Step of their bucket, since a
// graph keeps its grids; what is beyond these numbers ends at once.
struct Counts {
  int rows;
  int sampled;
  int tiles;
  int splits;
};

// Elements of an activation row are kept so that what one lane multiplies in a chunk of 32 lies
// together: lane 4 * g + t has elements 4t..4t+3 and 16+4t..16+4t+3.
static __device__ __forceinline__ int lane_order(int element) {
  int in_chunk = element & 31;
  return (element & ~31) | ((in_chunk >> 2) & 3) << 3 | (in_chunk >> 4) << 2 | (in_chunk & 3);
}

// E4M3 and halves differ in where the exponent begins, so one is the other, 256 times as large.
static __device__ __forceinline__ float fp8_to_float(unsigned char x) {
  unsigned half = (x & 0x80u) << 8 | (x & 0x7fu) << 7;
  return half_to_float((unsigned short)half) * 256.f;
}

// To the nearest, to the even one of two, and to 448 at most.
static __device__ __forceinline__ unsigned char float_to_fp8(float x) {
  float size = fminf(fabsf(x), 448.f);
  // Numbers of one exponent are apart by an eighth of its power, the smallest by 2^-9.
  float step = __uint_as_float((max(__float_as_uint(size) >> 23, 121u) - 3) << 23);
  unsigned short half = float_to_half(rintf(size / step) * step / 256.f);
  return (unsigned char)((__float_as_uint(x) >> 31) << 7 | half >> 7);
}

static __device__ __forceinline__ float warp_sum(float x) {
  for (int mask = WARP / 2; mask > 0; mask >>= 1) {
    x += __shfl_xor_sync(ALL_LANES, x, mask);
  }
  return x;
}

// The sum over a block of up to 1,024 threads, in an order that depends on its size alone. All
// threads get it. May be called again at once.
static __device__ __forceinline__ float block_sum(float x) {
  __shared__ float sums[WARP];
  int warps = (blockDim.x + WARP - 1) / WARP;
  x = warp_sum(x);
  __syncthreads();
  if (threadIdx.x % WARP == 0) {
    sums[threadIdx.x / WARP] = x;
  }
  __syncthreads();
  float sum = sums[0];
  for (int i = 1; i < warps; i++) {
    sum += sums[i];
  }
  return sum;
}

#define GAMMA 0x9E3779B97F4A7C15ull

// SplitMix64's finalizer: of a seed with a multiple of GAMMA it makes a random number.
static __device__ __forceinline__ u64 mixed(u64 z) {
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z ^ z >> 31;
}

// The hyperbolic tangent approximation of x Phi(x), as Gemma was trained with.
static __device__ __forceinline__ float gelu(float x) {
  float inner = 0.7978845608028654f * x * fmaf(0.044715f * x, x, 1.f);
  return x / (1.f + expf(-2.f * inner));
}

static __device__ __forceinline__ float silu(float x) {
  return x / (1.f + expf(-x));
}
