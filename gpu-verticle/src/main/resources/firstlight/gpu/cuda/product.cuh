// Weights times activations, on tensor cores, from the weights as they are stored.
//
// Every number is the same whatever else is in the Step: its columns are cut into eight ranges that
// depend on the matrix alone, each range is added up chunk by chunk, and the ranges are added in
// their order. So the kernel for few tokens, whose warps take a range each, and the one for many,
// whose warps take them in turn, give the same bits. And so do several GPUs that have some of the
// ranges each: they leave the ranges' sums apart, and add_ranges adds them when all are there.
#pragma once
#include "quants.cuh"

#define RANGES 8

// out: [tokens][stride]; weights: [rows][row_bytes]; scales: by row, or null; x: [tokens][columns],
// bf16 in lane order
struct Product {
  float* out;
  const byte* weights;
  u64 row_bytes;
  const float* scales;
  const bf16* x;
  int rows;
  int columns;
  int stride;
  // Whether the tokens are the sampled ones: of these, so many from the first on.
  int sampled;
  int first;
  int limit;
  // Into which the columns are cut; where they are not the whole matrix's, fewer than RANGES.
  int ranges;
  // Floats from a range's sums to the next one's; 0: they are added.
  u64 apart;
  const Counts* counts;
};

static __device__ __forceinline__ int product_tokens(const Product& p) {
  return p.sampled ? min(p.limit, p.counts->sampled - p.first) : p.counts->rows;
}

static __device__ __forceinline__ int range_start(const Product& p, int range) {
  return (int)((long long)(p.columns / 32) * range / p.ranges);
}

// Eight tokens' activations of a chunk: those of token g, in lane t's places.
struct Tokens {
  unsigned first[2];
  unsigned second[2];
  // Sums over the chunk, of the tokens 2t and 2t+1, where a type needs them.
  float sums[4];
};

template <class T>
static __device__ __forceinline__ void load_tokens(
    const Product& p, int token, int tokens, int chunk, int t, Tokens& to) {
  int row = min(token, tokens - 1);
  uint4 x = *(const uint4*)(p.x + (u64)row * p.columns + chunk * 32 + t * 8);
  to.first[0] = x.x;
  to.first[1] = x.y;
  to.second[0] = x.z;
  to.second[1] = x.w;
  if (T::offset) {
    const unsigned ones[4] = {0x3f803f80u, 0x3f803f80u, 0x3f803f80u, 0x3f803f80u};
    to.sums[0] = to.sums[1] = to.sums[2] = to.sums[3] = 0;
    mma_bf16(to.sums, ones, to.first);
    mma_bf16(to.sums, ones, to.second);
  }
}

// Rows g and g + 8 of a chunk.
struct Rows {
  Chunk upper;
  Chunk lower;
};

template <class T>
static __device__ __forceinline__ void scale_into(
    float (&sum)[4], float (&part)[4], const Rows& w, int half) {
  for (int i = 0; i < 4; i++) {
    const Chunk& row = i < 2 ? w.upper : w.lower;
    sum[i] = fmaf(row.scale[T::halves ? half : 0], part[i], sum[i]);
    part[i] = 0;
  }
}

template <class T>
static __device__ __forceinline__ void multiply_chunk(
    float (&sum)[4], const Rows& w, const Tokens& x) {
  const Chunk& up = w.upper;
  const Chunk& low = w.lower;
  const unsigned first[4] = {up.pairs[0], low.pairs[0], up.pairs[1], low.pairs[1]};
  const unsigned second[4] = {up.pairs[2], low.pairs[2], up.pairs[3], low.pairs[3]};
  if (!T::scaled) {
    mma_bf16(sum, first, x.first);
    mma_bf16(sum, second, x.second);
    return;
  }
  float part[4] = {0, 0, 0, 0};
  mma_bf16(part, first, x.first);
  if (T::halves) {
    scale_into<T>(sum, part, w, 0);
  }
  mma_bf16(part, second, x.second);
  scale_into<T>(sum, part, w, 1);
  if (T::offset) {
    for (int i = 0; i < 4; i++) {
      sum[i] = fmaf(i < 2 ? up.minimum : low.minimum, x.sums[i], sum[i]);
    }
  }
}

template <class T>
static __device__ __forceinline__ void load_rows(
    const Product& p, int row, int chunk, int t, Rows& to) {
  T::load(p.weights + min(row, p.rows - 1) * p.row_bytes, chunk, t, to.upper);
  T::load(p.weights + min(row + 8, p.rows - 1) * p.row_bytes, chunk, t, to.lower);
}

static __device__ __forceinline__ void write(
    const Product& p, int range, int token, int row, float x) {
  // Where the ranges are added, they are no way apart.
  p.out[range * p.apart + (u64)token * p.stride + row] = p.scales ? x * p.scales[row] : x;
}

// A block of as many warps as there are ranges makes 16 rows of 8 * TILES tokens; each warp takes a
// range of columns.
template <class T, int TILES>
static __device__ __forceinline__ void multiply_narrow(const Product& p) {
  __shared__ float parts[RANGES][TILES * 8][16];
  int tokens = product_tokens(p);
  int first_token = blockIdx.y * 8 * TILES;
  if (first_token >= tokens) {
    return;
  }
  int warp = threadIdx.x / WARP;
  int g = threadIdx.x % WARP >> 2;
  int t = threadIdx.x & 3;
  int first_row = blockIdx.x * 16;
  float sums[TILES][4] = {};
  int end = range_start(p, warp + 1);
  for (int chunk = range_start(p, warp); chunk < end; chunk++) {
    Rows w;
    load_rows<T>(p, first_row + g, chunk, t, w);
#pragma unroll
    for (int tile = 0; tile < TILES; tile++) {
      Tokens x;
      load_tokens<T>(p, first_token + tile * 8 + g, tokens, chunk, t, x);
      multiply_chunk<T>(sums[tile], w, x);
    }
  }
#pragma unroll
  for (int tile = 0; tile < TILES; tile++) {
    for (int i = 0; i < 4; i++) {
      parts[warp][tile * 8 + 2 * t + (i & 1)][g + (i >> 1) * 8] = sums[tile][i];
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < TILES * 8 * 16; i += blockDim.x) {
    int token = first_token + i / 16;
    int row = first_row + i % 16;
    if (token >= tokens || row >= p.rows) {
      continue;
    }
    float sum = 0;
    for (int range = 0; range < p.ranges; range++) {
      float part = parts[range][i / 16][i % 16];
      sum = range == 0 || p.apart ? part : sum + part;
      if (p.apart || range == p.ranges - 1) {
        write(p, range, token, row, sum);
      }
    }
  }
}

#define WIDE_TILES 8
#define WIDE_THREADS 128
#define WIDE_SUMS (2 * WIDE_TILES * 4)

// A block of four warps makes 128 rows of 64 tokens; each warp makes 32 rows of them. The sums of
// the ranges before are kept in shared memory: registers are for the range that is added up.
template <class T>
static __device__ __forceinline__ void multiply_wide(const Product& p) {
  __shared__ float totals[WIDE_SUMS][WIDE_THREADS];
  int tokens = product_tokens(p);
  int first_token = blockIdx.y * 8 * WIDE_TILES;
  int first_row = blockIdx.x * 128 + threadIdx.x / WARP * 32;
  if (first_token >= tokens || first_row >= p.rows) {
    return;
  }
  int g = threadIdx.x % WARP >> 2;
  int t = threadIdx.x & 3;
#pragma unroll 1
  for (int range = 0; range < p.ranges; range++) {
    float sums[2][WIDE_TILES][4] = {};
    int end = range_start(p, range + 1);
#pragma unroll 1
    for (int chunk = range_start(p, range); chunk < end; chunk++) {
      Rows upper;
      Rows lower;
      load_rows<T>(p, first_row + g, chunk, t, upper);
      load_rows<T>(p, first_row + 16 + g, chunk, t, lower);
#pragma unroll
      for (int tile = 0; tile < WIDE_TILES; tile++) {
        Tokens x;
        load_tokens<T>(p, first_token + tile * 8 + g, tokens, chunk, t, x);
        multiply_chunk<T>(sums[0][tile], upper, x);
        multiply_chunk<T>(sums[1][tile], lower, x);
      }
    }
#pragma unroll
    for (int i = 0; i < WIDE_SUMS; i++) {
      float sum = sums[i >> 5][i >> 2 & 7][i & 3];
      float& total = totals[i][threadIdx.x];
      total = range == 0 || p.apart ? sum : total + sum;
    }
    if (p.apart || range == p.ranges - 1) {
      for (int i = 0; i < WIDE_SUMS; i++) {
        int token = first_token + (i >> 2 & 7) * 8 + 2 * t + (i & 1);
        int row = first_row + (i >> 5) * 16 + (i >> 1 & 1) * 8 + g;
        if (token < tokens && row < p.rows) {
          write(p, range, token, row, totals[i][threadIdx.x]);
        }
      }
    }
  }
}

// out: [tokens][size]; parts: [RANGES][apart], of these [tokens][size] are there
struct AddRanges {
  float* out;
  const float* parts;
  u64 apart;
  int size;
  const Counts* counts;
};

// One block a token: adds what the ranges of a product have come to, in their order.
KERNEL __launch_bounds__(256) add_ranges(AddRanges a) {
  if (blockIdx.x >= a.counts->rows) {
    return;
  }
  u64 row = (u64)blockIdx.x * a.size;
  for (int i = threadIdx.x; i < a.size; i += blockDim.x) {
    float sum = a.parts[row + i];
    for (int range = 1; range < RANGES; range++) {
      sum += a.parts[range * a.apart + row + i];
    }
    a.out[row + i] = sum;
  }
}
