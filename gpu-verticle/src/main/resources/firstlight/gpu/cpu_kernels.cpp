// Products of packed weights and byte activations with the dot-product instructions of AVX-512 VNNI
// or AVX-VNNI and, for seven tokens and more, with the tiles of AMX: Java can not reach them. The
// weights are those that the Java kernels use, and the result is theirs bit for bit: integer sums
// are exact, and floats are added in the same order.
//
// A call multiplies some pairs of groups of rows by some tokens. Layouts:
//   quants  [pair][block][ints of a block][lanes of a pair]
//   scales, highs, minima      [pair][block][lanes of a pair], half floats or floats
//   bytes   [token][2][block][8]: int i of a block has columns 2 i and 2 i + 1 and those 16
//           further; then the same without those 16 further
//   step, sums  [token][block]
//   totals  [token][block][2]: of all columns, and of the first 16
//   out     [token][stride]
// What belongs to tokens may be read, not written, up to 15 tokens beyond those that are asked for.
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
static inline Floats loadh(const short* p) {
  return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i*) p));
}
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

// What a block of a vector of rows is scaled with.
template <int KIND>
struct Factors {
  Floats scale, high, minimum;

  Factors() = default;
  Factors(const Scaling& s, long at) {
    scale = factor(s, s.scales, at);
    high = KIND == 6 && s.highs ? factor(s, s.highs, at) : scale;
    if (KIND != 8)
      minimum = s.minima ? factor(s, s.minima, at) : times(scale, allf(s.centre));
  }

  // Adds a block's integers to a sum: of all columns, or where halves are scaled apart those of the
  // first 16 and the others.
  Floats add(Floats sum, Ints low, Ints rest, float step, float total) const {
    if (KIND == 6) sum = fma(times(real(low), allf(step)), scale, sum);
    sum = fma(times(real(rest), allf(step)), high, sum);
    return KIND == 8 ? sum : fma(minimum, allf(total), sum);
  }
};

// TOKENS tokens by WIDTH neighbouring vectors of rows. Weights stay in registers while the tokens
// pass by; where they come from memory, both vectors of a pair are taken in one go, so that it is
// read as one stream.
template <int KIND, int TOKENS, int WIDTH>
static inline __attribute__((always_inline)) void vectors(const Call& c, int token, int lane) {
  const Ints mask = all(0x0f0f0f0f);
  Floats sum[TOKENS][WIDTH];
  for (int t = 0; t < TOKENS; t++)
    for (int v = 0; v < WIDTH; v++) sum[t][v] = allf(0);
  const int* q = c.quants + lane;
  for (int b = 0; b < c.blocks; b++) {
    Ints w[WIDTH][8];
    Factors<KIND> factors[WIDTH];
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
      factors[v] =
          Factors<KIND>(c.scaling, c.scalesBegin + (long) b * c.pair + lane + v * LANES);
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
      const int* x = c.bytes + 16L * (token + t) * c.blocks + 8 * b;
#pragma GCC unroll 2
      for (int v = 0; v < WIDTH; v++) {
        Ints s = KIND == 4 ? all(0) : all(-128 * c.totals[2 * at]);
        Ints s1 = all(0);
#pragma GCC unroll 4
        for (int j = 0; j < 8; j += 2) {
          s = dot(s, w[v][j], all(x[j]));
          s1 = dot(s1, w[v][j + 1], all(x[j + 1]));
        }
        s = plus(s, s1);
        Ints low = s;
        if (KIND == 6) {
          const int* first = x + 8 * c.blocks;
          low = all(-128 * c.totals[2 * at + 1]);
#pragma GCC unroll 8
          for (int j = 0; j < 8; j++) low = dot(low, w[v][j], all(first[j]));
          s = minus(s, low);
        }
        sum[t][v] = factors[v].add(sum[t][v], low, s, c.step[at], c.sums[at]);
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
    for (; t + 12 <= to; t += 12) vectors<KIND, 12, 1>(c, t, lane);
    for (; t + 6 <= to; t += 6) vectors<KIND, 6, 1>(c, t, lane);
  }
  switch (to - t) {
    case 5: vectors<KIND, 5, WIDTH>(c, t, lane); break;
    case 4: vectors<KIND, 4, WIDTH>(c, t, lane); break;
    case 3: vectors<KIND, 3, WIDTH>(c, t, lane); break;
    case 2: vectors<KIND, 2, WIDTH>(c, t, lane); break;
    case 1: vectors<KIND, 1, WIDTH>(c, t, lane); break;
    default: break;
  }
}

#if defined(__AMX_INT8__) && LANES == 16
#include <sys/syscall.h>
#include <unistd.h>

// A block of columns of 16 or 8 tokens by that of 16 rows is one instruction. It takes long, so two
// are under way at once. The tiles, all of one configuration, since to change it takes long too:
//   0, 1  16 tokens by 16 sums       4, 5  8 tokens by 16 sums
//   2     16 tokens by 32 bytes      6     8 tokens by 32 bytes
//   3, 7  8 ints of a block by 16 rows
struct alignas(64) TileConfiguration {
  uint8_t palette, startRow, reserved[14];
  uint16_t rowBytes[16];
  uint8_t rows[16];
};
static const TileConfiguration CONFIGURATION = {
    1, 0, {}, {64, 64, 32, 64, 64, 64, 32, 64}, {16, 16, 16, 8, 8, 8, 8, 8}};

// Assembler, for the compilers' own operations take no numbers from templates, and GCC 12 drops
// what is stored to a configuration.
static inline void tilesBegin() { __asm__ volatile("ldtilecfg %0" ::"m"(CONFIGURATION)); }
static inline void tilesEnd() { __asm__ volatile("tilerelease"); }
template <int TILE>
static inline void fetch(const int* from, long stride) {
  __asm__ volatile("tileloadd (%1,%2,1), %%tmm%c0" ::"i"(TILE), "r"(from), "r"(stride) : "memory");
}
template <int TILE>
static inline void keep(int* to, long stride) {
  __asm__ volatile("tilestored %%tmm%c0, (%1,%2,1)" ::"i"(TILE), "r"(to), "r"(stride) : "memory");
}
template <int SUMS, int TOKENS, int WEIGHTS>
static inline void dotTiles() {
  __asm__ volatile("tilezero %%tmm%c0\n\ttdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(SUMS),
                   "i"(TOKENS), "i"(WEIGHTS));
}

// The kernel gives tiles to a process that asks for them.
#define REQUEST 0x1023
#define TILE_DATA 18
static const bool TILES = syscall(SYS_arch_prctl, REQUEST, TILE_DATA) == 0;

static constexpr int tilesABlock(int kind) { return kind == 6 ? 2 : 1; }

// Blocks whose weights are unpacked at once: half of the first cache, beside the tokens.
static constexpr int blocksMax(int kind) { return 32 / tilesABlock(kind); }
#define WEIGHT_INTS (8 * LANES)

// Unpacks blocks of 16 rows to signed bytes. Where the halves of a block are scaled apart, each has
// a tile of its own, with zeros for the other.
template <int KIND>
static void unpack(const Call& c, int lane, int first, int count, int* to) {
  const Ints nibbles = all(0x0f0f0f0f), sign = all((int) 0x80808080), low = all(0xffff);
  for (int b = 0; b < count; b++, to += tilesABlock(KIND) * WEIGHT_INTS) {
    const int* q = c.quants + (long) (first + b) * ints(KIND) * c.pair + lane;
    for (int j = 0; j < ints(KIND); j++) {
      Ints w = load(q + j * c.pair);
      if (KIND == 4) {
        _mm512_store_si512(to + 2 * j * LANES, both(w, nibbles));
        _mm512_store_si512(to + (2 * j + 1) * LANES, both(high(w), nibbles));
      } else {
        w = _mm512_xor_si512(w, sign);
        if (KIND == 6) _mm512_store_si512(to + WEIGHT_INTS + j * LANES, both(w, low));
        _mm512_store_si512(to + j * LANES, KIND == 6 ? _mm512_andnot_si512(low, w) : w);
      }
    }
  }
}

// Blocks whose products are under way at once.
static constexpr int abreast(int kind) { return 2 / tilesABlock(kind); }

// The sums of a block, or of half of one, of each token in turn.
template <int TOKENS, int PLACE>
static inline void multiplyTiles(const Call& c, const int* x, const int* weights, int* sums) {
  constexpr int FIRST = TOKENS == 16 ? 0 : 4, W = PLACE == 0 ? 3 : 7, row = LANES * sizeof(int);
  fetch<FIRST + 2>(x, (long) c.blocks * row);
  fetch<W>(weights + PLACE * WEIGHT_INTS, row);
  dotTiles<FIRST + PLACE, FIRST + 2, W>();
  keep<FIRST + PLACE>(sums + PLACE * TOKENS * LANES, row);
}

template <int KIND, int TOKENS>
static inline void multiplyBlocks(
    const Call& c, int count, const int* x, const int* weights, int* sums) {
  if (count > 0) multiplyTiles<TOKENS, 0>(c, x, weights, sums);
  if (KIND == 6 ? count > 0 : count > 1)
    multiplyTiles<TOKENS, 1>(c, KIND == 6 ? x : x + 8, weights, sums);
}

// Up to TOKENS tokens by 16 rows by some blocks, added to what came of those before. While some
// blocks are scaled, the next ones are multiplied.
template <int KIND, int TOKENS>
static void tiles(const Call& c, int token, int tokens, int lane, int first, int count,
    const int* weights) {
  constexpr int ABREAST = abreast(KIND), BLOCK_SUMS = tilesABlock(KIND) * TOKENS * LANES;
  alignas(64) int sums[2][ABREAST * BLOCK_SUMS];
  float* out = c.out + (long) token * c.stride + lane;
  const int* x = c.bytes + 16L * token * c.blocks + 8 * first;
  Floats total[TOKENS];
#pragma GCC unroll 16
  for (int t = 0; t < TOKENS; t++)
    total[t] = first == 0 || t >= tokens ? allf(0) : loadf(out + (long) t * c.stride);
  multiplyBlocks<KIND, TOKENS>(c, count, x, weights, sums[0]);
  for (int b = 0; b < count; b++) {
    const int place = b % ABREAST;
    if (place == 0) {
      const int next = b + ABREAST;
      multiplyBlocks<KIND, TOKENS>(c, count - next, x + 8 * next,
          weights + next * tilesABlock(KIND) * WEIGHT_INTS, sums[next / ABREAST & 1]);
    }
    const Factors<KIND> factors(c.scaling, c.scalesBegin + (long) (first + b) * c.pair + lane);
    const int* s = sums[b / ABREAST & 1] + place * BLOCK_SUMS;
    const long at = (long) token * c.blocks + first + b;
    const float* step = c.step + at;
    const float* sum = c.sums + at;
#pragma GCC unroll 16
    for (int t = 0; t < TOKENS; t++) {
      const Ints rest = load(s + t * LANES);
      const Ints low = KIND == 6 ? load(s + (TOKENS + t) * LANES) : rest;
      total[t] = factors.add(total[t], low, rest, step[t * c.blocks], sum[t * c.blocks]);
    }
  }
#pragma GCC unroll 16
  for (int t = 0; t < TOKENS; t++)
    if (t < tokens) store(out + (long) t * c.stride, total[t]);
}

// Fetches a part of the quants of the next pair, while this one is multiplied.
template <int KIND>
static void fetchNext(const Call& c, int part, int parts) {
  const int size = c.blocks * c.pair * (int) sizeof(int) * ints(KIND);
  const char* next = (const char*) c.quants + size;
  const int step = (size / parts + 64) & -64;
  for (int i = part * step; i < (part + 1) * step && i < size; i += 64)
    _mm_prefetch(next + i, _MM_HINT_T1);
}

template <int KIND>
static void byTiles(const Call& c, int from, int to) {
  alignas(64) int weights[blocksMax(KIND) * tilesABlock(KIND) * WEIGHT_INTS];
  const int parts = (to - from + 15) / 16 * (c.pair / LANES);
  int part = 0;
  for (int lane = 0; lane < c.pair; lane += LANES) {
    for (int first = 0; first < c.blocks; first += blocksMax(KIND)) {
      const int left = c.blocks - first;
      const int count = left < blocksMax(KIND) ? left : blocksMax(KIND);
      unpack<KIND>(c, lane, first, count, weights);
      for (int t = from; t < to; t += 16) {
        if (first == 0) fetchNext<KIND>(c, part++, parts);
        if (to - t > 8) tiles<KIND, 16>(c, t, to - t, lane, first, count, weights);
        else tiles<KIND, 8>(c, t, to - t, lane, first, count, weights);
      }
    }
  }
}
#else
static const bool TILES = false;
static inline void tilesBegin() {}
static inline void tilesEnd() {}
template <int KIND>
static void byTiles(const Call&, int, int) {}
#endif

// Whether so many tokens fill a tile well enough.
static inline bool fillTiles(int tokens) { return TILES && tokens >= 7; }

template <int KIND>
static void multiply(const Call& c, int from, int to) {
  if (fillTiles(to - from)) {
    byTiles<KIND>(c, from, to);
  } else if (c.pair == 2 * LANES && to - from <= 2) {
    few<KIND, 2>(c, from, to, 0);
  } else {
    for (int lane = 0; lane < c.pair; lane += LANES) few<KIND, 1>(c, from, to, lane);
  }
}

// Lanes that a pair must be a multiple of.
EXPORT int firstlight_lanes() { return LANES; }

// Whether many tokens are multiplied by tiles.
EXPORT int firstlight_tiles() { return TILES; }

EXPORT void firstlight_multiply(int kind, int half, float centre, const int* quants,
    const void* scales, const void* highs, const void* minima, const int* bytes, const float* step,
    const float* sums, const int* totals, float* out, int blocks, int pair, int stride,
    int firstPair, int endPair, int from, int to) {
  if (fillTiles(to - from)) tilesBegin();
  for (int p = firstPair; p < endPair; p++) {
    const long units = (long) p * blocks * pair;
    Call c = {quants + units * ints(kind), {scales, highs, minima, half, centre}, units, bytes,
        step, sums, totals, out + (long) p * pair, blocks, pair, stride};
    if (kind == 4) multiply<4>(c, from, to);
    else if (kind == 6) multiply<6>(c, from, to);
    else multiply<8>(c, from, to);
  }
  if (fillTiles(to - from)) tilesEnd();
}
