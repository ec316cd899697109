// All kernels of the cuda device: one program, one image.
#include "activate.cuh"
#include "attentions.cuh"
#include "measure.cuh"
#include "norm.cuh"
#include "products.cuh"
#include "sample.cuh"
