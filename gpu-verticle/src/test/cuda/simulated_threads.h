// The threads of a simulated device: what simulated.h, whose code runs in them, and the driver,
// which launches them, have to know.
//
// A CUDA thread is a lane: a fibre with its own stack. A block is run by one OS thread, in which
// its lanes take turns: a lane runs until it must wait for others, and then switches straight to
// the next one that can run, first of its own warp, then of the next warp. So at any time just one
// lane of a block runs, and nothing here needs a lock.
#pragma once

namespace simulated {
struct Lane;
}

// The lane that runs. A register costs nothing to read, while thread-local variables of a loaded
// library are found by a call. Functions compiled elsewhere keep r15, as the calling convention
// asks of them. The compiler wants to know it before it sees any function, so this header must come
// before others.
register simulated::Lane* simulatedLane asm("r15");

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace simulated {

constexpr unsigned WARP_LANES = 32;
constexpr unsigned BLOCK_WARPS = 32;
constexpr unsigned BLOCK_LANES = WARP_LANES * BLOCK_WARPS;
constexpr unsigned ALL_LANES = ~0u;

// The matrices that an mma multiplies: d, of ROWS by COLUMNS, is a, with DEPTH columns, by b.
constexpr unsigned ROWS = 16;
constexpr unsigned COLUMNS = 8;
constexpr unsigned DEPTH = 16;

// Results of calls, as in cuda.h.
enum Result : int {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  INVALID_CONTEXT = 201,
  INVALID_HANDLE = 400,
  ILLEGAL_STATE = 401,
  NOT_FOUND = 500,
  NOT_READY = 600,
  ILLEGAL_ADDRESS = 700,
  MISALIGNED_ADDRESS = 716,
  LAUNCH_FAILED = 719,
  NOT_SUPPORTED = 801,
  CAPTURE_UNSUPPORTED = 900,
  CAPTURE_INVALIDATED = 901,
  CAPTURE_UNMATCHED = 903,
  CAPTURED_EVENT = 907,
  CAPTURE_WRONG_THREAD = 908,
  UNKNOWN = 999,
};

struct Index {
  unsigned x = 1, y = 1, z = 1;
};

// What the lanes of a warp do together. All lanes that a mask names must come to the same one.
enum class Operation : unsigned {
  SYNCWARP, SHUFFLE, SHUFFLE_XOR, SHUFFLE_DOWN, VOTE, MMA_BF16, MMA_HALF
};

// Lanes that come together for an operation.
struct Meeting {
  Operation operation;
  unsigned mask;     // the lanes asked for
  unsigned arrived;  // those that are here and wait
};

// Lanes put down what they bring, each in its own places. The last to arrive computes for all of
// them, and each takes its result when it runs again. Its places are written by others only while
// it waits, so a lane that runs ahead to the next operation disturbs nobody.
//
// `ready` and `live` number lanes by their place in the order of turns, as `turns` does; masks of
// meetings by what the kernel calls a lane.
struct Warp {
  alignas(64) uint32_t a[ROWS][DEPTH / 2];     // two neighbours of a row to a word
  alignas(64) uint32_t b[DEPTH / 2][COLUMNS];  // two neighbours of a column to a word
  alignas(64) float d[ROWS][COLUMNS];
  uint64_t value[WARP_LANES];
  uint64_t result[WARP_LANES];
  uint32_t source[WARP_LANES];  // of whose value a lane wants
  Meeting meetings[WARP_LANES];  // one for each mask that lanes wait with
  unsigned meetingCount;
  unsigned ready;
  unsigned live;
  unsigned exited;  // by lane; also those that the block does not have
  unsigned place;   // in the order of turns
  Lane* turns[WARP_LANES];
};

struct Block;

struct alignas(64) Lane {
  void* stackPointer;  // while it does not run
  Lane* following;     // in the order of turns of its warp, in a circle
  Index thread;
  unsigned lane;
  unsigned place;
  char* stack;  // null: it has not begun, or has ended
  Warp* warp;
  Block* block;
};

// A kernel, and how it is called.
struct Kernel {
  const char* name;
  void (*run)(void** parameters);
  std::vector<size_t> parameterSizes;
};

// A kernel with everything that it runs on.
struct Launch {
  const Kernel* kernel;
  Index grid, block;
  std::vector<unsigned char> parameters;  // one after the other, each at a multiple of 16 bytes
};

constexpr size_t PARAMETER_ALIGNMENT = 16;

// The block that an OS thread runs.
struct Block {
  Index index, dimension, grid;
  const Launch* launch;
  void** parameters;
  void* home;  // stack pointer of whoever began the block
  unsigned live;
  unsigned atBarrier;
  unsigned readyWarps;  // by place
  unsigned warpCount;
  int failure;
  bool shuffled;
  Warp* turns[BLOCK_WARPS];
  Warp warps[BLOCK_WARPS];
  Lane lanes[BLOCK_LANES];
  char* freeStacks[BLOCK_LANES];
  unsigned freeStackCount;
};

// Waits for the lanes that the mask names, and does the operation. Never returns if it can not.
void meet(Operation operation, unsigned mask);

// Waits for all lanes of the block that have not ended.
void meetBlock();

// Computes for the lanes of a mask, all of which have put down what they bring.
void perform(Warp& warp, Operation operation, unsigned mask);

const char* nameOf(Operation operation);

// Adds a kernel to those that findKernel() finds.
struct Registration {
  Registration(const char* name, void (*run)(void**), std::vector<size_t> parameterSizes);
};

const Kernel* findKernel(const char* name);

// Runs all blocks. What a kernel did wrong is said on stderr.
int runGrid(const Launch& launch);

// Bytes of static shared memory that a kernel has been seen to use.
size_t sharedBytes(const Kernel& kernel);

// Before a block: fills the thread's static shared memory with what nobody must rely on, once.
void prepareShared();

// After a block: does so again with what it has written.
void cleanShared(const Kernel& kernel);

// Another legal order of lanes, warps and blocks for every seed; 0: the natural one.
extern std::atomic<unsigned> orderSeed;

// How many OS threads run blocks at most; 0: one for each processor.
extern std::atomic<unsigned> threadLimit;

}  // namespace simulated
