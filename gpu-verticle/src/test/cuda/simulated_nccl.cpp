// NVIDIA's library with which GPUs exchange numbers, as far as the product uses it: one process
// that has all GPUs. A GPU's stream stops at an exchange until every GPU's has come to its own.
#include "simulated_driver.h"
#include <cstring>

using namespace simulated;

namespace {

constexpr int NCCL_SUCCESS = 0;
constexpr int NCCL_UNHANDLED_CUDA_ERROR = 1;
constexpr int NCCL_INVALID_ARGUMENT = 4;
constexpr int NCCL_INVALID_USAGE = 5;
constexpr int NCCL_FLOAT = 7;
constexpr int NCCL_VERSION = 22800;

// What one GPU brings to an exchange.
struct Part {
  const char* from;
  char* to;
  size_t bytes;
};

struct Group {
  std::vector<std::shared_ptr<Part>> arrived;
  std::vector<bool> done;  // whether the rank's exchange was made, but it does not know yet
  std::vector<void*> members;
  bool aborted = false;

  explicit Group(size_t count) : arrived(count), done(count) {}

  // Result of the rank's exchange; BLOCKED: others have not come to it.
  int exchange(size_t rank, const Part& part) {
    if (aborted) return SUCCESS;  // with anything in its memory
    if (!done[rank]) {
      arrived[rank] = std::make_shared<Part>(part);
      for (const auto& each : arrived)
        if (each == nullptr) return BLOCKED;
      int result = gather();
      if (result != SUCCESS) return result;
      arrived.assign(arrived.size(), nullptr);
      done.assign(done.size(), true);
      driver.changed.notify_all();
    }
    done[rank] = false;
    return SUCCESS;
  }

 private:
  int gather() {
    for (const auto& to : arrived) {
      for (size_t rank = 0; rank < arrived.size(); rank++) {
        const Part& from = *arrived[rank];
        char* where = to->to + rank * to->bytes;
        if (from.bytes != to->bytes || !driver.memory.onDevice(from.from, from.bytes) ||
            !driver.memory.onDevice(where, from.bytes))
          return ILLEGAL_ADDRESS;
        if (where != from.from) memcpy(where, from.from, from.bytes);
      }
    }
    return SUCCESS;
  }
};

struct Member {
  std::shared_ptr<Group> group;
  size_t rank;
  int device;
};

Handles<Member>& members() {
  static auto& all = *new Handles<Member>;
  return all;
}

}  // namespace

EXPORT const char* ncclGetErrorString(int result) {
  switch (result) {
    case NCCL_SUCCESS: return "no error";
    case NCCL_UNHANDLED_CUDA_ERROR: return "unhandled cuda error";
    case NCCL_INVALID_ARGUMENT: return "invalid argument";
    case NCCL_INVALID_USAGE: return "invalid usage";
    default: return "unknown result code";
  }
}

EXPORT int ncclGetVersion(int* version) {
  *version = NCCL_VERSION;
  return NCCL_SUCCESS;
}

EXPORT int ncclCommInitAll(void** comms, int count, const int* devices) {
  std::lock_guard<std::recursive_mutex> guard(driver.lock);
  if (count < 1) return NCCL_INVALID_ARGUMENT;
  if (!driver.initialised) return NCCL_UNHANDLED_CUDA_ERROR;
  auto group = std::make_shared<Group>((size_t) count);
  for (int rank = 0; rank < count; rank++) {
    int device = devices[rank];
    if (device < 0 || device >= driver.control.devices) return NCCL_INVALID_ARGUMENT;
    for (int other = 0; other < rank; other++)
      if (devices[other] == device) return NCCL_INVALID_USAGE;
    if (driver.contexts[device].error != SUCCESS) return NCCL_UNHANDLED_CUDA_ERROR;
  }
  for (int rank = 0; rank < count; rank++)
    comms[rank] =
        members().add(std::make_shared<Member>(Member{group, (size_t) rank, devices[rank]}));
  return NCCL_SUCCESS;
}

EXPORT int ncclAllGather(const void* from, void* to, size_t count, int type, void* comm,
                         void* handle) {
  std::lock_guard<std::recursive_mutex> guard(driver.lock);
  std::shared_ptr<Member> member = members().find(comm);
  if (member == nullptr || type != NCCL_FLOAT) return NCCL_INVALID_ARGUMENT;
  if (member->group->aborted) return NCCL_INVALID_USAGE;
  Context& context = driver.contexts[member->device];
  if (currentContext() != &context) return NCCL_INVALID_USAGE;
  std::shared_ptr<Stream> stream = context.stream(handle);
  if (stream == nullptr) return NCCL_INVALID_ARGUMENT;
  if (context.error != SUCCESS) return NCCL_UNHANDLED_CUDA_ERROR;
  Part part{(const char*) from, (char*) to, count * sizeof(float)};
  int added =
      context.add(stream, [member, part] { return member->group->exchange(member->rank, part); });
  return added == SUCCESS ? NCCL_SUCCESS : NCCL_UNHANDLED_CUDA_ERROR;
}

// Others may wait for this one: they need not any more.
EXPORT int ncclCommAbort(void* comm) {
  std::lock_guard<std::recursive_mutex> guard(driver.lock);
  std::shared_ptr<Member> member = members().find(comm);
  if (member == nullptr) return NCCL_INVALID_ARGUMENT;
  member->group->aborted = true;
  members().remove(comm);
  driver.changed.notify_all();
  return NCCL_SUCCESS;
}

EXPORT int ncclCommDestroy(void* comm) {
  std::lock_guard<std::recursive_mutex> guard(driver.lock);
  return members().remove(comm) ? NCCL_SUCCESS : NCCL_INVALID_ARGUMENT;
}
