// Memory of simulated devices, and what they know of the host's.
#pragma once
#include <cstddef>
#include <deque>
#include <map>

namespace simulated {

constexpr size_t MEMORY_ALIGNMENT = 256;

// Where memory lies that a driver gave.
struct Allocation {
  char* data;
  size_t bytes;
  char* pages;  // those that may be touched
  size_t pageBytes;
  int device;
  bool host;  // pinned memory of the host
};

// Every allocation has pages of its own that end where it ends, as far as the alignment allows,
// with untouchable ones before and behind. Fresh memory is full of 0xFF, that is of NaN, but does
// not exist until it is written: its pages are private copies of a file. Freed memory stays
// untouchable for a while. Callers hold the driver's lock.
class Memory {
 public:
  // Null: the machine has no more.
  char* allocate(size_t bytes, int device, bool host);

  // Whether memory began there.
  bool release(const void* data, bool host);

  // Everything of a device.
  void releaseAll(int device);

  // Which allocation holds an address; null: none.
  const Allocation* find(const void* address) const;

  // Whether all bytes lie in one allocation of a device.
  bool onDevice(const void* address, size_t bytes) const;

  // Whether bytes that the host gave are its own as far as can be known.
  bool onHost(const void* address, size_t bytes) const;

  size_t liveBytes(int device) const;

 private:
  void close(const Allocation& allocation);
  bool wasFreed(const char* address) const;

  std::map<const char*, Allocation> live;  // by where the data begin
  std::deque<Allocation> closed;
};

}  // namespace simulated
