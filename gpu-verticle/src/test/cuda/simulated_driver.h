// What the calls of the simulated driver work on. One lock guards all of it; kernels run under it,
// too, on all processors.
#pragma once
#include "simulated_threads.h"
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include "simulated_memory.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace simulated {

constexpr int DEVICES_MAX = 8;
constexpr int ANY_DEVICE = -1;
constexpr size_t MEMORY_DEFAULT = 8ull << 30;  // of a device

// Result of an operation that waits for another device's stream; it stands first in its own still.
constexpr int BLOCKED = -1;

// What a stream does, later; its result.
using Task = std::function<int()>;
using Tasks = std::vector<Task>;

// Things that the host knows by handles, in the order of their making. No handle is used again.
template <class Thing>
class Handles {
 public:
  void* add(std::shared_ptr<Thing> thing) {
    static uintptr_t last = 0x1000;
    all[++last] = std::move(thing);
    return (void*) last;
  }

  // Null: there is no such one.
  std::shared_ptr<Thing> find(void* handle) const {
    auto found = all.find((uintptr_t) handle);
    return found == all.end() ? nullptr : found->second;
  }

  bool remove(void* handle) { return all.erase((uintptr_t) handle) != 0; }

  void clear() { all.clear(); }
  auto begin() const { return all.begin(); }
  auto end() const { return all.end(); }

 private:
  std::map<uintptr_t, std::shared_ptr<Thing>> all;
};

struct Context;
struct Stream;

enum CaptureMode { GLOBAL = 0, THREAD_LOCAL = 1, RELAXED = 2 };

// Tasks that are noted, not done.
struct Capture {
  Tasks tasks;
  CaptureMode mode;
  std::thread::id thread;
  Stream* origin;
  bool valid = true;
};

// Tasks wait until somebody waits for them, so that whoever forgets to wait gets caught.
struct Stream {
  Context* context;
  bool blocking;  // it and the default stream wait for each other
  std::deque<Task> queue;
  uint64_t added = 0;
  uint64_t done = 0;
  std::shared_ptr<Capture> capture;
};

// The point in a stream at which an event was recorded last.
struct Moment {
  std::shared_ptr<Stream> stream;
  uint64_t number;
  std::chrono::steady_clock::time_point time;
  std::shared_ptr<Capture> capture;

  bool passed() const { return stream->done >= number; }
};

struct Event {
  bool timed;
  std::shared_ptr<Moment> moment;  // null: never recorded
};

struct Graph {
  std::shared_ptr<const Tasks> tasks;
};

struct Module {
  bool loaded = true;
};

struct Function {
  const Kernel* kernel;
  std::shared_ptr<Module> module;
  int dynamicSharedMax;
};

// The primary context of a device.
struct Context {
  int device;
  int references = 0;
  int error = SUCCESS;  // sticks until the context is made anew
  std::shared_ptr<Stream> defaultStream;
  Handles<Stream> streams;
  Handles<Event> events;
  Handles<Graph> graphs;
  Handles<const Tasks> runnableGraphs;
  Handles<Module> modules;
  Handles<Function> functions;

  // Forgets everything that it has, and its error; memory is the driver's.
  void reset();

  // The stream of a handle; null: there is no such one.
  std::shared_ptr<Stream> stream(void* handle);

  // Puts an operation at the end of a stream, or into what it captures.
  int add(const std::shared_ptr<Stream>& stream, Task task);

  // Does everything that has been put into any stream.
  int finish();

  // Forbids what must not be while a stream captures, and ends the capture.
  int refuseWhileCapturing();

  void fail(int result);
};

// Does what is in a stream up to a number of operations. May stop because of a BLOCKED one.
int run(Stream& stream, uint64_t until);

// The same to the end, whatever other devices' streams it waits for: for calls that are not within
// others, since they do not keep the lock meanwhile.
int runToEnd(const std::shared_ptr<Stream>& stream);

// Which calls an injected fault may hit.
enum class Call { ANY, LAUNCH, ALLOCATION, CLEANUP };

// A call that is to fail, once.
struct Fault {
  std::atomic<int> result = SUCCESS;     // SUCCESS: none
  std::atomic<int> device = ANY_DEVICE;  // whose calls may fail
  std::atomic<int64_t> after = 0;        // 1 is the next such call
};

// What tests ask for. SimulatedControl.java writes the same into a file that another process maps.
struct Control {
  std::atomic<size_t> memoryLimit = MEMORY_DEFAULT;  // of each device
  std::atomic<int64_t> devices = 1;
  Fault faults[4];                                   // one after the other
};

// The file that FIRSTLIGHT_SIM_CONTROL names, mapped; where it names none, this process's own.
Control& findControl();

struct Driver {
  std::recursive_mutex lock;
  std::condition_variable_any changed;  // something that was BLOCKED may go on
  bool initialised = false;
  Memory memory;
  Context contexts[DEVICES_MAX];
  Control& control = findControl();
  long launches = 0, allocations = 0, synchronizations = 0;

  Driver();

  // The fault that is due at this call for a device.
  int inject(Call call, int device);

  // As if nobody had used the device.
  void reset(Context& context);
};

extern Driver& driver;

Context* currentContext();
void setCurrentContext(Context* context);

// Does a call that needs no context; it may be for a device all the same.
template <class Body>
int callDriver(Call call, Body body, int device = ANY_DEVICE) {
  std::lock_guard<std::recursive_mutex> guard(driver.lock);
  if (!driver.initialised) return NOT_INITIALIZED;
  int fault = call == Call::CLEANUP ? SUCCESS : driver.inject(call, device);
  return fault != SUCCESS ? fault : body();
}

// Does a call in the thread's context. What only cleans up is done even if the context is lost.
template <class Body>
int callContext(Call call, Body body) {
  std::lock_guard<std::recursive_mutex> guard(driver.lock);
  if (!driver.initialised) return NOT_INITIALIZED;
  Context* context = currentContext();
  if (context == nullptr || context->references == 0) return INVALID_CONTEXT;
  if (call == Call::CLEANUP) return body(*context);
  if (context->error != SUCCESS) return context->error;
  int fault = driver.inject(call, context->device);
  if (fault != SUCCESS && fault != OUT_OF_MEMORY) context->fail(fault);
  return fault != SUCCESS ? fault : body(*context);
}

}  // namespace simulated
