// Keys, values and attention over Blocks of KV memory.
//
// The memory is halves: [block][layer][kv head][keys, then values]; keys of a head in a Block are
// [position][element], values are [element][position], so that both are read as the tensor cores
// want them.
//
// The context is cut into splits of 256 positions, counted from the beginning of the Sequence. Each
// gives a partial result as if there were nothing else, and partial results are folded in the order
// of the splits: in one block, or by a second kernel after blocks that took a split each. A query's
// numbers depend on its position alone, not on who is in its tile, in its Step or in its Blocks.
#pragma once
#include "device.cuh"

#define SPLIT 256
#define QUERIES 16
#define LOWEST (-1e30f)

// The KV memory as one layer sees it. offset: of the layer in a Block; sizes in halves
struct Memory {
  half_bits* base;
  u64 block_size;
  u64 offset;
  int block_tokens;
  int head_size;
  int kv_heads;
};

// Where one head's keys of the Block of a position begin; its values follow.
static __device__ __forceinline__ half_bits* part(
    const Memory& m, const int* table, int position, int kv_head) {
  u64 keys = (u64)m.head_size * m.block_tokens;
  return m.base + table[position / m.block_tokens] * m.block_size + m.offset + kv_head * 2 * keys;
}

// What becomes of a row's products with the query, key and value matrices.
//
// queries, keys, values: [rows][stride]; norms: [head size], or null; turns: [position][pairs],
// cosine and sine; tables: block tables; table_of: where each row's begins; out: [rows][heads]
// [head size]
struct Rotation {
  const float* queries;
  const float* keys;
  const float* values;
  int query_stride;
  int key_stride;
  int value_stride;
  const float* query_norm;
  const float* key_norm;
  float epsilon;
  const float2* turns;
  int pairs;
  // Whether pairs are neighbours, not halves.
  int interleaved;
  int heads;
  const int* tables;
  const int* table_of;
  const int* positions;
  half_bits* out;
  Memory memory;
  const Counts* counts;
};

static __device__ __forceinline__ void turn(const Rotation& r, float* x, int position) {
  for (int i = threadIdx.x; i < r.pairs; i += blockDim.x) {
    float2 by = r.turns[(u64)position * r.pairs + i];
    int first = r.interleaved ? 2 * i : i;
    int second = r.interleaved ? 2 * i + 1 : i + r.pairs;
    float a = x[first];
    float b = x[second];
    x[first] = fmaf(a, by.x, -(b * by.y));
    x[second] = fmaf(a, by.y, b * by.x);
  }
}

// One block for each head of a row: query heads, then key heads, then value heads.
KERNEL __launch_bounds__(128) rotate_store(Rotation r) {
  __shared__ float x[256];
  int row = blockIdx.x;
  if (row >= r.counts->rows) {
    return;
  }
  const Memory& m = r.memory;
  int size = m.head_size;
  int head = blockIdx.y;
  bool is_query = head < r.heads;
  bool is_value = head >= r.heads + m.kv_heads;
  int kv_head = (head - r.heads) % m.kv_heads;
  const float* from = is_query ? r.queries + (u64)row * r.query_stride + head * size
      : is_value ? r.values + (u64)row * r.value_stride + kv_head * size
                 : r.keys + (u64)row * r.key_stride + kv_head * size;
  const float* norm = is_value ? 0 : is_query ? r.query_norm : r.key_norm;
  float factor = 1;
  if (norm) {
    float sum = 0;
    for (int i = threadIdx.x; i < size; i += blockDim.x) {
      sum = fmaf(from[i], from[i], sum);
    }
    factor = 1.f / sqrtf(block_sum(sum) / size + r.epsilon);
  }
  for (int i = threadIdx.x; i < size; i += blockDim.x) {
    x[i] = norm ? from[i] * factor * norm[i] : from[i];
  }
  __syncthreads();
  int position = r.positions[row];
  if (!is_value) {
    turn(r, x, position);
    __syncthreads();
  }
  half_bits* to = r.out + ((u64)row * r.heads + head) * size;
  int apart = 1;
  if (!is_query) {
    to = part(m, r.tables + r.table_of[row], position, kv_head);
    int in_block = position % m.block_tokens;
    to += is_value ? size * m.block_tokens + in_block : in_block * size;
    apart = is_value ? m.block_tokens : 1;
  }
  for (int i = threadIdx.x; i < size; i += blockDim.x) {
    to[(u64)i * apart] = float_to_half(x[i]);
  }
}

// Up to 16 queries of neighbouring rows of a Slice: slot i is query head (first_slot + i) % group
// of row + (first_slot + i) / group.
struct Tile {
  int row;
  int position;
  int table;
  int first_slot;
  int slots;
};

// queries: [rows][heads][size]; out: [rows][heads * size], bf16 in lane order; partials: [tile][kv
// head][split][16][size + 2]
struct Attend {
  bf16* out;
  float* partials;
  const half_bits* queries;
  const Tile* tiles;
  const int* tables;
  int group;
  float scale;
  float softcap;
  // Positions that a row sees, its own included.
  int window;
  Memory memory;
  const Counts* counts;
};

// What a thread has of a partial result: rows g and g + 8, of CHUNKS times eight elements two each.
template <int CHUNKS>
struct Partial {
  float out[CHUNKS][4];
  float largest[2];
  float weight[2];
};

static __device__ __forceinline__ int row_of(const Attend& a, const Tile& tile, int slot) {
  return (tile.first_slot + slot) / a.group;
}

// The first position that a tile does not see any more, and the first that it sees.
static __device__ __forceinline__ int tile_end(const Attend& a, const Tile& tile) {
  return tile.position + row_of(a, tile, tile.slots - 1) + 1;
}

static __device__ __forceinline__ int tile_start(const Attend& a, const Tile& tile) {
  return max(0, tile.position + row_of(a, tile, 0) + 1 - a.window);
}

// What warps tell each other within a split.
struct Shared {
  // Weights as halves; rows are padded so that lanes of a warp read different banks.
  half_bits weights[QUERIES][SPLIT + 8];
  float largest[4][QUERIES];
  float sums[4][QUERIES];
};

template <int CHUNKS>
static __device__ __forceinline__ void load_queries(
    const Attend& a, const Tile& tile, int kv_head, int slot, int t, uint4 (&to)[CHUNKS]) {
  int heads = a.memory.kv_heads * a.group;
  int head = kv_head * a.group + (tile.first_slot + slot) % a.group;
  u64 row = tile.row + row_of(a, tile, slot);
  const half_bits* from = a.queries + (row * heads + head) * CHUNKS * 32 + t * 8;
#pragma unroll
  for (int c = 0; c < CHUNKS; c++) {
    to[c] = slot < tile.slots ? *(const uint4*)(from + c * 32) : make_uint4(0, 0, 0, 0);
  }
}

// The scores of 16 queries and 8 positions.
template <int CHUNKS>
static __device__ __forceinline__ void score(const uint4 (&upper)[CHUNKS],
    const uint4 (&lower)[CHUNKS], const half_bits* key, float (&to)[4]) {
#pragma unroll
  for (int c = 0; c < CHUNKS; c++) {
    uint4 k = *(const uint4*)(key + c * 32);
    const unsigned first[4] = {upper[c].x, lower[c].x, upper[c].y, lower[c].y};
    const unsigned second[4] = {upper[c].z, lower[c].z, upper[c].w, lower[c].w};
    const unsigned first_key[2] = {k.x, k.y};
    const unsigned second_key[2] = {k.z, k.w};
    mma_half(to, first, first_key);
    mma_half(to, second, second_key);
  }
}

// Scores of a warp's 64 positions of a split; what a query does not see becomes LOWEST.
template <int CHUNKS>
static __device__ __forceinline__ void scores(const Attend& a, const Tile& tile, int kv_head,
    int first, const uint4 (&upper)[CHUNKS], const uint4 (&lower)[CHUNKS], float (&to)[8][4]) {
  int g = threadIdx.x % WARP >> 2;
  int t = threadIdx.x & 3;
  int start = tile_start(a, tile);
  int end = tile_end(a, tile);
  const int* table = a.tables + tile.table;
#pragma unroll
  for (int n = 0; n < 8; n++) {
    int base = first + n * 8;
    float products[4] = {0, 0, 0, 0};
    if (base < end && base + 8 > start) {
      // Positions at the end are there for the eight to be whole; nobody looks at their scores.
      int position = min(base + g, end - 1);
      const half_bits* key = part(a.memory, table, position, kv_head)
          + position % a.memory.block_tokens * CHUNKS * 32 + t * 8;
      score<CHUNKS>(upper, lower, key, products);
    }
    for (int i = 0; i < 4; i++) {
      int own = tile.position + row_of(a, tile, g + (i >> 1) * 8);
      int position = base + 2 * t + (i & 1);
      float x = products[i] * a.scale;
      if (a.softcap > 0) {
        x = a.softcap * tanhf(x / a.softcap);
      }
      to[n][i] = position <= own && position > own - a.window && position < end ? x : LOWEST;
    }
  }
}

// The largest of what the four lanes of a row have.
static __device__ __forceinline__ float row_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(ALL_LANES, x, 1));
  return fmaxf(x, __shfl_xor_sync(ALL_LANES, x, 2));
}

static __device__ __forceinline__ float row_sum(float x) {
  x += __shfl_xor_sync(ALL_LANES, x, 1);
  return x + __shfl_xor_sync(ALL_LANES, x, 2);
}

// Scores become weights relative to the largest of their row; what is not seen weighs nothing. The
// first barrier is also for the weights of the split before, which others may still be reading.
template <int CHUNKS>
static __device__ __forceinline__ void soften(
    float (&scores)[8][4], Shared& shared, Partial<CHUNKS>& to) {
  int warp = threadIdx.x / WARP;
  int g = threadIdx.x % WARP >> 2;
  int t = threadIdx.x & 3;
  for (int half = 0; half < 2; half++) {
    float most = LOWEST;
    for (int n = 0; n < 8; n++) {
      most = fmaxf(most, fmaxf(scores[n][2 * half], scores[n][2 * half + 1]));
    }
    most = row_max(most);
    if (t == 0) {
      shared.largest[warp][g + half * 8] = most;
    }
  }
  __syncthreads();
  for (int half = 0; half < 2; half++) {
    int row = g + half * 8;
    float most = fmaxf(fmaxf(shared.largest[0][row], shared.largest[1][row]),
        fmaxf(shared.largest[2][row], shared.largest[3][row]));
    float sum = 0;
    for (int n = 0; n < 8; n++) {
      float x = scores[n][2 * half];
      float y = scores[n][2 * half + 1];
      unsigned pair = pack_half(
          x == LOWEST ? 0.f : expf(x - most), y == LOWEST ? 0.f : expf(y - most));
      *(unsigned*)&shared.weights[row][warp * 64 + n * 8 + 2 * t] = pair;
      // What is added up is what is multiplied.
      sum += half_to_float((unsigned short)pair) + half_to_float((unsigned short)(pair >> 16));
    }
    sum = row_sum(sum);
    if (t == 0) {
      shared.sums[warp][row] = sum;
    }
    to.largest[half] = most;
  }
  __syncthreads();
  for (int half = 0; half < 2; half++) {
    int row = g + half * 8;
    to.weight[half] = shared.sums[0][row] + shared.sums[1][row] + shared.sums[2][row]
        + shared.sums[3][row];
  }
}

// Four neighbouring positions of one element of the values; those from the end on are 0.
static __device__ __forceinline__ uint2 load_values(const half_bits* from, int left) {
  uint2 x = *(const uint2*)from;
  if (left < 4) {
    x.y = left == 3 ? x.y & 0xffffu : 0;
    x.x = left >= 2 ? x.x : left == 1 ? x.x & 0xffffu : 0;
  }
  return x;
}

// The weighted values of a split.
template <int CHUNKS>
static __device__ __forceinline__ void weigh(const Attend& a, const Tile& tile, int kv_head,
    int first, const Shared& shared, Partial<CHUNKS>& to) {
  int warp = threadIdx.x / WARP;
  int g = threadIdx.x % WARP >> 2;
  int t = threadIdx.x & 3;
  int end = tile_end(a, tile);
  const Memory& m = a.memory;
#pragma unroll
  for (int j = 0; j < CHUNKS; j++) {
    to.out[j][0] = to.out[j][1] = to.out[j][2] = to.out[j][3] = 0;
  }
  for (int base = first; base < min(first + SPLIT, end); base += 16) {
    if (base + 16 <= tile_start(a, tile)) {
      continue;
    }
    uint2 upper = *(const uint2*)&shared.weights[g][base - first + 4 * t];
    uint2 lower = *(const uint2*)&shared.weights[g + 8][base - first + 4 * t];
    const unsigned weights[4] = {upper.x, lower.x, upper.y, lower.y};
    const half_bits* values = part(m, a.tables + tile.table, base, kv_head)
        + CHUNKS * 32 * m.block_tokens + base % m.block_tokens + 4 * t;
#pragma unroll
    for (int j = 0; j < CHUNKS; j++) {
      int element = (j * 4 + warp) * 8 + g;
      uint2 x = load_values(values + element * m.block_tokens, end - base - 4 * t);
      const unsigned pairs[2] = {x.x, x.y};
      mma_half(to.out[j], weights, pairs);
    }
  }
}

template <int CHUNKS>
static __device__ __forceinline__ void begin(Partial<CHUNKS>& to) {
  for (int half = 0; half < 2; half++) {
    to.largest[half] = LOWEST;
    to.weight[half] = 0;
  }
#pragma unroll
  for (int j = 0; j < CHUNKS; j++) {
    to.out[j][0] = to.out[j][1] = to.out[j][2] = to.out[j][3] = 0;
  }
}

// Takes the next split. One in which nothing is seen changes nothing, to the last bit.
template <int CHUNKS>
static __device__ __forceinline__ void fold(Partial<CHUNKS>& into, const Partial<CHUNKS>& next) {
  for (int half = 0; half < 2; half++) {
    float most = fmaxf(into.largest[half], next.largest[half]);
    float old = expf(into.largest[half] - most);
    float fresh = expf(next.largest[half] - most);
    into.largest[half] = most;
    into.weight[half] = fmaf(next.weight[half], fresh, into.weight[half] * old);
#pragma unroll
    for (int j = 0; j < CHUNKS; j++) {
      for (int i = 2 * half; i < 2 * half + 2; i++) {
        into.out[j][i] = fmaf(next.out[j][i], fresh, into.out[j][i] * old);
      }
    }
  }
}

template <int CHUNKS>
static __device__ __forceinline__ void finish(
    const Attend& a, const Tile& tile, int kv_head, const Partial<CHUNKS>& from) {
  int warp = threadIdx.x / WARP;
  int g = threadIdx.x % WARP >> 2;
  int t = threadIdx.x & 3;
  int size = CHUNKS * 32;
  int heads = a.memory.kv_heads * a.group;
  for (int half = 0; half < 2; half++) {
    int slot = g + half * 8;
    if (slot >= tile.slots) {
      continue;
    }
    int head = kv_head * a.group + (tile.first_slot + slot) % a.group;
    u64 row = (u64)(tile.row + row_of(a, tile, slot)) * heads * size;
    float factor = 1.f / from.weight[half];
#pragma unroll
    for (int j = 0; j < CHUNKS; j++) {
      int element = head * size + (j * 4 + warp) * 8 + 2 * t;
      // Lane order keeps an even element and the next one together.
      *(unsigned*)(a.out + row + lane_order(element)) =
          pack_bf16(from.out[j][2 * half] * factor, from.out[j][2 * half + 1] * factor);
    }
  }
}

template <int CHUNKS>
static __device__ __forceinline__ float* partial_at(
    const Attend& a, int tile, int kv_head, int split, int slot) {
  u64 at = ((u64)tile * a.memory.kv_heads + kv_head) * a.counts->splits + split;
  return a.partials + (at * QUERIES + slot) * (CHUNKS * 32 + 2);
}

// Writes a partial result, or reads it.
template <int CHUNKS, bool WRITES>
static __device__ __forceinline__ void transfer(
    const Attend& a, int tile, int kv_head, int split, Partial<CHUNKS>& p) {
  int warp = threadIdx.x / WARP;
  int g = threadIdx.x % WARP >> 2;
  int t = threadIdx.x & 3;
  for (int half = 0; half < 2; half++) {
    float* at = partial_at<CHUNKS>(a, tile, kv_head, split, g + half * 8);
    if (!WRITES) {
      p.largest[half] = at[0];
      p.weight[half] = at[1];
    } else if (warp == 0 && t == 0) {
      at[0] = p.largest[half];
      at[1] = p.weight[half];
    }
#pragma unroll
    for (int j = 0; j < CHUNKS; j++) {
      for (int i = 0; i < 2; i++) {
        float* element = at + 2 + (j * 4 + warp) * 8 + 2 * t + i;
        if (WRITES) {
          *element = p.out[j][2 * half + i];
        } else {
          p.out[j][2 * half + i] = *element;
        }
      }
    }
  }
}

// One block for each tile and KV head, and for each split where the splits are dealt out.
template <int CHUNKS, bool DEALT>
static __device__ __forceinline__ void attend(const Attend& a) {
  __shared__ Shared shared;
  if (blockIdx.z >= a.counts->tiles) {
    return;
  }
  Tile tile = a.tiles[blockIdx.z];
  int kv_head = blockIdx.y;
  int from = tile_start(a, tile) / SPLIT;
  int to = (tile_end(a, tile) + SPLIT - 1) / SPLIT;
  if (DEALT) {
    from = max(from, (int)blockIdx.x);
    to = min(to, (int)blockIdx.x + 1);
  }
  int warp = threadIdx.x / WARP;
  int g = threadIdx.x % WARP >> 2;
  uint4 upper[CHUNKS];
  uint4 lower[CHUNKS];
  load_queries<CHUNKS>(a, tile, kv_head, g, threadIdx.x & 3, upper);
  load_queries<CHUNKS>(a, tile, kv_head, g + 8, threadIdx.x & 3, lower);
  Partial<CHUNKS> folded;
  begin(folded);
  for (int split = from; split < to; split++) {
    float s[8][4];
    Partial<CHUNKS> next;
    scores<CHUNKS>(a, tile, kv_head, split * SPLIT + warp * 64, upper, lower, s);
    soften<CHUNKS>(s, shared, next);
    weigh<CHUNKS>(a, tile, kv_head, split * SPLIT, shared, next);
    if (DEALT) {
      transfer<CHUNKS, true>(a, blockIdx.z, kv_head, split, next);
    } else {
      fold(folded, next);
    }
  }
  if (!DEALT) {
    finish(a, tile, kv_head, folded);
  }
}

// Folds what blocks with a split each have left.
template <int CHUNKS>
static __device__ __forceinline__ void fold_splits(const Attend& a) {
  if (blockIdx.z >= a.counts->tiles) {
    return;
  }
  Tile tile = a.tiles[blockIdx.z];
  Partial<CHUNKS> folded;
  begin(folded);
  int to = (tile_end(a, tile) + SPLIT - 1) / SPLIT;
  for (int split = tile_start(a, tile) / SPLIT; split < to; split++) {
    Partial<CHUNKS> next;
    transfer<CHUNKS, false>(a, blockIdx.z, blockIdx.y, split, next);
    fold(folded, next);
  }
  finish(a, tile, blockIdx.y, folded);
}
