// What the lanes of a warp do together, computed for all of them at once.

// Products of two small numbers are exact, so a fused sum is the same, and faster.
#pragma GCC optimize("fp-contract=fast")

#include "simulated_threads.h"

namespace simulated {
namespace {

typedef uint32_t Words __attribute__((vector_size(COLUMNS * sizeof(uint32_t))));
typedef float Floats __attribute__((vector_size(COLUMNS * sizeof(float))));

// The same conversions as of single numbers, of those in the low halves of words.
struct Bf16 {
  static Floats convert(Words bits) { return (Floats) (bits << 16); }
};

struct Half {
  static Floats convert(Words bits) {
    Words magnitude = (bits & 0x7fff) << 13;
    Floats scaled = (Floats) magnitude * 0x1p112f;
    Words special = (Words) (magnitude >= 0x0f800000) & 0x7f800000;
    return (Floats) ((Words) scaled | special | (bits & 0x8000) << 16);
  }
};

template <class Type>
void multiply(Warp& warp) {
  Floats b[DEPTH];  // by row
  for (unsigned pair = 0; pair < DEPTH / 2; pair++) {
    Words words = *(const Words*) warp.b[pair];
    b[2 * pair] = Type::convert(words & 0xffff);
    b[2 * pair + 1] = Type::convert(words >> 16);
  }
  for (unsigned row = 0; row < ROWS; row++) {
    Words words = *(const Words*) warp.a[row];
    Floats even = Type::convert(words & 0xffff);
    Floats odd = Type::convert(words >> 16);
    Floats& d = *(Floats*) warp.d[row];
    Floats sum = d;
    for (unsigned pair = 0; pair < DEPTH / 2; pair++) {
      sum += even[pair] * b[2 * pair];
      sum += odd[pair] * b[2 * pair + 1];
    }
    d = sum;
  }
}

// Where the lane that is asked does not take part, a device may give anything: all ones, NaN.
void shuffle(Warp& warp, unsigned mask) {
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    if (!(mask >> lane & 1)) continue;
    unsigned source = warp.source[lane];
    bool there = source < WARP_LANES && mask >> source & 1;
    warp.result[lane] = there ? warp.value[source] : ~0ull;
  }
}

void vote(Warp& warp, unsigned mask) {
  unsigned yes = 0;
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    if (mask >> lane & 1) yes |= (unsigned) warp.value[lane] << lane;
  for (unsigned lane = 0; lane < WARP_LANES; lane++)
    if (mask >> lane & 1) warp.result[lane] = yes;
}

}  // namespace

void perform(Warp& warp, Operation operation, unsigned mask) {
  switch (operation) {
    case Operation::SYNCWARP: break;
    case Operation::SHUFFLE:
    case Operation::SHUFFLE_XOR:
    case Operation::SHUFFLE_DOWN: shuffle(warp, mask); break;
    case Operation::VOTE: vote(warp, mask); break;
    case Operation::MMA_BF16: multiply<Bf16>(warp); break;
    case Operation::MMA_HALF: multiply<Half>(warp); break;
  }
}

const char* nameOf(Operation operation) {
  switch (operation) {
    case Operation::SYNCWARP: return "__syncwarp";
    case Operation::SHUFFLE: return "__shfl_sync";
    case Operation::SHUFFLE_XOR: return "__shfl_xor_sync";
    case Operation::SHUFFLE_DOWN: return "__shfl_down_sync";
    case Operation::VOTE: return "a vote";
    case Operation::MMA_BF16: return "mma_bf16";
    case Operation::MMA_HALF: return "mma_half";
  }
  return "?";
}

}  // namespace simulated
