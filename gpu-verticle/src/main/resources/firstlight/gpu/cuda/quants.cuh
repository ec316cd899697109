// How weights are stored, as in the model file (the layouts of ggml), and how a lane gets at them.
//
// A row is taken in chunks of 32 numbers. lane t of four has the numbers 4t..4t+3 and
// 16+4t..16+4t+3 of a chunk, as integers that bf16 holds exactly wherever there is a scale: a
// product is made of integers, and scaled afterwards. Each type says
//   scaled   whether its chunks have scales
//   halves   whether the two halves of a chunk have scales of their own
//   offset   whether numbers are scale * integer + minimum
#pragma once
#include "device.cuh"

// What a lane has of a chunk of one row.
struct Chunk {
  // Pairs of bf16: two for the first half of the chunk, two for the second.
  unsigned pairs[4];
  float scale[2];
  float minimum;
};

static __device__ __forceinline__ unsigned short read16(const byte* at) {
  return *(const unsigned short*)at;
}

static __device__ __forceinline__ unsigned read32(const byte* at) {
  return *(const unsigned*)at;
}

// From an address that is even only, as some types' blocks are.
static __device__ __forceinline__ unsigned read32_even(const byte* at) {
  return read16(at) | (unsigned)read16(at + 2) << 16;
}

static __device__ __forceinline__ float read_half(const byte* at) {
  return half_to_float(read16(at));
}

// Four small integers from the bytes of a word, less the centre.
static __device__ __forceinline__ void pack4(unsigned bytes, int centre, unsigned* to) {
  to[0] = pack_bf16((int)(bytes & 255) - centre, (int)(bytes >> 8 & 255) - centre);
  to[1] = pack_bf16((int)(bytes >> 16 & 255) - centre, (int)(bytes >> 24) - centre);
}

// Bit i of the four bits becomes bit 4 of byte i.
static __device__ __forceinline__ unsigned fifth_bits(unsigned bits) {
  return (bits & 1) << 4 | (bits & 2) << 11 | (bits & 4) << 18 | (bits & 8) << 25;
}

struct Bf16 {
  static constexpr bool scaled = false, halves = false, offset = false;
  static __device__ __forceinline__ void load(const byte* row, int chunk, int t, Chunk& to) {
    const byte* at = row + chunk * 64 + t * 8;
    uint2 low = *(const uint2*)at;
    uint2 high = *(const uint2*)(at + 32);
    to.pairs[0] = low.x;
    to.pairs[1] = low.y;
    to.pairs[2] = high.x;
    to.pairs[3] = high.y;
  }
};

// E4M3 bytes; the row's scale is applied where the product is written.
struct Fp8 {
  static constexpr bool scaled = false, halves = false, offset = false;
  static __device__ __forceinline__ void load(const byte* row, int chunk, int t, Chunk& to) {
    for (int half = 0; half < 2; half++) {
      unsigned x = read32(row + chunk * 32 + half * 16 + t * 4);
      to.pairs[2 * half] = pack_bf16(fp8_to_float(x), fp8_to_float(x >> 8));
      to.pairs[2 * half + 1] = pack_bf16(fp8_to_float(x >> 16), fp8_to_float(x >> 24));
    }
  }
};

struct Q8_0 {
  static constexpr bool scaled = true, halves = false, offset = false;
  static __device__ __forceinline__ void load(const byte* row, int chunk, int t, Chunk& to) {
    const byte* at = row + chunk * 34;
    to.scale[0] = read_half(at);
    // Signed bytes, moved up by 128 and down again.
    pack4(read32_even(at + 2 + t * 4) ^ 0x80808080u, 128, to.pairs);
    pack4(read32_even(at + 18 + t * 4) ^ 0x80808080u, 128, to.pairs + 2);
  }
};

struct Q4_0 {
  static constexpr bool scaled = true, halves = false, offset = false;
  static __device__ __forceinline__ void load(const byte* row, int chunk, int t, Chunk& to) {
    const byte* at = row + chunk * 18;
    to.scale[0] = read_half(at);
    unsigned x = read32_even(at + 2 + t * 4);
    pack4(x & 0x0f0f0f0fu, 8, to.pairs);
    pack4(x >> 4 & 0x0f0f0f0fu, 8, to.pairs + 2);
  }
};

struct Q4_1 {
  static constexpr bool scaled = true, halves = false, offset = true;
  static __device__ __forceinline__ void load(const byte* row, int chunk, int t, Chunk& to) {
    const byte* at = row + chunk * 20;
    to.scale[0] = read_half(at);
    to.minimum = read_half(at + 2);
    unsigned x = read32(at + 4 + t * 4);
    pack4(x & 0x0f0f0f0fu, 0, to.pairs);
    pack4(x >> 4 & 0x0f0f0f0fu, 0, to.pairs + 2);
  }
};

static __device__ __forceinline__ void fives(
    unsigned fifth, unsigned x, int t, int centre, Chunk& to) {
  pack4((x & 0x0f0f0f0fu) | fifth_bits(fifth >> 4 * t), centre, to.pairs);
  pack4((x >> 4 & 0x0f0f0f0fu) | fifth_bits(fifth >> (16 + 4 * t)), centre, to.pairs + 2);
}

struct Q5_0 {
  static constexpr bool scaled = true, halves = false, offset = false;
  static __device__ __forceinline__ void load(const byte* row, int chunk, int t, Chunk& to) {
    const byte* at = row + chunk * 22;
    to.scale[0] = read_half(at);
    fives(read32_even(at + 2), read32_even(at + 6 + t * 4), t, 16, to);
  }
};

struct Q5_1 {
  static constexpr bool scaled = true, halves = false, offset = true;
  static __device__ __forceinline__ void load(const byte* row, int chunk, int t, Chunk& to) {
    const byte* at = row + chunk * 24;
    to.scale[0] = read_half(at);
    to.minimum = read_half(at + 2);
    fives(read32(at + 4), read32(at + 8 + t * 4), t, 0, to);
  }
};

// The scale and minimum of a chunk among the eight of a block of 256: six bits each, packed.
static __device__ __forceinline__ void six_bit_scales(const byte* at, int chunk, Chunk& to) {
  const byte* packed = at + 4;
  int scale;
  int minimum;
  if (chunk < 4) {
    scale = packed[chunk] & 63;
    minimum = packed[chunk + 4] & 63;
  } else {
    scale = (packed[chunk + 4] & 15) | (packed[chunk - 4] >> 6) << 4;
    minimum = packed[chunk + 4] >> 4 | (packed[chunk] >> 6) << 4;
  }
  to.scale[0] = read_half(at) * scale;
  to.minimum = -(read_half(at + 2) * minimum);
}

struct Q4_K {
  static constexpr bool scaled = true, halves = false, offset = true;
  static __device__ __forceinline__ void load(const byte* row, int chunk, int t, Chunk& to) {
    const byte* at = row + (chunk >> 3) * 144;
    int in_block = chunk & 7;
    six_bit_scales(at, in_block, to);
    const byte* nibbles = at + 16 + (in_block >> 1) * 32 + t * 4;
    int shift = (in_block & 1) * 4;
    pack4(read32(nibbles) >> shift & 0x0f0f0f0fu, 0, to.pairs);
    pack4(read32(nibbles + 16) >> shift & 0x0f0f0f0fu, 0, to.pairs + 2);
  }
};

struct Q5_K {
  static constexpr bool scaled = true, halves = false, offset = true;
  static __device__ __forceinline__ void load(const byte* row, int chunk, int t, Chunk& to) {
    const byte* at = row + (chunk >> 3) * 176;
    int in_block = chunk & 7;
    six_bit_scales(at, in_block, to);
    int shift = (in_block & 1) * 4;
    for (int half = 0; half < 2; half++) {
      int within = half * 16 + t * 4;
      unsigned low = read32(at + 48 + (in_block >> 1) * 32 + within) >> shift & 0x0f0f0f0fu;
      unsigned high = read32(at + 16 + within) >> in_block & 0x01010101u;
      pack4(low | high << 4, 0, to.pairs + 2 * half);
    }
  }
};

struct Q6_K {
  static constexpr bool scaled = true, halves = true, offset = false;
  static __device__ __forceinline__ void load(const byte* row, int chunk, int t, Chunk& to) {
    const byte* at = row + (chunk >> 3) * 210;
    int in_block = chunk & 7;
    int part = in_block >> 2;
    int quarter = in_block & 3;
    float scale = read_half(at + 208);
    for (int half = 0; half < 2; half++) {
      int within = half * 16 + t * 4;
      unsigned low = read32_even(at + 64 * part + 32 * (quarter & 1) + within);
      unsigned high = read32_even(at + 128 + 32 * part + within);
      low = low >> (quarter >> 1) * 4 & 0x0f0f0f0fu;
      high = high >> quarter * 2 & 0x03030303u;
      pack4(low | high << 4, 32, to.pairs + 2 * half);
      to.scale[half] = scale * (signed char)at[192 + in_block * 2 + half];
    }
  }
};

// The numbers of types by their place in WeightType on the Java side.
enum Type { BF16, FP8, Q8_0_, Q4_0_, Q4_1_, Q5_0_, Q5_1_, Q4_K_, Q5_K_, Q6_K_ };

static __device__ __forceinline__ float from_bf16_pair(const unsigned* pairs, int i) {
  return bf16_to_float((unsigned short)(pairs[i >> 1] >> (i & 1) * 16));
}

// Decodes what lane t has of a chunk to floats.
template <class T>
static __device__ __forceinline__ void decode(const byte* row, int chunk, int t, float* to) {
  Chunk from;
  T::load(row, chunk, t, from);
  for (int i = 0; i < 8; i++) {
    float x = from_bf16_pair(from.pairs, i);
    if (T::scaled) {
      x *= from.scale[T::halves ? i >> 2 : 0];
    }
    to[i] = T::offset ? x + from.minimum : x;
  }
}

static __device__ __forceinline__ void decode(
    int type, const byte* row, int chunk, int t, float* to) {
  switch (type) {
    case BF16: decode<Bf16>(row, chunk, t, to); break;
    case FP8: decode<Fp8>(row, chunk, t, to); break;
    case Q8_0_: decode<Q8_0>(row, chunk, t, to); break;
    case Q4_0_: decode<Q4_0>(row, chunk, t, to); break;
    case Q4_1_: decode<Q4_1>(row, chunk, t, to); break;
    case Q5_0_: decode<Q5_0>(row, chunk, t, to); break;
    case Q5_1_: decode<Q5_1>(row, chunk, t, to); break;
    case Q4_K_: decode<Q4_K>(row, chunk, t, to); break;
    case Q5_K_: decode<Q5_K>(row, chunk, t, to); break;
    default: decode<Q6_K>(row, chunk, t, to); break;
  }
}

// Where the i-th number of lane t stands in its chunk.
static __device__ __forceinline__ int place(int t, int i) {
  return (i >> 2) * 16 + t * 4 + (i & 3);
}

// weights: [rows][row_bytes]
struct Matrix {
  const byte* weights;
  u64 row_bytes;
  int type;
  int columns;
};

// stream: [rows][columns]; scales: by row of the matrix for FP8, else null
struct Embed {
  float* stream;
  Matrix matrix;
  const float* scales;
  const int* tokens;
  float factor;
  const Counts* counts;
};

// The first numbers of the stream: one block a row.
KERNEL __launch_bounds__(256) embed(Embed e) {
  if (blockIdx.x >= e.counts->rows) {
    return;
  }
  int token = e.tokens[blockIdx.x];
  const Matrix& m = e.matrix;
  float* to = e.stream + (u64)blockIdx.x * m.columns;
  float scale = e.scales ? e.scales[token] * e.factor : e.factor;
  for (int unit = threadIdx.x; unit < m.columns / 8; unit += blockDim.x) {
    float x[8];
    decode(m.type, m.weights + token * m.row_bytes, unit >> 2, unit & 3, x);
    for (int i = 0; i < 8; i++) {
      to[(unit >> 2) * 32 + place(unit & 3, i)] = x[i] * scale;
    }
  }
}

// A matrix in another type: [rows][columns] bf16, or bytes with a scale for each row.
struct Convert {
  void* to;
  float* scales;
  Matrix from;
};

// Widens a matrix to bf16: one block a row.
KERNEL __launch_bounds__(256) widen(Convert c) {
  const Matrix& m = c.from;
  const byte* row = m.weights + blockIdx.x * m.row_bytes;
  bf16* to = (bf16*)c.to + (u64)blockIdx.x * m.columns;
  for (int unit = threadIdx.x; unit < m.columns / 8; unit += blockDim.x) {
    float x[8];
    decode(m.type, row, unit >> 2, unit & 3, x);
    for (int i = 0; i < 8; i++) {
      to[(unit >> 2) * 32 + place(unit & 3, i)] = float_to_bf16(x[i]);
    }
  }
}

// Narrows a matrix to E4M3, the largest number of each row becoming 448: one block a row.
KERNEL __launch_bounds__(256) narrow(Convert c) {
  __shared__ unsigned largest;
  if (threadIdx.x == 0) {
    largest = 0;
  }
  __syncthreads();
  const Matrix& m = c.from;
  const byte* row = m.weights + blockIdx.x * m.row_bytes;
  byte* to = (byte*)c.to + (u64)blockIdx.x * m.columns;
  float x[8];
  for (int unit = threadIdx.x; unit < m.columns / 8; unit += blockDim.x) {
    decode(m.type, row, unit >> 2, unit & 3, x);
    for (int i = 0; i < 8; i++) {
      // Bits of floats that are not negative sort like them.
      atomicMax(&largest, __float_as_uint(fabsf(x[i])));
    }
  }
  __syncthreads();
  float most = __uint_as_float(largest);
  float scale = most > 0 ? most / 448.f : 1.f;
  for (int unit = threadIdx.x; unit < m.columns / 8; unit += blockDim.x) {
    decode(m.type, row, unit >> 2, unit & 3, x);
    for (int i = 0; i < 8; i++) {
      to[(unit >> 2) * 32 + place(unit & 3, i)] = float_to_fp8(x[i] / scale);
    }
  }
  if (threadIdx.x == 0) {
    c.scales[blockIdx.x] = scale;
  }
}
