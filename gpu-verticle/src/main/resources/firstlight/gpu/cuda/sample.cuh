// From logits to tokens. One block a row; everything is exact and in a fixed order, because weights
// are added up as integers: it does not matter who adds first.
//
// Logits that are not numbers count as the least that there is, and infinite ones as the largest
// float, as on the cpu device.
#pragma once
#include "device.cuh"

#define SAMPLE_THREADS 512
#define TOP_MAX 20
#define FINITE_MAX 3.402823466e38f
#define WEIGHT_ONE 1099511627776.f  // 2^40: the weight of the best token

// How one row is sampled. Lists are given by where they begin among the extras.
struct Choice {
  u64 seed;
  int position;
  float temperature;
  int top_k;
  float top_p;
  float min_p;
  float repetition;
  float presence;
  float frequency;
  // Ids, then how often each is in the output.
  int penalised;
  int penalised_count;
  // Ids, then what is added.
  int biased;
  int biased_count;
  // A bit for each token; -1: every token is allowed.
  int mask;
  // -1: no log-probabilities.
  int top;
};

struct Answer {
  int id;
  float logprob;
  int top[TOP_MAX];
  float top_logprobs[TOP_MAX];
};

// logits: [rows][vocabulary]; adjusted: the same, scratch; choices, answers: [sampled]; extras:
// words. Of the sampled rows, those from the first on have their logits here.
struct Sampling {
  float* logits;
  float* adjusted;
  const Choice* choices;
  const unsigned* extras;
  Answer* answers;
  const Counts* counts;
  int vocabulary;
  float softcap;
  int first;
};

// A row being sampled.
struct Row {
  const float* logits;
  int vocabulary;
  float largest;
  float temperature;
  // Whether there are tokens of no weight at all.
  bool masked;
};

// Floats as unsigned integers that sort like them, negative zero being equal to zero.
static __device__ __forceinline__ unsigned sortable(float x) {
  unsigned bits = __float_as_uint(x + 0.f);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

static __device__ __forceinline__ float finite(float x) {
  return fabsf(x) <= FINITE_MAX ? x : x > 0 ? FINITE_MAX : -FINITE_MAX;
}

// Of the token relative to the best one's; 0 for a token that is not allowed.
static __device__ __forceinline__ u64 weight(const Row& row, float logit) {
  if (row.masked && logit < -FINITE_MAX) {
    return 0;
  }
  return (u64)(expf((logit - row.largest) / row.temperature) * WEIGHT_ONE);
}

static __device__ __forceinline__ u64 block_total(u64 x) {
  __shared__ u64 total;
  __syncthreads();
  if (threadIdx.x == 0) {
    total = 0;
  }
  __syncthreads();
  atomicAdd(&total, x);
  __syncthreads();
  return total;
}

static __device__ __forceinline__ u64 block_max(u64 x) {
  __shared__ u64 most;
  __syncthreads();
  if (threadIdx.x == 0) {
    most = 0;
  }
  __syncthreads();
  atomicMax(&most, x);
  __syncthreads();
  return most;
}

// The best token whose key is below a limit; equal logits in the order of their ids. A key is the
// sortable logit above, the id turned around below.
static __device__ __forceinline__ u64 best_below(const Row& row, u64 limit) {
  u64 best = 0;
  for (int id = threadIdx.x; id < row.vocabulary; id += blockDim.x) {
    u64 key = (u64)sortable(row.logits[id]) << 32 | (0x7fffffffu - id);
    if (key < limit && key > best) {
      best = key;
    }
  }
  return block_max(best);
}

static __device__ __forceinline__ int id_of(u64 key) {
  return 0x7fffffff - (int)(unsigned)key;
}

// The ids of a thread when each has neighbouring ones.
static __device__ __forceinline__ int first_id(int vocabulary, int thread) {
  return (int)((long long)vocabulary * thread / blockDim.x);
}

// Finds, in the order of ids, the token at which the sum of some measure exceeds the mark: all
// threads get it. The measures add up to more than the mark.
template <class Measure>
static __device__ __forceinline__ int find_in_order(int vocabulary, u64 mark, Measure measure) {
  __shared__ u64 sums[SAMPLE_THREADS];
  __shared__ int found;
  int from = first_id(vocabulary, threadIdx.x);
  int to = first_id(vocabulary, threadIdx.x + 1);
  u64 own = 0;
  for (int id = from; id < to; id++) {
    own += measure(id);
  }
  __syncthreads();
  sums[threadIdx.x] = own;
  __syncthreads();
  u64 before = 0;
  for (int i = 0; i < threadIdx.x; i++) {
    before += sums[i];
  }
  if (before <= mark && mark < before + own) {
    for (int id = from; id < to; id++) {
      before += measure(id);
      if (before > mark) {
        found = id;
        break;
      }
    }
  }
  __syncthreads();
  return found;
}

// A token and its rank among all: those with larger keys come before it.
struct Place {
  unsigned sortable;
  int id;
};

static __device__ __forceinline__ bool is_at_or_before(const Place& a, unsigned logit, int id) {
  return logit > a.sortable || (logit == a.sortable && id <= a.id);
}

// Finds, best first, the token at which the sum of the weights (or the count) exceeds the mark.
// Eight bits of the logit at a time: what larger ones weigh is known before the next eight.
template <bool COUNTS>
static __device__ __forceinline__ Place find_by_rank(const Row& row, u64 mark) {
  __shared__ u64 bins[256];
  __shared__ unsigned prefix;
  __shared__ u64 left;
  if (threadIdx.x == 0) {
    prefix = 0;
    left = mark;
  }
  for (int shift = 24; shift >= 0; shift -= 8) {
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
      bins[i] = 0;
    }
    __syncthreads();
    unsigned above = shift == 24 ? 0 : ~0u << (shift + 8);
    for (int id = threadIdx.x; id < row.vocabulary; id += blockDim.x) {
      unsigned key = sortable(row.logits[id]);
      if ((key & above) == prefix) {
        atomicAdd(&bins[key >> shift & 255], COUNTS ? 1ull : weight(row, row.logits[id]));
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      int bin = 255;
      while (bin > 0 && bins[bin] <= left) {
        left -= bins[bin--];
      }
      prefix |= (unsigned)bin << shift;
    }
  }
  __syncthreads();
  unsigned logit = prefix;
  u64 rest = left;
  int id = find_in_order(row.vocabulary, rest, [&](int i) -> u64 {
    return sortable(row.logits[i]) != logit ? 0ull : COUNTS ? 1ull : weight(row, row.logits[i]);
  });
  return Place{logit, id};
}

// What the tokens down to a place weigh together.
static __device__ __forceinline__ u64 weight_to(const Row& row, const Place& place) {
  u64 sum = 0;
  for (int id = threadIdx.x; id < row.vocabulary; id += blockDim.x) {
    if (is_at_or_before(place, sortable(row.logits[id]), id)) {
      sum += weight(row, row.logits[id]);
    }
  }
  return block_total(sum);
}

// A number below the total: 53 bits that depend on the seed and the position alone (SplitMix64's
// finalizer with the position as a counter, as the cpu device draws), scaled.
static __device__ __forceinline__ u64 draw(u64 seed, int position, u64 total) {
  u64 bits = mixed(mixed(seed + GAMMA) + GAMMA * (position + 1ull)) >> 11;
  return __umul64hi(bits, total) << 11 | bits * total >> 53;
}

// What top-k and top-p leave weighs together; at least the best token.
static __device__ __forceinline__ u64 kept_weight(const Row& row, const Choice& c) {
  Place last = {0, 0x7fffffff};
  if (c.top_k > 0 && c.top_k < row.vocabulary) {
    last = find_by_rank<true>(row, c.top_k - 1);
  }
  u64 whole = weight_to(row, last);
  if (c.top_p < 1) {
    double enough = c.top_p * (double)whole;
    u64 target = (u64)enough;
    // Tokens are taken until they weigh enough.
    target = target > 0 && (double)target == enough ? target - 1 : target;
    last = find_by_rank<false>(row, min(target, whole - 1));
  }
  u64 least = max((u64)(c.min_p * WEIGHT_ONE), (u64)1);
  u64 sum = 0;
  for (int id = threadIdx.x; id < row.vocabulary; id += blockDim.x) {
    u64 w = weight(row, row.logits[id]);
    if (is_at_or_before(last, sortable(row.logits[id]), id) && w >= least) {
      sum += w;
    }
  }
  return block_total(sum);
}

static __device__ __forceinline__ int choose(const Row& row, const Choice& c, int best) {
  if (c.temperature == 0) {
    return best;
  }
  if (c.top_k == 0 && c.top_p == 1 && c.min_p == 0) {
    u64 total = weight_to(row, Place{0, 0x7fffffff});
    return find_in_order(row.vocabulary, draw(c.seed, c.position, total),
        [&](int id) -> u64 { return weight(row, row.logits[id]); });
  }
  u64 kept = kept_weight(row, c);
  return find_by_rank<false>(row, draw(c.seed, c.position, kept)).id;
}

// Makes logits finite, and softens them where the model does.
static __device__ __forceinline__ void make_finite(float* logits, const Sampling& s) {
  for (int id = threadIdx.x; id < s.vocabulary; id += blockDim.x) {
    float x = logits[id];
    logits[id] = finite(s.softcap > 0 ? s.softcap * tanhf(x / s.softcap) : x);
  }
  __syncthreads();
}

static __device__ __forceinline__ float penalised(float logit, int times, const Choice& c) {
  float x = logit > 0 ? logit / c.repetition : logit * c.repetition;
  return times == 0 ? x : x - c.presence - c.frequency * times;
}

// A changed copy of the logits, or the logits themselves where nothing is to be changed.
static __device__ __forceinline__ const float* adjust(
    const Sampling& s, const Choice& c, const float* logits, float* copy) {
  if (c.penalised_count == 0 && c.biased_count == 0 && c.mask < 0) {
    return logits;
  }
  for (int id = threadIdx.x; id < s.vocabulary; id += blockDim.x) {
    copy[id] = logits[id];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < c.penalised_count; i += blockDim.x) {
    int id = s.extras[c.penalised + i];
    copy[id] = penalised(copy[id], s.extras[c.penalised + c.penalised_count + i], c);
  }
  __syncthreads();
  // One thread: a token may be named twice.
  for (int i = 0; threadIdx.x == 0 && i < c.biased_count; i++) {
    copy[s.extras[c.biased + i]] += __uint_as_float(s.extras[c.biased + c.biased_count + i]);
  }
  __syncthreads();
  for (int id = threadIdx.x; id < s.vocabulary; id += blockDim.x) {
    bool allowed = c.mask < 0 || s.extras[c.mask + (id >> 5)] >> (id & 31) & 1;
    copy[id] = allowed ? finite(copy[id]) : __uint_as_float(0xff800000u);
  }
  __syncthreads();
  return copy;
}

// Never more than 0, which rounding could make of a certain token's.
static __device__ __forceinline__ float logprob_of(double logit, double largest, double log_sum) {
  double x = logit - largest - log_sum;
  return (float)(x > 0 ? 0 : x < -(double)FINITE_MAX ? -(double)FINITE_MAX : x);
}

// Log-probabilities under the logits as they came.
static __device__ __forceinline__ void report(
    const Sampling& s, const Choice& c, const float* logits, int chosen, Answer* answer) {
  Row row = {logits, s.vocabulary, 0, 1, false};
  u64 key = best_below(row, ~0ull);
  row.largest = logits[id_of(key)];
  u64 total = weight_to(row, Place{0, 0x7fffffff});
  double log_sum = log((double)total / (double)WEIGHT_ONE);
  for (int rank = 0; rank < c.top && rank < s.vocabulary; rank++) {
    if (threadIdx.x == 0) {
      int id = id_of(key);
      answer->top[rank] = id;
      answer->top_logprobs[rank] = logprob_of(logits[id], row.largest, log_sum);
    }
    key = best_below(row, key);
  }
  if (threadIdx.x == 0) {
    answer->logprob = logprob_of(logits[chosen], row.largest, log_sum);
  }
}

KERNEL __launch_bounds__(SAMPLE_THREADS) sample(Sampling s) {
  int slot = s.first + blockIdx.x;
  if (slot >= s.counts->sampled) {
    return;
  }
  Choice c = s.choices[slot];
  float* logits = s.logits + (u64)blockIdx.x * s.vocabulary;
  make_finite(logits, s);
  const float* adjusted = adjust(s, c, logits, s.adjusted + (u64)blockIdx.x * s.vocabulary);
  Row row = {adjusted, s.vocabulary, 0, c.temperature, c.mask >= 0};
  int best = id_of(best_below(row, ~0ull));
  row.largest = adjusted[best];
  int chosen = choose(row, c, best);
  if (threadIdx.x == 0) {
    s.answers[slot].id = chosen;
  }
  if (c.top >= 0) {
    report(s, c, logits, chosen, s.answers + slot);
  }
}
