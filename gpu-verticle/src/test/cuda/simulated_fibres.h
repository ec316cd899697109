// Blocks and the OS threads that run them, for the files that make up the simulated threads.
#pragma once
#include "simulated_threads.h"

namespace simulated {

constexpr size_t STACK_BYTES = 64 << 10;
constexpr size_t PAGE_BYTES = 4 << 10;
constexpr size_t COMPLAINT_BYTES = 512;

// What an OS thread needs to run blocks. Runners are kept and never freed: a signal handler looks
// at them.
struct Runner {
  Block block;
  char* stacks;         // of BLOCK_LANES lanes; each begins with a page that must not be touched
  unsigned stacksMade;  // those from the first on have been made
  char* signalStack;
  char complaint[COMPLAINT_BYTES];  // what went wrong in the block
};

// Notes why the block fails, and leaves it for good.
[[noreturn]] void fail(Block& block, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

// Says which threads wait for what, when none can run.
[[noreturn]] void failStuck(Block& block);

// Runs a block of a launch; the result is also in its `failure`.
int runBlock(Runner& runner, const Launch& launch, Index index, uint64_t seed);

// Where faults of lanes of this runner are recognised from now on.
void watch(Runner& runner);

// From now on a fault in a lane ends its block, not the process.
void catchFaults();

}  // namespace simulated

// Goes on where a block was begun, which it takes from the stack pointer.
extern "C" void simulatedReturn();
