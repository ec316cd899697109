// How tests arrange what the simulated devices do, and see what was asked of them.
#include "simulated_driver.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace simulated;

namespace {

constexpr const char* CONTROL_VARIABLE = "FIRSTLIGHT_SIM_CONTROL";

template <class Body>
auto locked(Body body) {
  std::lock_guard<std::recursive_mutex> guard(driver.lock);
  return body();
}

}  // namespace

Control& simulated::findControl() {
  const char* path = getenv(CONTROL_VARIABLE);
  if (path == nullptr) return *new Control;
  int file = open(path, O_RDWR | O_CLOEXEC);
  void* mapped = mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) return *(Control*) mapped;
  perror(path);
  abort();
}

// Another legal order of lanes, warps and blocks for every seed, whatever the number of processors;
// 0: the natural order.
EXPORT void sim_set_order(unsigned seed) { orderSeed = seed; }

// On how many threads of the host kernels run at most; 0: one for each processor.
EXPORT void sim_set_threads(unsigned threads) { threadLimit = threads; }

EXPORT void sim_set_devices(int devices) {
  driver.control.devices = std::clamp(devices, 0, DEVICES_MAX);
}

// Bytes of each device.
EXPORT void sim_set_memory(size_t bytes) {
  driver.control.memoryLimit = bytes;
}

// Lets a call fail, the next one or one after it, once: 700, 719 and 999 a launch, 2 an allocation,
// others any. All but 2 stick to the context. 0: none.
EXPORT void sim_inject(int result, long after) {
  locked([&] {
    driver.control.faults[0].after = after;
    driver.control.faults[0].device = ANY_DEVICE;
    driver.control.faults[0].result = result;
  });
}

// Kernels and graphs that the host has launched.
EXPORT long sim_launches() {
  return locked([] { return driver.launches; });
}

// Allocations on devices, also those that have been freed.
EXPORT long sim_allocations() {
  return locked([] { return driver.allocations; });
}

// Calls with which the host waited, synchronous copies among them.
EXPORT long sim_synchronizations() {
  return locked([] { return driver.synchronizations; });
}

// Bytes allocated now on a device; -1: on all.
EXPORT long sim_live_bytes(int wanted) {
  return locked([wanted] {
    size_t sum = 0;
    for (int device = 0; device < DEVICES_MAX; device++)
      if (wanted < 0 || wanted == device) sum += driver.memory.liveBytes(device);
    return (long) sum;
  });
}

// Everything as it was in the beginning, but for memory and what else somebody holds.
EXPORT void sim_reset() {
  locked([] {
    orderSeed = 0;
    threadLimit = 0;
    for (Fault& fault : driver.control.faults) fault.result = SUCCESS;
    driver.control.devices = 1;
    driver.control.memoryLimit = MEMORY_DEFAULT;
    driver.launches = driver.allocations = driver.synchronizations = 0;
    for (Context& context : driver.contexts)
      if (context.error != SUCCESS) context.fail(SUCCESS);
  });
}
