#include "simulated_memory.h"
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <vector>

namespace simulated {
namespace {

constexpr size_t PAGE = 4 << 10;
constexpr size_t FRONT = 64 << 10;  // untouchable before an allocation
constexpr size_t BACK = 1 << 20;    // and behind
constexpr size_t POISON_BYTES = 4 << 20;
constexpr unsigned char POISON = 0xff;
constexpr size_t CLOSED_MAX = 1024;

size_t roundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// A file full of 0xFF.
int poisonFile() {
  static const int file = [] {
    int created = memfd_create("simulated-poison", MFD_CLOEXEC);
    std::vector<unsigned char> content(POISON_BYTES, POISON);
    if (write(created, content.data(), content.size()) != (ssize_t) content.size())
      fprintf(stderr, "simulated device: fresh memory is not poisoned\n");
    return created;
  }();
  return file;
}

bool poisoned(const char* begin, const char* end) {
  return std::all_of(begin, end, [](char byte) { return (unsigned char) byte == POISON; });
}

}  // namespace

char* Memory::allocate(size_t bytes, int device, bool host) {
  size_t pageBytes = roundUp(bytes, PAGE);
  void* whole = mmap(nullptr, FRONT + pageBytes + BACK, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (whole == MAP_FAILED) return nullptr;
  char* pages = (char*) whole + FRONT;
  for (size_t done = 0; done < pageBytes; done += POISON_BYTES) {
    size_t part = std::min(POISON_BYTES, pageBytes - done);
    if (mmap(pages + done, part, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, poisonFile(), 0) == MAP_FAILED) {
      munmap(whole, FRONT + pageBytes + BACK);
      return nullptr;
    }
  }
  char* data = pages + pageBytes - roundUp(bytes, MEMORY_ALIGNMENT);
  live[data] = {data, bytes, pages, pageBytes, device, host};
  return data;
}

bool Memory::release(const void* data, bool host) {
  auto found = live.find((const char*) data);
  if (found == live.end() || found->second.host != host) return false;
  close(found->second);
  live.erase(found);
  return true;
}

void Memory::releaseAll(int device) {
  std::erase_if(live, [&](const auto& entry) {
    if (entry.second.device != device) return false;
    close(entry.second);
    return true;
  });
}

void Memory::close(const Allocation& allocation) {
  const char* end = allocation.data + allocation.bytes;
  const char* pagesEnd = allocation.pages + allocation.pageBytes;
  if (!poisoned(allocation.pages, allocation.data) || !poisoned(end, pagesEnd))
    fprintf(stderr, "simulated device: somebody wrote beyond %zu bytes at %p\n", allocation.bytes,
            (void*) allocation.data);
  mmap(allocation.pages, allocation.pageBytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  closed.push_back(allocation);
  if (closed.size() > CLOSED_MAX) {
    const Allocation& oldest = closed.front();
    munmap(oldest.pages - FRONT, FRONT + oldest.pageBytes + BACK);
    closed.pop_front();
  }
}

const Allocation* Memory::find(const void* address) const {
  auto found = live.upper_bound((const char*) address);
  if (found == live.begin()) return nullptr;
  const Allocation& before = std::prev(found)->second;
  return (const char*) address < before.data + before.bytes ? &before : nullptr;
}

bool Memory::onDevice(const void* address, size_t bytes) const {
  const Allocation* found = find(address);
  return found != nullptr && !found->host &&
         bytes <= (size_t) (found->data + found->bytes - (const char*) address);
}

bool Memory::onHost(const void* address, size_t bytes) const {
  const Allocation* found = find(address);
  if (found == nullptr) return address != nullptr && !wasFreed((const char*) address);
  return found->host && bytes <= (size_t) (found->data + found->bytes - (const char*) address);
}

bool Memory::wasFreed(const char* address) const {
  return std::any_of(closed.begin(), closed.end(), [&](const Allocation& each) {
    return address >= each.pages && address < each.pages + each.pageBytes;
  });
}

size_t Memory::liveBytes(int device) const {
  size_t sum = 0;
  for (const auto& [data, allocation] : live)
    if (allocation.device == device && !allocation.host)
      sum += roundUp(allocation.bytes, MEMORY_ALIGNMENT);
  return sum;
}

}  // namespace simulated
