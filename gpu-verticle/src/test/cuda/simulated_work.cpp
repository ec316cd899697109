// Driver calls: what is done on a device, in streams: launches, copies, events and graphs. And the
// functions with which tests arrange what the device does.
#include "simulated_driver.h"
#include <algorithm>
#include <cstring>

using namespace simulated;

namespace {

constexpr int LANES_MAX = 1024;
constexpr unsigned GRID_MAX = 65535;  // of y and z
constexpr size_t SHARED_MAX = 49152;
constexpr unsigned NON_BLOCKING = 1;   // flag of streams
constexpr unsigned NOT_TIMED = 2;      // flag of events

// Does something with a stream of the thread's context, if there is one.
template <class Body>
int callStream(Call call, void* handle, Body body) {
  return callContext(call, [&](Context& context) -> int {
    std::shared_ptr<Stream> stream = context.stream(handle);
    return stream == nullptr ? INVALID_HANDLE : body(context, stream);
  });
}

template <class Body>
int callEvent(Call call, void* handle, Body body) {
  return callContext(call, [&](Context& context) -> int {
    std::shared_ptr<Event> event = context.events.find(handle);
    return event == nullptr ? INVALID_HANDLE : body(context, event);
  });
}

// A copy of what a kernel is launched with.
std::vector<unsigned char> copyOf(const Kernel& kernel, void** parameters) {
  std::vector<unsigned char> copies;
  for (size_t size : kernel.parameterSizes) {
    size_t at = copies.size();
    copies.resize(at + (size + PARAMETER_ALIGNMENT - 1) / PARAMETER_ALIGNMENT *
                           PARAMETER_ALIGNMENT);
    memcpy(copies.data() + at, *parameters++, size);
  }
  return copies;
}

bool canLaunch(const Function& function, Index grid, Index block, size_t dynamicShared) {
  uint64_t lanes = (uint64_t) block.x * block.y * block.z;
  return grid.x != 0 && grid.y != 0 && grid.z != 0 && grid.x < 1u << 31 && grid.y <= GRID_MAX &&
         grid.z <= GRID_MAX && lanes != 0 && lanes <= LANES_MAX && block.z <= 64 &&
         sharedBytes(*function.kernel) <= SHARED_MAX &&
         dynamicShared <= (size_t) function.dynamicSharedMax;
}

bool onDevice(const void* data, size_t bytes) {
  return bytes == 0 || driver.memory.onDevice(data, bytes);
}

bool onHost(const void* data, size_t bytes) {
  return bytes == 0 || driver.memory.onHost(data, bytes);
}

bool pinned(const void* data) { return driver.memory.find(data) != nullptr; }

// A copy, and where its ends must lie.
struct Copy {
  void* to;
  const void* from;
  size_t bytes;
  bool (*reachesTo)(const void*, size_t);
  bool (*reachesFrom)(const void*, size_t);

  bool valid() const { return reachesTo(to, bytes) && reachesFrom(from, bytes); }
  void run() const { memcpy(to, from, bytes); }
};

template <class Value>
struct Fill {
  Value* to;
  Value value;
  size_t count;

  bool valid() const { return onDevice(to, count * sizeof(Value)); }
  void run() const { std::fill_n(to, count, value); }
};

// Synchronous work waits for everything before it.
template <class Work>
int doNow(const Work& work) {
  return callContext(Call::ANY, [&](Context& context) -> int {
    int refused = context.refuseWhileCapturing();
    if (refused != SUCCESS) return refused;
    driver.synchronizations++;
    int finished = context.finish();
    if (finished != SUCCESS) return finished;
    if (!work.valid()) return INVALID_VALUE;
    work.run();
    return SUCCESS;
  });
}

// Whether memory is there is known when it is touched.
template <class Work>
Task later(Work work) {
  return [work]() -> int {
    if (!work.valid()) return ILLEGAL_ADDRESS;
    work.run();
    return SUCCESS;
  };
}

template <class Work>
int doLater(const Work& work, void* stream) {
  return callStream(Call::ANY, stream, [&](Context& context, auto& found) {
    return context.add(found, later(work));
  });
}

}  // namespace

EXPORT int cuLaunchKernel(void* handle, unsigned gridX, unsigned gridY, unsigned gridZ,
                          unsigned blockX, unsigned blockY, unsigned blockZ,
                          unsigned dynamicShared, void* stream, void** parameters, void** extra) {
  return callStream(Call::LAUNCH, stream, [&](Context& context, auto& found) -> int {
    std::shared_ptr<Function> function = context.functions.find(handle);
    if (function == nullptr || !function->module->loaded) return INVALID_HANDLE;
    const Kernel& kernel = *function->kernel;
    Index grid{gridX, gridY, gridZ};
    Index block{blockX, blockY, blockZ};
    if (!canLaunch(*function, grid, block, dynamicShared)) return INVALID_VALUE;
    if (parameters == nullptr && !kernel.parameterSizes.empty())
      return extra == nullptr ? INVALID_VALUE : NOT_SUPPORTED;
    driver.launches++;
    Launch launch{&kernel, grid, block, copyOf(kernel, parameters)};
    return context.add(found, [launch] { return runGrid(launch); });
  });
}

EXPORT int cuMemcpyHtoD_v2(void* to, const void* from, size_t bytes) {
  return doNow(Copy{to, from, bytes, onDevice, onHost});
}

EXPORT int cuMemcpyDtoH_v2(void* to, const void* from, size_t bytes) {
  return doNow(Copy{to, from, bytes, onHost, onDevice});
}

EXPORT int cuMemcpyDtoD_v2(void* to, const void* from, size_t bytes) {
  return doNow(Copy{to, from, bytes, onDevice, onDevice});
}

// As on a device, memory that is not pinned has been read when the call returns.
EXPORT int cuMemcpyHtoDAsync_v2(void* to, const void* from, size_t bytes, void* stream) {
  return callStream(Call::ANY, stream, [&](Context& context, auto& found) -> int {
    Copy copy{to, from, bytes, onDevice, onHost};
    if (pinned(from) || found->capture != nullptr) return context.add(found, later(copy));
    if (!onHost(from, bytes)) return INVALID_VALUE;
    std::vector<char> read((const char*) from, (const char*) from + bytes);
    return context.add(found, [copy, read = std::move(read)]() mutable -> int {
      copy.from = read.data();
      return later(copy)();
    });
  });
}

// And memory that is not pinned has been written.
EXPORT int cuMemcpyDtoHAsync_v2(void* to, const void* from, size_t bytes, void* stream) {
  return callStream(Call::ANY, stream, [&](Context& context, auto& found) -> int {
    int added = context.add(found, later(Copy{to, from, bytes, onHost, onDevice}));
    if (added != SUCCESS || found->capture != nullptr || pinned(to)) return added;
    return run(*found, found->added);
  });
}

EXPORT int cuMemcpyDtoDAsync_v2(void* to, const void* from, size_t bytes, void* stream) {
  return doLater(Copy{to, from, bytes, onDevice, onDevice}, stream);
}

EXPORT int cuMemsetD8_v2(char* to, unsigned char value, size_t count) {
  return doNow(Fill<char>{to, (char) value, count});
}

EXPORT int cuMemsetD8Async(char* to, unsigned char value, size_t count, void* stream) {
  return doLater(Fill<char>{to, (char) value, count}, stream);
}

EXPORT int cuMemsetD32Async(unsigned* to, unsigned value, size_t count, void* stream) {
  return doLater(Fill<unsigned>{to, value, count}, stream);
}

EXPORT int cuStreamCreate(void** stream, unsigned flags) {
  return callContext(Call::ANY, [&](Context& context) -> int {
    bool blocking = !(flags & NON_BLOCKING);
    *stream = context.streams.add(
        std::make_shared<Stream>(Stream{&context, blocking, {}, 0, 0, nullptr}));
    return SUCCESS;
  });
}

EXPORT int cuStreamCreateWithPriority(void** stream, unsigned flags, int) {
  return cuStreamCreate(stream, flags);
}

EXPORT int cuStreamDestroy_v2(void* stream) {
  return callStream(Call::CLEANUP, stream, [&](Context& context, auto& found) -> int {
    if (context.error == SUCCESS) run(*found, found->added);
    return context.streams.remove(stream) ? SUCCESS : INVALID_HANDLE;
  });
}

EXPORT int cuStreamSynchronize(void* stream) {
  return callStream(Call::ANY, stream, [&](Context& context, auto& found) -> int {
    if (found->capture != nullptr) {
      found->capture->valid = false;
      return CAPTURE_UNSUPPORTED;
    }
    driver.synchronizations++;
    return found == context.defaultStream ? context.finish() : runToEnd(found);
  });
}

// Whoever asks again and again gets to the end, one operation at a time.
EXPORT int cuStreamQuery(void* stream) {
  return callStream(Call::ANY, stream, [&](Context&, auto& found) -> int {
    if (found->capture != nullptr) return CAPTURE_UNSUPPORTED;
    if (found->queue.empty()) return SUCCESS;
    int result = run(*found, found->done + 1);
    return result != SUCCESS ? result : NOT_READY;
  });
}

EXPORT int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  return callStream(Call::ANY, stream, [&](Context& context, auto& found) -> int {
    std::shared_ptr<Event> awaited;
    for (Context& each : driver.contexts)
      if (awaited == nullptr) awaited = each.events.find(event);
    if (awaited == nullptr) return INVALID_HANDLE;
    std::shared_ptr<Moment> moment = awaited->moment;
    if (moment == nullptr) return SUCCESS;
    if (moment->capture != nullptr) {
      // Tasks of a capture are in an order that is right for all streams that join it.
      if (!moment->capture->valid) return CAPTURE_INVALIDATED;
      found->capture = moment->capture;
      return SUCCESS;
    }
    return context.add(found, [moment] { return run(*moment->stream, moment->number); });
  });
}

EXPORT int cuEventCreate(void** event, unsigned flags) {
  return callContext(Call::ANY, [&](Context& context) -> int {
    *event = context.events.add(std::make_shared<Event>(Event{!(flags & NOT_TIMED), nullptr}));
    return SUCCESS;
  });
}

EXPORT int cuEventDestroy_v2(void* event) {
  return callContext(Call::CLEANUP, [&](Context& context) -> int {
    return context.events.remove(event) ? SUCCESS : INVALID_HANDLE;
  });
}

EXPORT int cuEventRecord(void* event, void* stream) {
  return callEvent(Call::ANY, event, [&](Context& context, auto& recorded) -> int {
    std::shared_ptr<Stream> found = context.stream(stream);
    if (found == nullptr) return INVALID_HANDLE;
    auto moment = std::make_shared<Moment>(Moment{found, found->added + 1, {}, found->capture});
    recorded->moment = moment;
    if (found->capture != nullptr) return SUCCESS;
    return context.add(found, [moment]() -> int {
      moment->time = std::chrono::steady_clock::now();
      return SUCCESS;
    });
  });
}

EXPORT int cuEventSynchronize(void* event) {
  return callEvent(Call::ANY, event, [&](Context&, auto& awaited) -> int {
    Moment* moment = awaited->moment.get();
    if (moment != nullptr && moment->capture != nullptr) return CAPTURED_EVENT;
    driver.synchronizations++;
    return moment == nullptr ? SUCCESS : run(*moment->stream, moment->number);
  });
}

EXPORT int cuEventQuery(void* event) {
  return callEvent(Call::ANY, event, [&](Context&, auto& asked) -> int {
    Moment* moment = asked->moment.get();
    if (moment == nullptr) return SUCCESS;
    if (moment->capture != nullptr) return CAPTURED_EVENT;
    if (moment->passed()) return SUCCESS;
    int result = run(*moment->stream, moment->stream->done + 1);
    return result != SUCCESS ? result : NOT_READY;
  });
}

EXPORT int cuEventElapsedTime_v2(float* milliseconds, void* begin, void* end) {
  return callEvent(Call::ANY, begin, [&](Context& context, auto& first) -> int {
    std::shared_ptr<Event> second = context.events.find(end);
    if (second == nullptr || !first->timed || !second->timed || first->moment == nullptr ||
        second->moment == nullptr)
      return INVALID_HANDLE;
    if (!first->moment->passed() || !second->moment->passed()) return NOT_READY;
    *milliseconds = std::chrono::duration<float, std::milli>(second->moment->time -
                                                             first->moment->time)
                        .count();
    return SUCCESS;
  });
}

EXPORT int cuStreamBeginCapture_v2(void* stream, int mode) {
  return callStream(Call::ANY, stream, [&](Context& context, auto& found) -> int {
    if (found == context.defaultStream) return CAPTURE_UNSUPPORTED;
    if (found->capture != nullptr) return ILLEGAL_STATE;
    found->capture = std::make_shared<Capture>(
        Capture{{}, (CaptureMode) mode, std::this_thread::get_id(), found.get()});
    return SUCCESS;
  });
}

EXPORT int cuStreamIsCapturing(void* stream, int* status) {
  return callStream(Call::ANY, stream, [&](Context&, auto& found) -> int {
    *status = found->capture == nullptr ? 0 : found->capture->valid ? 1 : 2;
    return SUCCESS;
  });
}

EXPORT int cuStreamEndCapture(void* stream, void** graph) {
  return callStream(Call::ANY, stream, [&](Context& context, auto& found) -> int {
    *graph = nullptr;
    std::shared_ptr<Capture> capture = found->capture;
    if (capture == nullptr) return ILLEGAL_STATE;
    if (capture->origin != found.get()) return CAPTURE_UNMATCHED;
    if (capture->mode != RELAXED && capture->thread != std::this_thread::get_id())
      return CAPTURE_WRONG_THREAD;
    for (auto& [handle, each] : context.streams)
      if (each->capture == capture) each->capture = nullptr;
    if (!capture->valid) return CAPTURE_INVALIDATED;
    auto tasks = std::make_shared<const Tasks>(std::move(capture->tasks));
    *graph = context.graphs.add(std::make_shared<Graph>(Graph{tasks}));
    return SUCCESS;
  });
}

EXPORT int cuGraphGetNodes(void* graph, void** nodes, size_t* count) {
  return callContext(Call::ANY, [&](Context& context) -> int {
    std::shared_ptr<Graph> found = context.graphs.find(graph);
    if (found == nullptr) return INVALID_HANDLE;
    const Tasks& tasks = *found->tasks;
    for (size_t i = 0; nodes != nullptr && i < *count; i++)
      nodes[i] = i < tasks.size() ? (void*) &tasks[i] : nullptr;
    *count = nodes == nullptr ? tasks.size() : std::min(*count, tasks.size());
    return SUCCESS;
  });
}

// A graph that can run takes memory of the device.
EXPORT int cuGraphInstantiateWithFlags(void** runnable, void* graph, unsigned long long) {
  return callContext(Call::ALLOCATION, [&](Context& context) -> int {
    std::shared_ptr<Graph> found = context.graphs.find(graph);
    if (found == nullptr) return INVALID_HANDLE;
    *runnable = context.runnableGraphs.add(found->tasks);
    return SUCCESS;
  });
}

EXPORT int cuGraphUpload(void* runnable, void* stream) {
  return callStream(Call::ANY, stream, [&](Context& context, auto&) -> int {
    return context.runnableGraphs.find(runnable) == nullptr ? INVALID_HANDLE : SUCCESS;
  });
}

EXPORT int cuGraphLaunch(void* runnable, void* stream) {
  return callStream(Call::LAUNCH, stream, [&](Context& context, auto& found) -> int {
    std::shared_ptr<const Tasks> tasks = context.runnableGraphs.find(runnable);
    if (tasks == nullptr) return INVALID_HANDLE;
    driver.launches++;
    return context.add(found, [tasks, next = size_t(0)]() mutable -> int {
      for (; next < tasks->size(); next++) {
        int result = (*tasks)[next]();
        if (result != SUCCESS) return result;
      }
      return SUCCESS;
    });
  });
}

EXPORT int cuGraphExecDestroy(void* runnable) {
  return callContext(Call::CLEANUP, [&](Context& context) -> int {
    return context.runnableGraphs.remove(runnable) ? SUCCESS : INVALID_HANDLE;
  });
}

EXPORT int cuGraphDestroy(void* graph) {
  return callContext(Call::CLEANUP, [&](Context& context) -> int {
    return context.graphs.remove(graph) ? SUCCESS : INVALID_HANDLE;
  });
}
