// What a kernel source sees when g++ compiles it for the simulated device instead of NVRTC for a
// real one: CUDA's words, its functions, and functional models of what device.cuh takes from PTX.
//
// What a device does and this does not: run warps or blocks that wait for each other otherwise than
// at barriers (they wait for ever), reorder reads and writes, copy asynchronously (cp.async, TMA),
// multiply with wgmma, or give kernels shared memory of a size that the launch says. What this
// minds and a device may not: an operation of a warp some of whose lanes have ended.
#pragma once

#include "simulated_threads.h"  // before any other
#include <math.h>
#include <string.h>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include "simulated_numbers.h"

#ifndef SIMULATED_LIST  // is defined to find the kernels in preprocessed text
#define __global__
#endif
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)

// An OS thread runs one block at a time, so what it has for itself is what a block has. Arrays must
// have a length: there is no dynamic shared memory here.
#define __shared__ static thread_local

#define threadIdx (simulatedLane->thread)
#define blockIdx (simulatedLane->block->index)
#define blockDim (simulatedLane->block->dimension)
#define gridDim (simulatedLane->block->grid)

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(8) int2 { int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };

static inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static inline int2 make_int2(int x, int y) { return {x, y}; }
static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
  return {x, y, z, w};
}
static inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

// As in CUDA, the number wins against NaN.
template <class A, class B>
static inline std::common_type_t<A, B> min(A left, B right) {
  std::common_type_t<A, B> a = left, b = right;
  if constexpr (std::is_floating_point_v<decltype(a)>) return a < b || b != b ? a : b;
  return a < b ? a : b;
}

template <class A, class B>
static inline std::common_type_t<A, B> max(A left, B right) {
  std::common_type_t<A, B> a = left, b = right;
  if constexpr (std::is_floating_point_v<decltype(a)>) return a > b || b != b ? a : b;
  return a > b ? a : b;
}

static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fdiv_rn(float a, float b) { return a / b; }
#define __expf expf  // the C library has one, which can not be called

static inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
static inline int __clz(int bits) { return bits == 0 ? 32 : __builtin_clz((unsigned) bits); }
static inline int __ffs(int bits) { return __builtin_ffs(bits); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long) ((unsigned __int128) a * b >> 64);
}

template <class T>
static inline T __ldg(const T* address) {
  return *address;
}

static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// Blocks run at the same time on several OS threads, so these must be atomic here, too. There is
// none for floats: a sum would depend on the order.
template <class T>
static inline T atomicAdd(T* address, std::type_identity_t<T> value) {
  static_assert(std::is_integral_v<T> && sizeof(T) >= 4);
  return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}

template <class T>
static inline T atomicMax(T* address, std::type_identity_t<T> value) {
  static_assert(std::is_integral_v<T> && sizeof(T) >= 4);
  T old = __atomic_load_n(address, __ATOMIC_RELAXED);
  while (old < value && !__atomic_compare_exchange_n(
      address, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return old;
}

static inline void __syncthreads() { simulated::meetBlock(); }

static inline void __syncwarp(unsigned mask = simulated::ALL_LANES) {
  simulated::meet(simulated::Operation::SYNCWARP, mask);
}

namespace simulated {

// A lane's value for the value of another one.
template <class T>
inline T shuffle(Operation operation, unsigned mask, T value, unsigned source) {
  static_assert(sizeof(T) <= sizeof(uint64_t) && std::is_trivially_copyable_v<T>);
  Lane* self = simulatedLane;
  memcpy(&self->warp->value[self->lane], &value, sizeof(T));
  self->warp->source[self->lane] = source;
  meet(operation, mask);
  memcpy(&value, &self->warp->result[self->lane], sizeof(T));
  return value;
}

// The lanes of a mask that say yes.
inline unsigned vote(unsigned mask, bool yes) {
  Lane* self = simulatedLane;
  self->warp->value[self->lane] = yes;
  meet(Operation::VOTE, mask);
  return (unsigned) self->warp->result[self->lane];
}

// The fragments of the PTX manual: lane 4 i + k has of the rows i and i + 8 the words k and k + 4
// of a and the word k of d, and of column i the words k and k + 4 of b. A lane that runs ahead may
// change a and b, since they are of no use any more, and its own part of d.
inline void multiply(
    Operation operation, float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  Lane* self = simulatedLane;
  Warp& warp = *self->warp;
  unsigned i = self->lane / 4, k = self->lane % 4;
  warp.a[i][k] = a[0];
  warp.a[i + 8][k] = a[1];
  warp.a[i][k + 4] = a[2];
  warp.a[i + 8][k + 4] = a[3];
  warp.b[k][i] = b[0];
  warp.b[k + 4][i] = b[1];
  float* upper = &warp.d[i][2 * k];
  float* lower = &warp.d[i + 8][2 * k];
  upper[0] = d[0], upper[1] = d[1], lower[0] = d[2], lower[1] = d[3];
  meet(operation, ALL_LANES);
  d[0] = upper[0], d[1] = upper[1], d[2] = lower[0], d[3] = lower[1];
}

// How a kernel is called with copies of its parameters, and how large they are.
template <auto KERNEL>
struct Entry;

template <class... Parameters, void (*KERNEL)(Parameters...)>
struct Entry<KERNEL> {
  static void run(void** parameters) {
    call(parameters, std::index_sequence_for<Parameters...>());
  }
  template <size_t... I>
  static void call([[maybe_unused]] void** parameters, std::index_sequence<I...>) {
    KERNEL(*(Parameters*) parameters[I]...);
  }
  static std::vector<size_t> sizes() { return {sizeof(Parameters)...}; }
};

}  // namespace simulated

// Lanes of a segment of `width` lanes see only each other.
template <class T>
static inline T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  unsigned first = simulatedLane->lane & ~(width - 1);
  return simulated::shuffle(
      simulated::Operation::SHUFFLE, mask, value, first + (source & (width - 1)));
}

template <class T>
static inline T __shfl_xor_sync(unsigned mask, T value, int flipped, int width = 32) {
  unsigned lane = simulatedLane->lane;
  unsigned source = lane ^ flipped;
  bool inside = source < (lane & ~(width - 1)) + width;
  return simulated::shuffle(
      simulated::Operation::SHUFFLE_XOR, mask, value, inside ? source : lane);
}

template <class T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32) {
  unsigned lane = simulatedLane->lane;
  bool inside = (lane & (width - 1)) + distance < (unsigned) width;
  return simulated::shuffle(
      simulated::Operation::SHUFFLE_DOWN, mask, value, inside ? lane + distance : lane);
}

static inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return simulated::vote(mask, predicate != 0);
}

static inline int __any_sync(unsigned mask, int predicate) {
  return simulated::vote(mask, predicate != 0) != 0;
}

static inline int __all_sync(unsigned mask, int predicate) {
  return simulated::vote(mask, predicate != 0) == mask;
}

// d += a b: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 and the same with halves, with the
// fragments of the PTX manual.
static inline void mma_bf16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  simulated::multiply(simulated::Operation::MMA_BF16, d, a, b);
}

static inline void mma_half(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  simulated::multiply(simulated::Operation::MMA_HALF, d, a, b);
}

#define SIMULATED_KERNEL(kernel)                            \
  static simulated::Registration simulatedKernel_##kernel( \
      #kernel, &simulated::Entry<&kernel>::run, simulated::Entry<&kernel>::sizes());
