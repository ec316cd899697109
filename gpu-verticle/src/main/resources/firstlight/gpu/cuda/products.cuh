// The products of product.cuh for each type of weights: for up to 8 tokens, up to 32, and more.
#pragma once
#include "product.cuh"

KERNEL __launch_bounds__(256, 2) multiply8_bf16(Product p) { multiply_narrow<Bf16, 1>(p); }
KERNEL __launch_bounds__(256, 2) multiply32_bf16(Product p) { multiply_narrow<Bf16, 4>(p); }
KERNEL __launch_bounds__(128, 2) multiply64_bf16(Product p) { multiply_wide<Bf16>(p); }

KERNEL __launch_bounds__(256, 2) multiply8_fp8(Product p) { multiply_narrow<Fp8, 1>(p); }
KERNEL __launch_bounds__(256, 2) multiply32_fp8(Product p) { multiply_narrow<Fp8, 4>(p); }
KERNEL __launch_bounds__(128, 2) multiply64_fp8(Product p) { multiply_wide<Fp8>(p); }

KERNEL __launch_bounds__(256, 2) multiply8_q8_0(Product p) { multiply_narrow<Q8_0, 1>(p); }
KERNEL __launch_bounds__(256, 2) multiply32_q8_0(Product p) { multiply_narrow<Q8_0, 4>(p); }
KERNEL __launch_bounds__(128, 2) multiply64_q8_0(Product p) { multiply_wide<Q8_0>(p); }

KERNEL __launch_bounds__(256, 2) multiply8_q4_0(Product p) { multiply_narrow<Q4_0, 1>(p); }
KERNEL __launch_bounds__(256, 2) multiply32_q4_0(Product p) { multiply_narrow<Q4_0, 4>(p); }
KERNEL __launch_bounds__(128, 2) multiply64_q4_0(Product p) { multiply_wide<Q4_0>(p); }

KERNEL __launch_bounds__(256, 2) multiply8_q4_1(Product p) { multiply_narrow<Q4_1, 1>(p); }
KERNEL __launch_bounds__(256, 2) multiply32_q4_1(Product p) { multiply_narrow<Q4_1, 4>(p); }
KERNEL __launch_bounds__(128, 2) multiply64_q4_1(Product p) { multiply_wide<Q4_1>(p); }

KERNEL __launch_bounds__(256, 2) multiply8_q5_0(Product p) { multiply_narrow<Q5_0, 1>(p); }
KERNEL __launch_bounds__(256, 2) multiply32_q5_0(Product p) { multiply_narrow<Q5_0, 4>(p); }
KERNEL __launch_bounds__(128, 2) multiply64_q5_0(Product p) { multiply_wide<Q5_0>(p); }

KERNEL __launch_bounds__(256, 2) multiply8_q5_1(Product p) { multiply_narrow<Q5_1, 1>(p); }
KERNEL __launch_bounds__(256, 2) multiply32_q5_1(Product p) { multiply_narrow<Q5_1, 4>(p); }
KERNEL __launch_bounds__(128, 2) multiply64_q5_1(Product p) { multiply_wide<Q5_1>(p); }

KERNEL __launch_bounds__(256, 2) multiply8_q4_k(Product p) { multiply_narrow<Q4_K, 1>(p); }
KERNEL __launch_bounds__(256, 2) multiply32_q4_k(Product p) { multiply_narrow<Q4_K, 4>(p); }
KERNEL __launch_bounds__(128, 2) multiply64_q4_k(Product p) { multiply_wide<Q4_K>(p); }

KERNEL __launch_bounds__(256, 2) multiply8_q5_k(Product p) { multiply_narrow<Q5_K, 1>(p); }
KERNEL __launch_bounds__(256, 2) multiply32_q5_k(Product p) { multiply_narrow<Q5_K, 4>(p); }
KERNEL __launch_bounds__(128, 2) multiply64_q5_k(Product p) { multiply_wide<Q5_K>(p); }

KERNEL __launch_bounds__(256, 2) multiply8_q6_k(Product p) { multiply_narrow<Q6_K, 1>(p); }
KERNEL __launch_bounds__(256, 2) multiply32_q6_k(Product p) { multiply_narrow<Q6_K, 4>(p); }
KERNEL __launch_bounds__(128, 2) multiply64_q6_k(Product p) { multiply_wide<Q6_K>(p); }
