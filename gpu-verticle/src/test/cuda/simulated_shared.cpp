// Kernels by name, and the static shared memory that they use.
//
// Shared memory is thread-local, and only the symbol table of the library knows where each array
// lies. Which of them a kernel uses is learned from what its blocks have written: all arrays are
// poisoned in the beginning, and those that a kernel is known to use after each of its blocks. A
// look at all of them takes longer than most blocks, so it is taken after the first blocks of a
// kernel, and then now and then.
#include "simulated_threads.h"
#include <dlfcn.h>
#include <elf.h>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace simulated {
namespace {

constexpr unsigned char POISON = 0xff;  // NaN, whatever the kind of float

constexpr unsigned FIRST_BLOCKS = 64;  // of a kernel, after each of which there is a look
constexpr unsigned LATER_BLOCKS = 64;  // between later looks

// From its place in thread-local memory follows where all the others are.
thread_local char anchor;

thread_local bool poisonedThread;

struct Array {
  size_t begin;  // in the library's thread-local memory
  size_t bytes;
};

struct Arrays {
  std::vector<Array> all;
  size_t anchorBegin = 0;
};

// Constructors of other files add to it, so it must be there before any of them.
std::map<std::string, Kernel>& kernels() {
  static auto& all = *new std::map<std::string, Kernel>;
  return all;
}

// What is known of a kernel's blocks, from all threads.
struct Use {
  std::vector<std::atomic<bool>> arrays;  // whether it uses them
  std::atomic<unsigned> blocks{0};
};

std::vector<char> contentOf(const char* path) {
  std::vector<char> content;
  std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path, "rb"), &fclose);
  if (file == nullptr) return content;
  fseek(file.get(), 0, SEEK_END);
  content.resize((size_t) ftell(file.get()));
  rewind(file.get());
  if (fread(content.data(), 1, content.size(), file.get()) != content.size()) content.clear();
  return content;
}

void add(Arrays& arrays, const char* name, Array array) {
  if (strstr(name, "9simulated") == nullptr)
    arrays.all.push_back(array);
  else if (strstr(name, "6anchor") != nullptr)
    arrays.anchorBegin = array.begin;
}

Arrays readArrays() {
  Arrays arrays;
  Dl_info library;
  if (dladdr((void*) &readArrays, &library) == 0) return arrays;
  std::vector<char> content = contentOf(library.dli_fname);
  if (content.empty()) return arrays;
  auto* header = (const Elf64_Ehdr*) content.data();
  auto* sections = (const Elf64_Shdr*) (content.data() + header->e_shoff);
  for (unsigned i = 0; i < header->e_shnum; i++) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const char* names = content.data() + sections[sections[i].sh_link].sh_offset;
    auto* symbols = (const Elf64_Sym*) (content.data() + sections[i].sh_offset);
    for (size_t k = 0; k < sections[i].sh_size / sizeof(Elf64_Sym); k++) {
      const Elf64_Sym& symbol = symbols[k];
      if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS && symbol.st_shndx != SHN_UNDEF)
        add(arrays, names + symbol.st_name, {symbol.st_value, symbol.st_size});
    }
  }
  return arrays;
}

const Arrays& arrays() {
  static const Arrays& read = *new Arrays(readArrays());
  return read;
}

Use& useOf(const Kernel& kernel) {
  static std::mutex lock;
  static auto& uses = *new std::map<const Kernel*, Use>;
  std::lock_guard<std::mutex> guard(lock);
  Use& use = uses[&kernel];
  if (use.arrays.empty()) use.arrays = std::vector<std::atomic<bool>>(arrays().all.size());
  return use;
}

char* place(Array array) { return &anchor - arrays().anchorBegin + array.begin; }

void poison(Array array) { memset(place(array), POISON, array.bytes); }

bool poisoned(Array array) {
  const char* begin = place(array);
  return (unsigned char) *begin == POISON && memcmp(begin, begin + 1, array.bytes - 1) == 0;
}

}  // namespace

Registration::Registration(
    const char* name, void (*run)(void**), std::vector<size_t> parameterSizes) {
  kernels()[name] = {name, run, std::move(parameterSizes)};
}

const Kernel* findKernel(const char* name) {
  auto found = kernels().find(name);
  return found == kernels().end() ? nullptr : &found->second;
}

size_t sharedBytes(const Kernel& kernel) {
  const Use& use = useOf(kernel);
  size_t sum = 0;
  for (size_t i = 0; i < use.arrays.size(); i++)
    if (use.arrays[i]) sum += arrays().all[i].bytes;
  return sum;
}

void prepareShared() {
  if (poisonedThread) return;
  for (Array array : arrays().all) poison(array);
  poisonedThread = true;
}

void cleanShared(const Kernel& kernel) {
  Use& use = useOf(kernel);
  unsigned block = use.blocks++;
  bool look = block < FIRST_BLOCKS || block % LATER_BLOCKS == 0;
  for (size_t i = 0; i < use.arrays.size(); i++) {
    Array array = arrays().all[i];
    if (look && !use.arrays[i] && !poisoned(array)) use.arrays[i] = true;
    if (use.arrays[i]) poison(array);
  }
}

}  // namespace simulated
