// Driver calls: devices, contexts, modules and memory.
#include "simulated_driver.h"
#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace simulated;

namespace {

constexpr int DRIVER_VERSION = 13000;
constexpr int SHARED_BYTES = 49152;
constexpr int SHARED_BYTES_OPTIONAL = 232448;
constexpr int DYNAMIC_SHARED = 8;  // function attribute

// Attributes of an H200; those that are not named are 0.
struct Attribute {
  int attribute;
  int value;
};

constexpr Attribute H200[] = {
    {1, 1024},                     // threads of a block
    {2, 1024}, {3, 1024}, {4, 64},  // its dimensions
    {5, 2147483647}, {6, 65535}, {7, 65535},  // a grid's
    {8, SHARED_BYTES}, {9, 65536},  // shared memory of a block, constant memory
    {10, 32},                      // lanes of a warp
    {11, 2147483647}, {12, 65536},  // pitch, registers of a block
    {13, 1980000},                 // kHz
    {14, 512}, {15, 1},            // alignment of textures, copies beside kernels
    {16, 132},                     // multiprocessors
    {19, 1}, {31, 1}, {32, 1},     // maps memory of the host, runs kernels side by side, has ECC
    {36, 3201000}, {37, 6144},     // memory: kHz, bits
    {38, 62914560},                // level 2 cache
    {39, 2048}, {40, 3}, {41, 1},  // threads of a multiprocessor, copy engines, one address space
    {75, 9}, {76, 0},              // compute capability
    {78, 1}, {81, 233472}, {82, 65536},  // priorities; shared memory and registers in all
    {83, 1}, {95, 1},              // managed memory, cooperative launches
    {97, SHARED_BYTES_OPTIONAL},   // shared memory of a block that asks for it
    {106, 32}, {111, 1024},        // blocks of a multiprocessor, reserved shared memory
};

struct Error {
  int result;
  const char* name;
  const char* text;
};

constexpr Error ERRORS[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM", "OS call failed or operation not supported on this OS"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {401, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "capture was not ended in the same stream as it began"},
    {907, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const Error* errorOf(int result) {
  for (const Error& error : ERRORS)
    if (error.result == result) return &error;
  return nullptr;
}

bool exists(int device) { return device >= 0 && device < driver.control.devices; }

// Does something with a device, if there is one.
template <class Body>
int callDevice(Call call, int device, Body body) {
  return callDriver(
      call,
      [&]() -> int { return exists(device) ? body(driver.contexts[device]) : INVALID_DEVICE; },
      device);
}

template <class Value>
int store(Value* where, Value value) {
  if (where == nullptr) return INVALID_VALUE;
  *where = value;
  return SUCCESS;
}

}  // namespace

EXPORT int cuGetErrorName(int result, const char** name) {
  const Error* error = errorOf(result);
  *name = error == nullptr ? nullptr : error->name;
  return error == nullptr ? INVALID_VALUE : SUCCESS;
}

EXPORT int cuGetErrorString(int result, const char** text) {
  const Error* error = errorOf(result);
  *text = error == nullptr ? nullptr : error->text;
  return error == nullptr ? INVALID_VALUE : SUCCESS;
}

EXPORT int cuInit(unsigned flags) {
  std::lock_guard<std::recursive_mutex> guard(driver.lock);
  int fault = driver.inject(Call::ANY, ANY_DEVICE);
  if (fault != SUCCESS) return fault;
  if (flags != 0) return INVALID_VALUE;
  if (driver.control.devices == 0) return NO_DEVICE;
  driver.initialised = true;
  return SUCCESS;
}

EXPORT int cuDriverGetVersion(int* version) { return store(version, DRIVER_VERSION); }

EXPORT int cuDeviceGetCount(int* count) {
  return callDriver(Call::ANY, [&] { return store(count, (int) driver.control.devices); });
}

EXPORT int cuDeviceGet(int* device, int ordinal) {
  return callDevice(Call::ANY, ordinal, [&](Context&) { return store(device, ordinal); });
}

EXPORT int cuDeviceGetName(char* name, int length, int device) {
  return callDevice(Call::ANY, device, [&](Context&) -> int {
    if (name == nullptr || length <= 0) return INVALID_VALUE;
    snprintf(name, (size_t) length, "SIMULATED (CPU)");
    return SUCCESS;
  });
}

EXPORT int cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
  return callDevice(Call::ANY, device, [&](Context&) -> int {
    memcpy(uuid, "simulated device", 16);
    uuid[15] = (unsigned char) ('0' + device);
    return SUCCESS;
  });
}

EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device) {
  return callDevice(Call::ANY, device, [&](Context&) {
    auto known = std::find_if(std::begin(H200), std::end(H200),
                              [&](Attribute each) { return each.attribute == attribute; });
    return store(value, known == std::end(H200) ? 0 : known->value);
  });
}

EXPORT int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  return callDevice(Call::ANY, device, [&](Context&) {
    return store(bytes, driver.control.memoryLimit.load());
  });
}

EXPORT int cuDevicePrimaryCtxRetain(void** context, int device) {
  return callDevice(Call::ANY, device, [&](Context& primary) {
    primary.references++;
    return store(context, (void*) &primary);
  });
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
  return callDevice(Call::CLEANUP, device, [&](Context& primary) -> int {
    if (primary.references == 0) return INVALID_CONTEXT;
    if (--primary.references == 0) driver.reset(primary);
    return SUCCESS;
  });
}

EXPORT int cuDevicePrimaryCtxReset_v2(int device) {
  return callDevice(Call::CLEANUP, device, [&](Context& primary) -> int {
    driver.reset(primary);
    return SUCCESS;
  });
}

EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  return callDevice(Call::ANY, device, [&](Context& primary) {
    int stored = store(flags, 0u);
    return stored != SUCCESS ? stored : store(active, (int) (primary.references > 0));
  });
}

EXPORT int cuCtxSetCurrent(void* context) {
  return callDriver(Call::CLEANUP, [&]() -> int {
    setCurrentContext((Context*) context);
    return SUCCESS;
  });
}

EXPORT int cuCtxGetCurrent(void** context) {
  return callDriver(Call::ANY, [&] { return store(context, (void*) currentContext()); });
}

EXPORT int cuCtxGetDevice(int* device) {
  return callContext(Call::ANY, [&](Context& context) { return store(device, context.device); });
}

EXPORT int cuCtxSynchronize() {
  return callContext(Call::ANY, [&](Context& context) {
    int refused = context.refuseWhileCapturing();
    if (refused != SUCCESS) return refused;
    driver.synchronizations++;
    return context.finish();
  });
}

EXPORT int cuModuleLoadData(void** module, const void* image) {
  return callContext(Call::ANY, [&](Context& context) -> int {
    if (module == nullptr || image == nullptr) return INVALID_VALUE;
    if (memcmp(image, "\177ELF", 4) != 0) return INVALID_IMAGE;
    *module = context.modules.add(std::make_shared<Module>());
    return SUCCESS;
  });
}

EXPORT int cuModuleUnload(void* module) {
  return callContext(Call::CLEANUP, [&](Context& context) -> int {
    std::shared_ptr<Module> found = context.modules.find(module);
    if (found == nullptr) return INVALID_HANDLE;
    found->loaded = false;
    context.modules.remove(module);
    return SUCCESS;
  });
}

EXPORT int cuModuleGetFunction(void** function, void* handle, const char* name) {
  return callContext(Call::ANY, [&](Context& context) -> int {
    std::shared_ptr<Module> module = context.modules.find(handle);
    if (module == nullptr) return INVALID_HANDLE;
    const Kernel* kernel = findKernel(name);
    if (kernel == nullptr) return NOT_FOUND;
    *function = context.functions.add(
        std::make_shared<Function>(Function{kernel, module, SHARED_BYTES}));
    return SUCCESS;
  });
}

EXPORT int cuFuncSetAttribute(void* handle, int attribute, int value) {
  return callContext(Call::ANY, [&](Context& context) -> int {
    std::shared_ptr<Function> function = context.functions.find(handle);
    if (function == nullptr) return INVALID_HANDLE;
    if (attribute != DYNAMIC_SHARED) return SUCCESS;
    int most = SHARED_BYTES_OPTIONAL - (int) sharedBytes(*function->kernel);
    if (value < 0 || value > most) return INVALID_VALUE;
    function->dynamicSharedMax = value;
    return SUCCESS;
  });
}

EXPORT int cuFuncGetAttribute(int* value, int attribute, void* handle) {
  return callContext(Call::ANY, [&](Context& context) -> int {
    std::shared_ptr<Function> function = context.functions.find(handle);
    if (function == nullptr) return INVALID_HANDLE;
    switch (attribute) {
      case 0: return store(value, 1024);                                       // threads of a block
      case 1: return store(value, (int) sharedBytes(*function->kernel));
      case 4: return store(value, 64);                                         // registers
      case 5: case 6: return store(value, 90);                                 // versions
      case DYNAMIC_SHARED: return store(value, function->dynamicSharedMax);
      default: return store(value, 0);
    }
  });
}

EXPORT int cuMemGetInfo_v2(size_t* free, size_t* total) {
  return callContext(Call::ANY, [&](Context& context) {
    size_t live = driver.memory.liveBytes(context.device);
    size_t limit = driver.control.memoryLimit;
    *free = live < limit ? limit - live : 0;
    return store(total, limit);
  });
}

EXPORT int cuMemAlloc_v2(char** data, size_t bytes) {
  return callContext(Call::ALLOCATION, [&](Context& context) -> int {
    int refused = context.refuseWhileCapturing();
    if (refused != SUCCESS) return refused;
    if (data == nullptr || bytes == 0) return INVALID_VALUE;
    size_t live = driver.memory.liveBytes(context.device);
    size_t limit = driver.control.memoryLimit;
    if (live > limit || bytes > limit - live) return OUT_OF_MEMORY;
    *data = driver.memory.allocate(bytes, context.device, false);
    if (*data == nullptr) return OUT_OF_MEMORY;
    driver.allocations++;
    return SUCCESS;
  });
}

EXPORT int cuMemFree_v2(char* data) {
  return callContext(Call::ANY, [&](Context& context) -> int {
    int refused = context.refuseWhileCapturing();
    if (refused != SUCCESS || data == nullptr) return refused;
    int finished = context.finish();
    if (finished != SUCCESS) return finished;
    return driver.memory.release(data, false) ? SUCCESS : INVALID_VALUE;
  });
}

EXPORT int cuMemHostAlloc(void** data, size_t bytes, unsigned) {
  return callContext(Call::ALLOCATION, [&](Context& context) -> int {
    if (data == nullptr || bytes == 0) return INVALID_VALUE;
    *data = driver.memory.allocate(bytes, context.device, true);
    return *data == nullptr ? OUT_OF_MEMORY : SUCCESS;
  });
}

EXPORT int cuMemAllocHost_v2(void** data, size_t bytes) { return cuMemHostAlloc(data, bytes, 0); }

EXPORT int cuMemFreeHost(void* data) {
  return callContext(Call::ANY, [&](Context& context) -> int {
    int finished = context.finish();
    if (finished != SUCCESS) return finished;
    return driver.memory.release(data, true) ? SUCCESS : INVALID_VALUE;
  });
}
