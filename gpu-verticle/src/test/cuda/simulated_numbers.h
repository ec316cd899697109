// Conversions between floats and the small formats of a device. They round to nearest, ties to
// even.
#pragma once
#include <cstdint>
#include <cstring>

static inline float __uint_as_float(unsigned bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

static inline unsigned __float_as_uint(float value) {
  unsigned bits;
  memcpy(&bits, &value, 4);
  return bits;
}

static inline float __int_as_float(int bits) { return __uint_as_float((unsigned) bits); }
static inline int __float_as_int(float value) { return (int) __float_as_uint(value); }

static inline float bf16_to_float(unsigned short bits) {
  return __uint_as_float((unsigned) bits << 16);
}

static inline unsigned short float_to_bf16(float value) {
  unsigned bits = __float_as_uint(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff;  // as the device's cvt does
  return (unsigned short) ((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Without branches, so that a loop of them becomes vector code.
static inline float half_to_float(unsigned short bits) {
  unsigned magnitude = (bits & 0x7fffu) << 13;
  float scaled = __uint_as_float(magnitude) * 0x1p112f;  // makes subnormals right, too
  unsigned special = magnitude >= 0x0f800000 ? 0x7f800000u : 0u;  // infinity or NaN
  return __uint_as_float(__float_as_uint(scaled) | special | (bits & 0x8000u) << 16);
}

static inline unsigned short float_to_half(float value) {
  unsigned bits = __float_as_uint(value);
  unsigned sign = bits >> 16 & 0x8000;
  unsigned magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0x7fff;
  if (magnitude >= 0x477ff000) return (unsigned short) (sign | 0x7c00);  // 65520 and more
  if (magnitude < 0x38800000) {
    // Subnormal: adding 0.5 leaves in the low bits the multiple of 2^-24, rounded by the addition.
    float shifted = __uint_as_float(magnitude) + 0.5f;
    return (unsigned short) (sign | (__float_as_uint(shifted) - 0x3f000000));
  }
  unsigned rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return (unsigned short) (sign | ((rounded >> 13) - (112 << 10)));
}

// The low half lies in the low bits.
static inline unsigned pack_bf16(float low, float high) {
  return float_to_bf16(low) | (unsigned) float_to_bf16(high) << 16;
}

static inline unsigned pack_half(float low, float high) {
  return float_to_half(low) | (unsigned) float_to_half(high) << 16;
}
