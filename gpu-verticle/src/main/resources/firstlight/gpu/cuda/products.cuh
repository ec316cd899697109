// The products of product.cuh for each type of weights: for up to 8 tokens, up to 32, and more.
#pragma once
#include "product.cuh"

#define PRODUCTS(suffix, T)                                                                        \
  KERNEL __launch_bounds__(256, 2) multiply8_##suffix(Product p) { multiply_narrow<T, 1>(p); }     \
  KERNEL __launch_bounds__(256, 2) multiply32_##suffix(Product p) { multiply_narrow<T, 4>(p); }    \
  KERNEL __launch_bounds__(128, 2) multiply64_##suffix(Product p) { multiply_wide<T>(p); }

PRODUCTS(bf16, Bf16)
PRODUCTS(fp8, Fp8)
PRODUCTS(q8_0, Q8_0)
PRODUCTS(q4_0, Q4_0)
PRODUCTS(q4_1, Q4_1)
PRODUCTS(q5_0, Q5_0)
PRODUCTS(q5_1, Q5_1)
PRODUCTS(q4_k, Q4_K)
PRODUCTS(q5_k, Q5_K)
PRODUCTS(q6_k, Q6_K)
