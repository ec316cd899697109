// Lanes: how they take turns, wait for each other and end. And blocks, which are made of them.
#include "simulated_fibres.h"
#include <sys/mman.h>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <utility>

using namespace simulated;

// simulatedSwitch leaves on the stack what a function must keep, and takes the same from the stack
// of the other lane, which is the running one from then on. All lanes of a warp mostly wait at the
// same place, so that even its return is predicted. A fresh stack begins with simulatedBegin.
asm(R"(
  .text
  .globl simulatedSwitch, simulatedStart, simulatedReturn, simulatedBegin
  .hidden simulatedSwitch, simulatedStart, simulatedReturn, simulatedBegin
simulatedSwitch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  movq %rsp, (%rdi)
1:
  movq %rsi, %r15
  movq (%rsi), %rsp
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
simulatedStart:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  jmp 1b
simulatedReturn:
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
simulatedBegin:
  call simulatedRunLanes
)");

extern "C" void simulatedSwitch(Lane* lane, Lane* other);      // their stack pointers come first
extern "C" void simulatedStart(void** home, Lane* first);      // until simulatedReturn
extern "C" void simulatedBegin();

namespace simulated {
namespace {

// The first of the set bits after a place, in a circle.
unsigned after(unsigned bits, unsigned place) {
  unsigned later = place == 31 ? 0 : bits & (~0u << (place + 1));
  return (unsigned) __builtin_ctz(later != 0 ? later : bits);
}

// Where a stack begins.
char* stackOf(const Runner& runner, unsigned number) {
  return runner.stacks + (number + 1) * STACK_BYTES - number * 11 % 32 * 128;
}

unsigned lowest(unsigned count) { return count >= 32 ? ~0u : (1u << count) - 1; }

// Gives a lane a stack on which it begins. Stacks begin at different lines of the cache, neighbours
// far apart.
void begin(Block& block, Lane* lane) {
  if (block.freeStackCount == 0) {
    Runner& runner = reinterpret_cast<Runner&>(block);
    unsigned number = runner.stacksMade++;
    mprotect(runner.stacks + number * STACK_BYTES, PAGE_BYTES, PROT_NONE);
    block.freeStacks[block.freeStackCount++] = stackOf(runner, number);
  }
  lane->stack = block.freeStacks[--block.freeStackCount];
  void** frame = (void**) lane->stack - 8;  // so that the stack is aligned after the return
  memset(frame, 0, 8 * sizeof(void*));
  frame[5] = (void*) &simulatedBegin;
  lane->stackPointer = frame;
}

// The next lane that can run; null: none. Mostly it is the following one: to guess so, as the
// processor does, is faster than to look.
Lane* next(Block& block, const Lane* lane) {
  Warp* warp = lane->warp;
  Lane* following = lane->following;
  if (warp->ready >> following->place & 1) return following;
  if (warp->ready != 0) return warp->turns[after(warp->ready, lane->place)];
  block.readyWarps &= ~(1u << warp->place);
  if (block.readyWarps == 0) return nullptr;
  warp = block.turns[after(block.readyWarps, warp->place)];
  return warp->turns[__builtin_ctz(warp->ready)];
}

// Lets others run until this lane is ready again.
void wait() {
  Lane* lane = simulatedLane;
  Block& block = *lane->block;
  lane->warp->ready &= ~(1u << lane->place);
  Lane* other = next(block, lane);
  if (other == nullptr) failStuck(block);
  if (other->stack == nullptr) begin(block, other);
  simulatedSwitch(lane, other);
}

// By place in the order of turns.
unsigned placesOf(const Warp& warp, unsigned mask) {
  if (mask == ALL_LANES) return ~0u;
  unsigned places = 0;
  for (unsigned place = 0; place < WARP_LANES; place++)
    if (warp.turns[place] != nullptr && mask >> warp.turns[place]->lane & 1) places |= 1u << place;
  return places;
}

// Where lanes of a mask meet: others may be on their way, or this is the first.
Meeting& meetingOf(Warp& warp, Operation operation, unsigned mask) {
  for (unsigned i = 0; i < warp.meetingCount; i++)
    if (warp.meetings[i].mask == mask) return warp.meetings[i];
  Meeting& fresh = warp.meetings[warp.meetingCount++];
  fresh = {operation, mask, 0};
  return fresh;
}

// All that have not ended have come to the barrier.
void openBarrier(Block& block) {
  block.atBarrier = 0;
  for (unsigned i = 0; i < block.warpCount; i++) {
    block.warps[i].ready = block.warps[i].live;
    if (block.warps[i].live != 0) block.readyWarps |= 1u << block.warps[i].place;
  }
}

// Leaves the lanes as they are, for good.
[[noreturn]] void goHome(Block& block) {
  asm volatile("movq %0, %%rsp\n jmp simulatedReturn" ::"r"(block.home) : "memory");
  __builtin_unreachable();
}

void leave(Lane* lane) {
  Block& block = *lane->block;
  Warp& warp = *lane->warp;
  warp.ready &= ~(1u << lane->place);
  warp.live &= ~(1u << lane->place);
  warp.exited |= 1u << lane->lane;
  block.live--;
  if (block.live != 0 && block.atBarrier == block.live) openBarrier(block);
}

}  // namespace

// Runs a lane, and on the same stack those that begin when it has ended.
extern "C" [[noreturn]] void simulatedRunLanes() {
  Block& block = *simulatedLane->block;
  for (;;) {
    block.launch->kernel->run(block.parameters);
    Lane* lane = simulatedLane;
    leave(lane);
    Lane* other = next(block, lane);
    char* stack = std::exchange(lane->stack, nullptr);
    if (other != nullptr && other->stack == nullptr) {
      other->stack = stack;
      simulatedLane = other;
      continue;
    }
    if (other == nullptr && block.live != 0) failStuck(block);
    block.freeStacks[block.freeStackCount++] = stack;
    if (other == nullptr) goHome(block);
    simulatedSwitch(lane, other);
  }
}

void meet(Operation operation, unsigned mask) {
  Lane* lane = simulatedLane;
  Warp& warp = *lane->warp;
  unsigned self = 1u << lane->lane;
  if (!(mask & self))
    fail(*lane->block, "lane %u calls %s for mask %08x, which leaves it out", lane->lane,
         nameOf(operation), mask);
  Meeting& meeting = meetingOf(warp, operation, mask);
  if (meeting.operation != operation)
    fail(*lane->block, "lanes of a warp call %s and %s for mask %08x", nameOf(meeting.operation),
         nameOf(operation), mask);
  if (mask & warp.exited)
    fail(*lane->block, "%s for mask %08x, but lanes %08x have ended or never were",
         nameOf(operation), mask, mask & warp.exited);
  meeting.arrived |= self;
  if (meeting.arrived != mask) {
    wait();
    return;
  }
  perform(warp, operation, mask);
  meeting = warp.meetings[--warp.meetingCount];
  warp.ready |= placesOf(warp, mask);
}

void meetBlock() {
  Block& block = *simulatedLane->block;
  block.atBarrier++;
  if (block.atBarrier == block.live)
    openBarrier(block);
  else
    wait();
}

void fail(Block& block, const char* format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(reinterpret_cast<Runner&>(block).complaint, COMPLAINT_BYTES, format, values);
  va_end(values);
  block.failure = LAUNCH_FAILED;
  goHome(block);
}

void failStuck(Block& block) {
  for (unsigned i = 0; i < block.warpCount; i++) {
    if (block.warps[i].meetingCount == 0) continue;
    const Meeting& meeting = block.warps[i].meetings[0];
    fail(block,
         "deadlock: warp %u waits at %s for mask %08x, to which only %08x have come; "
         "%u of %u live threads wait at __syncthreads",
         i, nameOf(meeting.operation), meeting.mask, meeting.arrived, block.atBarrier, block.live);
  }
  fail(block, "deadlock: %u of %u live threads wait at __syncthreads", block.atBarrier,
       block.live);
}

namespace {

// Numbers that depend on nothing but the seed.
struct Shuffling {
  uint64_t state;

  unsigned below(unsigned limit) {
    state += 0x9e3779b97f4a7c15;
    uint64_t mixed = (state ^ state >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return (unsigned) ((mixed ^ mixed >> 31) % limit);
  }

  template <class T>
  void shuffle(T* things, unsigned count) {
    for (unsigned i = count; i > 1; i--) std::swap(things[i - 1], things[below(i)]);
  }
};

unsigned lanesOf(const Block& block, unsigned warp) {
  unsigned all = block.dimension.x * block.dimension.y * block.dimension.z;
  return all - warp * WARP_LANES < WARP_LANES ? all - warp * WARP_LANES : WARP_LANES;
}

// Gives every lane its place in the block and in the natural order of turns.
void number(Block& block) {
  Index size = block.dimension;
  unsigned all = size.x * size.y * size.z;
  block.warpCount = (all + WARP_LANES - 1) / WARP_LANES;
  for (unsigned i = 0; i < BLOCK_LANES; i++) {
    Lane& lane = block.lanes[i];
    Warp& warp = block.warps[i / WARP_LANES];
    lane.thread = {i % size.x, i / size.x % size.y, i / size.x / size.y};
    lane.lane = i % WARP_LANES;
    lane.place = lane.lane;
    lane.warp = &warp;
    lane.block = &block;
    lane.stack = nullptr;
    warp.turns[lane.lane] = i < all ? &lane : nullptr;
    unsigned following = i + 1 < all && lane.lane + 1 < WARP_LANES ? i + 1 : i - lane.lane;
    lane.following = &block.lanes[following];
  }
  for (unsigned i = 0; i < BLOCK_WARPS; i++) {
    block.warps[i].place = i;
    block.turns[i] = &block.warps[i];
    block.warps[i].meetingCount = 0;
  }
}

void shuffleTurns(Block& block, uint64_t seed) {
  Shuffling shuffling{seed};
  shuffling.shuffle(block.turns, block.warpCount);
  for (unsigned i = 0; i < block.warpCount; i++) {
    Warp& warp = *block.turns[i];
    unsigned lanes = lanesOf(block, (unsigned) (&warp - block.warps));
    warp.place = i;
    shuffling.shuffle(warp.turns, lanes);
    for (unsigned place = 0; place < lanes; place++) {
      warp.turns[place]->place = place;
      warp.turns[place]->following = warp.turns[(place + 1) % lanes];
    }
  }
}

void awaken(Block& block) {
  block.live = 0;
  block.atBarrier = 0;
  block.failure = SUCCESS;
  block.readyWarps = lowest(block.warpCount);
  for (unsigned i = 0; i < block.warpCount; i++) {
    unsigned lanes = lanesOf(block, i);
    block.warps[i].ready = block.warps[i].live = lowest(lanes);
    block.warps[i].exited = ~lowest(lanes);
    block.live += lanes;
  }
}

bool same(Index a, Index b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

}  // namespace

int runBlock(Runner& runner, const Launch& launch, Index index, uint64_t seed) {
  Block& block = runner.block;
  bool asBefore = same(block.dimension, launch.block) && block.failure == SUCCESS &&
                  !block.shuffled && seed == 0;
  block.index = index;
  block.dimension = launch.block;
  block.grid = launch.grid;
  block.launch = &launch;
  block.shuffled = seed != 0;
  if (!asBefore) number(block);
  if (block.shuffled) shuffleTurns(block, seed);
  awaken(block);
  prepareShared();
  Lane* first = block.turns[0]->turns[0];
  begin(block, first);
  simulatedStart(&block.home, first);
  cleanShared(*launch.kernel);
  if (block.failure != SUCCESS) {
    // The lanes are left where they are; their stacks begin anew.
    block.freeStackCount = 0;
    for (unsigned i = 0; i < runner.stacksMade; i++)
      block.freeStacks[block.freeStackCount++] = stackOf(runner, i);
  }
  return block.failure;
}

}  // namespace simulated
