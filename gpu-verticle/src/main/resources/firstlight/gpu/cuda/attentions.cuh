// The attention of attention.cuh for each size of heads.
#pragma once
#include "attention.cuh"

KERNEL __launch_bounds__(128, 2) attend_32(Attend a) { attend<1, false>(a); }
KERNEL __launch_bounds__(128, 2) attend_split_32(Attend a) { attend<1, true>(a); }
KERNEL __launch_bounds__(128) fold_splits_32(Attend a) { fold_splits<1>(a); }

KERNEL __launch_bounds__(128, 2) attend_64(Attend a) { attend<2, false>(a); }
KERNEL __launch_bounds__(128, 2) attend_split_64(Attend a) { attend<2, true>(a); }
KERNEL __launch_bounds__(128) fold_splits_64(Attend a) { fold_splits<2>(a); }

KERNEL __launch_bounds__(128, 2) attend_96(Attend a) { attend<3, false>(a); }
KERNEL __launch_bounds__(128, 2) attend_split_96(Attend a) { attend<3, true>(a); }
KERNEL __launch_bounds__(128) fold_splits_96(Attend a) { fold_splits<3>(a); }

KERNEL __launch_bounds__(128, 2) attend_128(Attend a) { attend<4, false>(a); }
KERNEL __launch_bounds__(128, 2) attend_split_128(Attend a) { attend<4, true>(a); }
KERNEL __launch_bounds__(128) fold_splits_128(Attend a) { fold_splits<4>(a); }

KERNEL __launch_bounds__(128, 2) attend_256(Attend a) { attend<8, false>(a); }
KERNEL __launch_bounds__(128, 2) attend_split_256(Attend a) { attend<8, true>(a); }
KERNEL __launch_bounds__(128) fold_splits_256(Attend a) { fold_splits<8>(a); }
