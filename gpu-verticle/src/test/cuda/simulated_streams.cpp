// How streams defer what is put into them, and what a context does with all of its streams.
#include "simulated_driver.h"
#include <utility>

namespace simulated {
namespace {

constexpr size_t QUEUE_MAX = 4096;

// Handles of the default stream: none, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD.
constexpr uintptr_t DEFAULT_STREAM_MAX = 2;

thread_local Context* current;

}  // namespace

Driver& driver = *new Driver;

Driver::Driver() {
  for (int device = 0; device < DEVICES_MAX; device++) {
    contexts[device].device = device;
    contexts[device].reset();
  }
}

// Kernels are what fails with these; any call may find that a device has gone.
int Driver::inject(Call call, int device) {
  for (Fault& fault : control.faults) {
    int result = fault.result;
    if (result == SUCCESS) continue;
    if (fault.device != ANY_DEVICE && fault.device != device) return SUCCESS;
    bool byLaunch = result == LAUNCH_FAILED || result == ILLEGAL_ADDRESS || result == UNKNOWN;
    if (byLaunch && call != Call::LAUNCH) return SUCCESS;
    if (result == OUT_OF_MEMORY && call != Call::ALLOCATION) return SUCCESS;
    if (--fault.after > 0) return SUCCESS;
    fault.result = SUCCESS;
    return result;
  }
  return SUCCESS;
}

void Driver::reset(Context& context) {
  context.reset();
  memory.releaseAll(context.device);
}

Context* currentContext() { return current; }

void setCurrentContext(Context* context) { current = context; }

void Context::reset() {
  error = SUCCESS;
  fail(SUCCESS);
  streams.clear();
  events.clear();
  graphs.clear();
  runnableGraphs.clear();
  modules.clear();
  functions.clear();
  defaultStream = std::make_shared<Stream>(Stream{this, true, {}, 0, 0, nullptr});
}

std::shared_ptr<Stream> Context::stream(void* handle) {
  if ((uintptr_t) handle <= DEFAULT_STREAM_MAX) return defaultStream;
  return streams.find(handle);
}

int Context::add(const std::shared_ptr<Stream>& stream, Task task) {
  if (stream->capture != nullptr) {
    if (!stream->capture->valid) return CAPTURE_INVALIDATED;
    stream->capture->tasks.push_back(std::move(task));
    return SUCCESS;
  }
  if (stream == defaultStream) {
    for (auto& [handle, other] : streams)
      if (other->blocking) run(*other, other->added);
  } else if (stream->blocking) {
    run(*defaultStream, defaultStream->added);
  }
  stream->queue.push_back(std::move(task));
  stream->added++;
  if (stream->queue.size() >= QUEUE_MAX) run(*stream, stream->added);
  return error;
}

int Context::finish() {
  run(*defaultStream, defaultStream->added);
  for (auto& [handle, stream] : streams) run(*stream, stream->added);
  return error;
}

int Context::refuseWhileCapturing() {
  for (auto& [handle, stream] : streams) {
    Capture* capture = stream->capture.get();
    if (capture == nullptr || capture->mode == RELAXED) continue;
    if (capture->mode == THREAD_LOCAL && capture->thread != std::this_thread::get_id()) continue;
    capture->valid = false;
    return CAPTURE_UNSUPPORTED;
  }
  return SUCCESS;
}

// What has not been done by then never is.
void Context::fail(int result) {
  error = result;
  for (auto& [handle, stream] : streams) {
    stream->queue.clear();
    stream->done = stream->added;
  }
  if (defaultStream != nullptr) {
    defaultStream->queue.clear();
    defaultStream->done = defaultStream->added;
  }
}

int run(Stream& stream, uint64_t until) {
  while (stream.done < until && !stream.queue.empty()) {
    Task task = std::move(stream.queue.front());
    stream.queue.pop_front();
    int result = task();
    if (result == BLOCKED) {
      stream.queue.push_front(std::move(task));
      return BLOCKED;
    }
    if (result != SUCCESS) {
      stream.context->fail(result);
      break;
    }
    stream.done++;
  }
  return stream.context->error;
}

int runToEnd(const std::shared_ptr<Stream>& stream) {
  uint64_t end = stream->added;
  int result = run(*stream, end);
  while (result == BLOCKED) {
    driver.changed.wait(driver.lock);
    result = run(*stream, end);
  }
  return result;
}

}  // namespace simulated
