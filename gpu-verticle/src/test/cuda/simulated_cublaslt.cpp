// SIMULATED cuBLASLt: of NVIDIA's library of matrix products, the functions that this module calls,
// on the simulated device. It adds in an order of its own, which changes with the number of columns
// of the result, as the real one's may; it refuses what the real one would. Nothing of it says how
// fast the real one is, or which bits it gives.
//
// What the caller gives room for (descriptors of operations, matrices and ways to compute) begins
// with a mark, so that nothing is taken for another thing.
#include "simulated_driver.h"
#include <algorithm>
#include <cstring>
#include "simulated_numbers.h"

using namespace simulated;

namespace {

enum Status {
  OK = 0,
  NOT_INITIALISED = 1,
  ALLOCATION_FAILED = 3,
  INVALID = 7,
  EXECUTION_FAILED = 13,
  INTERNAL_ERROR = 14,
  UNSUPPORTED = 15,
};

constexpr int COMPUTE_FLOAT = 68, FLOAT = 0, BFLOAT16 = 14;  // types
constexpr int TRANS_A = 3, TRANS_B = 4, WORKSPACE_BYTES = 1;  // attributes
constexpr uint64_t TRANSPOSED = 1;
constexpr size_t WORKSPACE_NEEDED = 1 << 20;
constexpr size_t ALIGNMENT = 16;

enum Mark : uint64_t {
  OPERATION = 0xc0b1a501,
  MATRIX = 0xc0b1a502,
  PREFERENCE = 0xc0b1a503,
  ALGORITHM = 0xc0b1a504,
};

struct Descriptor {
  uint64_t mark, compute, scale, transA, transB;
};

struct Matrix {
  uint64_t mark, type, rows, columns;
  int64_t apart;  // elements from a column to the next

  size_t bytes() const {
    size_t elements = (size_t) apart * (columns - 1) + rows;
    return elements * (type == FLOAT ? sizeof(float) : sizeof(unsigned short));
  }
};

struct Preference {
  uint64_t mark, workspaceBytes;
};

struct Algorithm {
  uint64_t mark, parts, unused[6];
};

struct Heuristic {
  Algorithm algorithm;
  size_t workspaceBytes;
  int state;
  float waves;
  int reserved[4];
};

// Which function fails at its next call.
enum Function { NONE, CREATE, CHOOSE, MULTIPLY };

std::atomic<int> failing = NONE, failure = OK;
std::atomic<long> handles = 0, products = 0;

int due(Function function) {
  int expected = function;
  return failing.compare_exchange_strong(expected, NONE) ? failure.load() : OK;
}

bool isProduct(const Descriptor& operation, const Matrix& a, const Matrix& b, const Matrix& d) {
  return operation.mark == OPERATION && a.mark == MATRIX && b.mark == MATRIX && d.mark == MATRIX &&
         operation.transA == TRANSPOSED && operation.transB == 0 && a.type == BFLOAT16 &&
         b.type == BFLOAT16 && d.type == FLOAT && operation.compute == COMPUTE_FLOAT &&
         operation.scale == FLOAT && a.rows == b.rows && a.columns == d.rows &&
         b.columns == d.columns && a.apart >= (int64_t) a.rows && b.apart >= (int64_t) b.rows &&
         d.apart >= (int64_t) d.rows;
}

struct Product {
  const unsigned short* a;
  Matrix aLayout;
  const unsigned short* b;
  Matrix bLayout;
  float* d;
  Matrix dLayout;
  char* workspace;
  size_t parts;

  bool valid() const {
    return driver.memory.onDevice(a, aLayout.bytes()) && driver.memory.onDevice(b, bLayout.bytes())
           && driver.memory.onDevice(d, dLayout.bytes())
           && driver.memory.onDevice(workspace, WORKSPACE_NEEDED);
  }

  // The last number first, in as many sums as there are parts.
  float sum(size_t row, size_t column) const {
    float sums[8] = {};
    for (size_t i = aLayout.rows; i-- > 0;) {
      float weight = bf16_to_float(a[row * aLayout.apart + i]);
      sums[i % parts] += weight * bf16_to_float(b[column * bLayout.apart + i]);
    }
    float all = 0;
    for (size_t part = parts; part-- > 0;) all += sums[part];
    return all;
  }

  int run() const {
    if (!valid()) return ILLEGAL_ADDRESS;
    memset(workspace, 0xa5, WORKSPACE_NEEDED);  // whoever keeps something there loses it
    for (size_t column = 0; column < dLayout.columns; column++)
      for (size_t row = 0; row < dLayout.rows; row++)
        d[column * dLayout.apart + row] = sum(row, column);
    products++;
    return SUCCESS;
  }
};

bool aligned(const void* address) { return (uintptr_t) address % ALIGNMENT == 0; }

// What the driver says, as the library passes it on.
int statusOf(int result) {
  return result == SUCCESS ? OK : result == OUT_OF_MEMORY ? ALLOCATION_FAILED : EXECUTION_FAILED;
}

}  // namespace

EXPORT const char* cublasLtGetStatusName(int status) {
  switch (status) {
    case OK: return "CUBLAS_STATUS_SUCCESS";
    case NOT_INITIALISED: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case ALLOCATION_FAILED: return "CUBLAS_STATUS_ALLOC_FAILED";
    case INVALID: return "CUBLAS_STATUS_INVALID_VALUE";
    case EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case INTERNAL_ERROR: return "CUBLAS_STATUS_INTERNAL_ERROR";
    case UNSUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
    default: return "an unknown status";
  }
}

EXPORT int cublasLtCreate(void** handle) {
  if (int status = due(CREATE)) return status;
  return callContext(Call::ANY, [&](Context&) -> int {
    *handle = new long(++handles);
    return SUCCESS;
  }) == SUCCESS ? OK : NOT_INITIALISED;
}

EXPORT int cublasLtDestroy(void* handle) {
  if (handle == nullptr) return INVALID;
  delete (long*) handle;
  handles--;
  return OK;
}

EXPORT int cublasLtMatmulDescInit_internal(Descriptor* made, size_t size, int compute, int scale) {
  if (size < sizeof *made) return ALLOCATION_FAILED;
  *made = {OPERATION, (uint64_t) compute, (uint64_t) scale, 0, 0};
  return OK;
}

EXPORT int cublasLtMatmulDescSetAttribute(
    Descriptor* of, int attribute, const int* value, size_t size) {
  if (of->mark != OPERATION || size != sizeof *value) return INVALID;
  if (attribute != TRANS_A && attribute != TRANS_B) return UNSUPPORTED;
  (attribute == TRANS_A ? of->transA : of->transB) = (uint64_t) *value;
  return OK;
}

EXPORT int cublasLtMatrixLayoutInit_internal(
    Matrix* made, size_t size, int type, uint64_t rows, uint64_t columns, int64_t apart) {
  if (size < sizeof *made) return ALLOCATION_FAILED;
  if (rows == 0 || columns == 0) return INVALID;
  *made = {MATRIX, (uint64_t) type, rows, columns, apart};
  return OK;
}

EXPORT int cublasLtMatmulPreferenceInit_internal(Preference* made, size_t size) {
  if (size < sizeof *made) return ALLOCATION_FAILED;
  *made = {PREFERENCE, 0};
  return OK;
}

EXPORT int cublasLtMatmulPreferenceSetAttribute(
    Preference* of, int attribute, const size_t* value, size_t size) {
  if (of->mark != PREFERENCE || size != sizeof *value) return INVALID;
  if (attribute != WORKSPACE_BYTES) return UNSUPPORTED;
  of->workspaceBytes = *value;
  return OK;
}

EXPORT int cublasLtMatmulAlgoGetHeuristic(
    void* handle, const Descriptor* operation, const Matrix* a, const Matrix* b, const Matrix* c,
    const Matrix* d, const Preference* preference, int wanted, Heuristic* results, int* found) {
  *found = 0;
  if (int status = due(CHOOSE)) return status;
  if (handle == nullptr || preference->mark != PREFERENCE || wanted < 1) return INVALID;
  if (!isProduct(*operation, *a, *b, *d) || !isProduct(*operation, *a, *b, *c)) return UNSUPPORTED;
  if (preference->workspaceBytes < WORKSPACE_NEEDED) return UNSUPPORTED;
  uint64_t parts = d->columns > 64 ? 3 : 5;
  results[0] = {{ALGORITHM, parts, {}}, WORKSPACE_NEEDED, OK, 1, {}};
  *found = 1;
  return OK;
}

EXPORT int cublasLtMatmul(
    void* handle, const Descriptor* operation, const float* alpha, const void* a,
    const Matrix* aLayout, const void* b, const Matrix* bLayout, const float* beta, const void* c,
    const Matrix* cLayout, void* d, const Matrix* dLayout, const Algorithm* algorithm,
    void* workspace, size_t workspaceBytes, void* stream) {
  if (int status = due(MULTIPLY)) return status;
  if (handle == nullptr || algorithm->mark != ALGORITHM || *alpha != 1 || *beta != 0 || c != d)
    return INVALID;
  if (!isProduct(*operation, *aLayout, *bLayout, *dLayout) || cLayout->mark != MATRIX)
    return INVALID;
  if (!aligned(a) || !aligned(b) || !aligned(d) || !aligned(workspace) ||
      workspaceBytes < WORKSPACE_NEEDED)
    return INVALID;
  Product product{(const unsigned short*) a, *aLayout, (const unsigned short*) b, *bLayout,
                  (float*) d, *dLayout, (char*) workspace, algorithm->parts};
  return statusOf(callContext(Call::LAUNCH, [&](Context& context) -> int {
    std::shared_ptr<Stream> found = context.stream(stream);
    if (found == nullptr) return INVALID_HANDLE;
    driver.launches++;
    return context.add(found, [product] { return product.run(); });
  }));
}

// Lets the next call of a function fail with a status.
EXPORT void sim_fail_cublaslt(int function, int status) {
  failure = status;
  failing = function;
}

// Products that have been computed since the last time that somebody asked.
EXPORT long sim_cublaslt_products() { return products.exchange(0); }

// Handles that have not been given back.
EXPORT long sim_cublaslt_handles() { return handles; }
