// Products of packed weights and byte activations with the dot-product instructions of AVX-512 VNNI
// or AVX-VNNI, which Java cannot reach. The weights are those that the Java kernels use, and the
// result is theirs bit for bit: integer sums are exact, and floats are added in the same order.
//
// A call multiplies some pairs of groups of rows by some tokens. Layouts:
//   quants  [pair][block][ints of a block][lanes of a pair]
//   scales, highs, minima      [pair][block][lanes of a pair], half floats or floats
//   bytes   [token][block][16]: in the first and second of every four columns 2 j and 2 j + 1 of a
//           block and those 16 further, as bytes; j is 2 i for the first of the i-th four, 2 i + 1
//           for the second; in the third and fourth the same without those 16 further
//   step, sums  [token][block]
//   totals  [token][block][2]: of all columns, and of the first 16
//   out     [token][stride]
#include <immintrin.h>
#include <cstdint>

#if defined(__AVX512VNNI__) && defined(__AVX512F__) && defined(__AVX512BW__)
typedef __m512i Ints;
typedef __m512 Floats;
#define LANES 16
static inline Ints load(const int* p) { return _mm512_loadu_si512(p); }
static inline Floats loadf(const float* p) { return _mm512_loadu_ps(p); }
static inline Floats loadh(const short* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*) p));
}
static inline void store(float* p, Floats v) { _mm512_storeu_ps(p, v); }
static inline Ints all(int v) { return _mm512_set1_epi32(v); }
static inline Floats allf(float v) { return _mm512_set1_ps(v); }
static inline Ints both(Ints a, Ints b) { return _mm512_and_si512(a, b); }
static inline Ints high(Ints a) { return _mm512_srli_epi32(a, 4); }
static inline Ints plus(Ints a, Ints b) { return _mm512_add_epi32(a, b); }
static inline Ints minus(Ints a, Ints b) { return _mm512_sub_epi32(a, b); }
static inline Ints dot(Ints sum, Ints w, Ints x) { return _mm512_dpbusd_epi32(sum, w, x); }
static inline Floats real(Ints a) { return _mm512_cvtepi32_ps(a); }
static inline Floats times(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
static inline Floats fma(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
#elif defined(__AVXVNNI__) && defined(__AVX2__) && defined(__FMA__)
typedef __m256i Ints;
typedef __m256 Floats;
#define LANES 8
static inline Ints load(const int* p) { return _mm256_loadu_si256((const __m256i*) p); }
static inline Floats loadf(const float* p) { return _mm256_loadu_ps(p); }
static inline Floats loadh(const short* p) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i*) p)); }
static inline void store(float* p, Floats v) { _mm256_storeu_ps(p, v); }
static inline Ints all(int v) { return _mm256_set1_epi32(v); }
static inline Floats allf(float v) { return _mm256_set1_ps(v); }
static inline Ints both(Ints a, Ints b) { return _mm256_and_si256(a, b); }
static inline Ints high(Ints a) { return _mm256_srli_epi32(a, 4); }
static inline Ints plus(Ints a, Ints b) { return _mm256_add_epi32(a, b); }
static inline Ints minus(Ints a, Ints b) { return _mm256_sub_epi32(a, b); }
static inline Ints dot(Ints sum, Ints w, Ints x) { return _mm256_dpbusd_avx_epi32(sum, w, x); }
static inline Floats real(Ints a) { return _mm256_cvtepi32_ps(a); }
static inline Floats times(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
static inline Floats fma(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
#else
#error "this processor has no dot product of bytes"
#endif

// Bytes between what is multiplied and what is fetched; beyond a pair's end the next pair begins.
#define AHEAD 4096

#define EXPORT extern "C" __attribute__((visibility("default")))

// How a call scales: kind 4 are nibbles with minima, 8 bytes without, 6 bytes whose two halves of a
// block are scaled apart, with minima or without. Bytes are 128 more than the quants.
struct Scaling {
  const void* scales;
  const void* highs;   // of the last 16 columns of each block; null: those of all
  const void* minima;  // null: the scale times centre
  int half;
  float centre;
};

// What a call works on, for one pair.
struct Call {
  const int* quants;
  Scaling scaling;
  long scalesBegin;
  const int* bytes;
  const float* step;
  const float* sums;
  const int* totals;
  float* out;
  int blocks;
  int pair;  // ints
  int stride;
};

static constexpr int ints(int kind) { return kind == 4 ? 4 : 8; }

static inline Floats factor(const Scaling& s, const void* plane, long at) {
  return s.half ? loadh((const short*) plane + at) : loadf((const float*) plane + at);
}

// TOKENS tokens by WIDTH neighbouring vectors of rows. Weights stay in registers while the tokens
// pass by; where they come from memory, both vectors of a pair are taken in one go, so that it is
// read as one stream.
template <int KIND, int TOKENS, int WIDTH>
static inline __attribute__((always_inline)) void tile(const Call& c, int token, int lane) {
  const Ints mask = all(0x0f0f0f0f);
  Floats sum[TOKENS][WIDTH];
  for (int t = 0; t < TOKENS; t++)
    for (int v = 0; v < WIDTH; v++) sum[t][v] = allf(0);
  const int* q = c.quants + lane;
  for (int b = 0; b < c.blocks; b++) {
    Ints w[WIDTH][8];
    Floats d[WIDTH], h[WIDTH], m[WIDTH];
#pragma GCC unroll 2
    for (int v = 0; v < WIDTH; v++) {
      if (KIND == 4) {
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) {
          Ints packed = load(q + j * c.pair + v * LANES);
          w[v][2 * j] = both(packed, mask);
          w[v][2 * j + 1] = both(high(packed), mask);
        }
      } else {
#pragma GCC unroll 8
        for (int j = 0; j < 8; j++) w[v][j] = load(q + j * c.pair + v * LANES);
      }
      const long at = c.scalesBegin + (long) b * c.pair + lane + v * LANES;
      d[v] = factor(c.scaling, c.scaling.scales, at);
      if (KIND == 4)
        m[v] = c.scaling.minima ? factor(c.scaling, c.scaling.minima, at)
                                : times(d[v], allf(c.scaling.centre));
      if (KIND == 6) {
        h[v] = c.scaling.highs ? factor(c.scaling, c.scaling.highs, at) : d[v];
        m[v] = c.scaling.minima ? factor(c.scaling, c.scaling.minima, at) : allf(0);
      }
    }
    if (TOKENS <= 2) {
      // One token takes weights faster than the processor fetches them by itself.
#pragma GCC unroll 16
      for (int line = 0; line < ints(KIND) * WIDTH; line++)
        _mm_prefetch((const char*) q + AHEAD + line * LANES * sizeof(int), _MM_HINT_T0);
    }
    q += ints(KIND) * c.pair;
#pragma GCC unroll 16
    for (int t = 0; t < TOKENS; t++) {
      const long at = (long) (token + t) * c.blocks + b;
      const int* x = c.bytes + 16 * at;
#pragma GCC unroll 2
      for (int v = 0; v < WIDTH; v++) {
        Ints s = KIND == 4 ? all(0) : all(-128 * c.totals[2 * at]);
        Ints s1 = all(0);
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) {
          s = dot(s, w[v][2 * j], all(x[4 * j]));
          s1 = dot(s1, w[v][2 * j + 1], all(x[4 * j + 1]));
        }
        s = plus(s, s1);
        if (KIND == 6) {
          Ints low = all(-128 * c.totals[2 * at + 1]);
#pragma GCC unroll 4
          for (int j = 0; j < 4; j++) {
            low = dot(low, w[v][2 * j], all(x[4 * j + 2]));
            low = dot(low, w[v][2 * j + 1], all(x[4 * j + 3]));
          }
          sum[t][v] = fma(times(real(low), allf(c.step[at])), d[v], sum[t][v]);
          s = minus(s, low);
        }
        const Floats scale = KIND == 6 ? h[v] : d[v];
        sum[t][v] = fma(times(real(s), allf(c.step[at])), scale, sum[t][v]);
        if (KIND != 8) sum[t][v] = fma(m[v], allf(c.sums[at]), sum[t][v]);
      }
    }
  }
  for (int t = 0; t < TOKENS; t++)
    for (int v = 0; v < WIDTH; v++)
      store(c.out + (long) (token + t) * c.stride + lane + v * LANES, sum[t][v]);
}

template <int KIND, int WIDTH>
static void few(const Call& c, int from, int to, int lane) {
  int t = from;
  if (WIDTH == 1) {
    for (; t + 12 <= to; t += 12) tile<KIND, 12, 1>(c, t, lane);
    for (; t + 6 <= to; t += 6) tile<KIND, 6, 1>(c, t, lane);
  }
  switch (to - t) {
    case 5: tile<KIND, 5, WIDTH>(c, t, lane); break;
    case 4: tile<KIND, 4, WIDTH>(c, t, lane); break;
    case 3: tile<KIND, 3, WIDTH>(c, t, lane); break;
    case 2: tile<KIND, 2, WIDTH>(c, t, lane); break;
    case 1: tile<KIND, 1, WIDTH>(c, t, lane); break;
    default: break;
  }
}

template <int KIND>
static void multiply(const Call& c, int from, int to) {
  if (c.pair == 2 * LANES && to - from <= 2) {
    few<KIND, 2>(c, from, to, 0);
  } else {
    for (int lane = 0; lane < c.pair; lane += LANES) few<KIND, 1>(c, from, to, lane);
  }
}

// Lanes that a pair must be a multiple of.
EXPORT int firstlight_lanes() { return LANES; }

EXPORT void firstlight_multiply(int kind, int half, float centre, const int* quants,
    const void* scales, const void* highs, const void* minima, const int* bytes, const float* step, const float* sums,
    const int* totals, float* out, int blocks, int pair, int stride, int firstPair, int endPair,
    int from, int to) {
  for (int p = firstPair; p < endPair; p++) {
    const long units = (long) p * blocks * pair;
    Call c = {quants + units * ints(kind), {scales, highs, minima, half, centre}, units, bytes, step, sums,
        totals, out + (long) p * pair, blocks, pair, stride};
    if (kind == 4) multiply<4>(c, from, to);
    else if (kind == 6) multiply<6>(c, from, to);
    else multiply<8>(c, from, to);
  }
}
