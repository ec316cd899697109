// The attention of attention.cuh for each size of heads: so many chunks of 32.
#pragma once
#include "attention.cuh"

#define ATTENTION(size, chunks)                                                                    \
  KERNEL __launch_bounds__(128, 2) attend_##size(Attend a) { attend<chunks, false>(a); }           \
  KERNEL __launch_bounds__(128, 2) attend_split_##size(Attend a) { attend<chunks, true>(a); }      \
  KERNEL __launch_bounds__(128) fold_splits_##size(Attend a) { fold_splits<chunks>(a); }

ATTENTION(32, 1)
ATTENTION(64, 2)
ATTENTION(96, 3)
ATTENTION(128, 4)
ATTENTION(256, 8)
