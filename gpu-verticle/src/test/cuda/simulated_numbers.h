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

// E4M3 without infinities: exponent 15 with mantissa 7 is NaN, everything else a number up to 448.
static inline float fp8_to_float(unsigned char bits) {
  unsigned magnitude = bits & 0x7f;
  float value = magnitude == 0x7f ? __uint_as_float(0x7fffffff)
                                  : __uint_as_float(magnitude << 20) * 0x1p120f;
  return bits & 0x80 ? -value : value;
}

// Saturates: what is larger than 448 becomes 448, infinity too.
static inline unsigned char float_to_fp8(float value) {
  unsigned bits = __float_as_uint(value);
  unsigned sign = bits >> 24 & 0x80;
  unsigned magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0x7f;
  if (magnitude >= 0x43e00000) return (unsigned char) (sign | 0x7e);
  if (magnitude < 0x3c800000) {
    // Subnormal: adding 2^14 leaves in the low bits the multiple of 2^-9.
    float shifted = __uint_as_float(magnitude) + 0x1p14f;
    return (unsigned char) (sign | (__float_as_uint(shifted) - 0x46800000));
  }
  unsigned rounded = magnitude + 0x7ffff + (magnitude >> 20 & 1);
  return (unsigned char) (sign | ((rounded >> 20) - (120 << 3)));
}
