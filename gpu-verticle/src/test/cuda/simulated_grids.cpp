// Grids: which OS threads run their blocks, in which order, and what becomes of faults in them.
#include "simulated_fibres.h"
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <numeric>
#include <thread>

namespace simulated {

std::atomic<unsigned> orderSeed{0};
std::atomic<unsigned> threadLimit{0};

namespace {

constexpr size_t SIGNAL_STACK_BYTES = 64 << 10;
constexpr size_t STACKS_BYTES = BLOCK_LANES * STACK_BYTES;
constexpr unsigned RUNNERS_MAX = 256;
constexpr int FAULTS[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
// Fewer threads are run before another OS thread would have woken up.
constexpr unsigned THREADS_WORTH_SHARING = 256;

std::atomic<Runner*> runners[RUNNERS_MAX];
std::atomic<unsigned> runnerCount{0};
struct sigaction previousActions[NSIG];

Runner* runnerOfStack(uintptr_t stackPointer) {
  for (unsigned i = 0; i < RUNNERS_MAX && i < runnerCount; i++) {
    Runner* runner = runners[i].load(std::memory_order_acquire);
    if (runner != nullptr && stackPointer - (uintptr_t) runner->stacks < STACKS_BYTES)
      return runner;
  }
  return nullptr;
}

// Somebody else's fault: whoever was asked before the library came is asked now.
void passOn(int signal, siginfo_t* info, void* context) {
  const struct sigaction& action = previousActions[signal];
  if (action.sa_flags & SA_SIGINFO) {
    action.sa_sigaction(signal, info, context);
  } else if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) {
    sigaction(signal, &action, nullptr);  // the instruction is tried again, and its fault ends all
  } else {
    action.sa_handler(signal);
  }
}

// The stack pointer says whose fault it is: only lanes run on stacks of runners, and a lane runs
// nothing but its kernel. So null and wild pointers are found as well as guard pages. The lane is
// left where it is, and the thread goes on where it began the block.
void onFault(int signal, siginfo_t* info, void* context) {
  auto& registers = ((ucontext_t*) context)->uc_mcontext.gregs;
  Runner* runner = runnerOfStack((uintptr_t) registers[REG_RSP]);
  if (runner == nullptr) {
    passOn(signal, info, context);
    return;
  }
  Block& block = runner->block;
  switch (signal) {
    case SIGILL:
      snprintf(runner->complaint, COMPLAINT_BYTES,
               "a misaligned access, or an index outside an array");
      block.failure = MISALIGNED_ADDRESS;
      break;
    case SIGFPE:
      snprintf(runner->complaint, COMPLAINT_BYTES, "a division by zero");
      block.failure = LAUNCH_FAILED;
      break;
    default:
      snprintf(runner->complaint, COMPLAINT_BYTES, "an access outside memory, to %p",
               info->si_addr);
      block.failure = ILLEGAL_ADDRESS;
  }
  uintptr_t lane = (uintptr_t) registers[REG_R15] - (uintptr_t) block.lanes;
  if (lane < sizeof(block.lanes)) {
    Index thread = block.lanes[lane / sizeof(Lane)].thread;
    size_t said = strlen(runner->complaint);
    snprintf(runner->complaint + said, COMPLAINT_BYTES - said, " by thread (%u,%u,%u)", thread.x,
             thread.y, thread.z);
  }
  registers[REG_RSP] = (greg_t) block.home;
  registers[REG_RIP] = (greg_t) &simulatedReturn;
}

char* reserve(size_t bytes) {
  return (char*) mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

// Those that no thread uses now.
std::mutex idleLock;
std::vector<Runner*>& idle = *new std::vector<Runner*>;

Runner* takeRunner() {
  std::lock_guard<std::mutex> guard(idleLock);
  if (!idle.empty()) {
    Runner* runner = idle.back();
    idle.pop_back();
    return runner;
  }
  Runner* runner = new Runner{};
  runner->block.dimension = {0, 0, 0};
  runner->stacks = reserve(STACKS_BYTES);
  runner->signalStack = reserve(SIGNAL_STACK_BYTES);
  watch(*runner);
  return runner;
}

void giveBack(Runner* runner) {
  std::lock_guard<std::mutex> guard(idleLock);
  idle.push_back(runner);
}

// A launch that is being run.
struct Grid {
  const Launch& launch;
  std::vector<void*> parameters;
  uint64_t seed;
  uint64_t blocks;
  uint64_t stride = 1;  // block i of the order is number i * stride + first, in a circle
  uint64_t first = 0;
  std::atomic<uint64_t> next{0};
  std::atomic<int> failure{SUCCESS};

  explicit Grid(const Launch& launch)
      : launch(launch),
        seed(orderSeed),
        blocks((uint64_t) launch.grid.x * launch.grid.y * launch.grid.z) {
    const unsigned char* at = launch.parameters.data();
    for (size_t size : launch.kernel->parameterSizes) {
      parameters.push_back((void*) at);
      at += (size + PARAMETER_ALIGNMENT - 1) / PARAMETER_ALIGNMENT * PARAMETER_ALIGNMENT;
    }
    if (seed == 0) return;
    first = seed * 2654435761 % blocks;
    stride = seed * 40503 % blocks;
    while (std::gcd(stride, blocks) != 1) stride = (stride + 1) % blocks;
  }
};

void complain(const Grid& grid, const Runner& runner) {
  Index index = runner.block.index;
  fprintf(stderr, "simulated device: kernel %s, block (%u,%u,%u): %s\n",
          grid.launch.kernel->name, index.x, index.y, index.z, runner.complaint);
}

// Runs blocks as long as there are any.
void work(Grid& grid) {
  Runner* runner = takeRunner();
  stack_t mine{};
  stack_t others;
  mine.ss_sp = runner->signalStack;
  mine.ss_size = SIGNAL_STACK_BYTES;
  sigaltstack(&mine, &others);
  runner->block.parameters = grid.parameters.data();
  Index size = grid.launch.grid;
  for (uint64_t turn; (turn = grid.next++) < grid.blocks;) {
    uint64_t number =
        (uint64_t) (((unsigned __int128) turn * grid.stride + grid.first) % grid.blocks);
    Index index{(unsigned) (number % size.x), (unsigned) (number / size.x % size.y),
                (unsigned) (number / size.x / size.y)};
    uint64_t seed = grid.seed == 0 ? 0 : (grid.seed << 32 ^ number) + 1;
    int failure = runBlock(*runner, grid.launch, index, seed);
    int none = SUCCESS;
    if (failure != SUCCESS && grid.failure.compare_exchange_strong(none, failure)) {
      complain(grid, *runner);
      grid.next = grid.blocks;
    }
  }
  sigaltstack(&others, nullptr);
  giveBack(runner);
}

// Threads that wait for grids. They live as long as the process.
class Pool {
 public:
  void run(Grid& grid) {
    std::lock_guard<std::mutex> one(runs);
    unsigned limit = threadLimit != 0 ? threadLimit.load() : std::thread::hardware_concurrency();
    {
      std::lock_guard<std::mutex> guard(lock);
      for (; threads + 1 < limit; threads++) start();
      places = limit - 1;
      current = &grid;
    }
    news.notify_all();
    work(grid);
    std::unique_lock<std::mutex> guard(lock);
    current = nullptr;
    idle.wait(guard, [this] { return busy == 0; });
  }

 private:
  // Signals that are not about the thread itself are for threads of the host program.
  void start() {
    sigset_t others, before;
    sigfillset(&others);
    for (int fault : FAULTS) sigdelset(&others, fault);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    std::thread([this] { serve(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void serve() {
    std::unique_lock<std::mutex> guard(lock);
    for (;;) {
      news.wait(guard, [this] { return current != nullptr && places > 0; });
      Grid& grid = *current;
      places--;
      busy++;
      guard.unlock();
      work(grid);
      guard.lock();
      if (--busy == 0) idle.notify_all();
    }
  }

  std::mutex runs;
  std::mutex lock;
  std::condition_variable news, idle;
  unsigned threads = 0;
  unsigned places = 0;  // for threads that have not yet joined the current grid
  unsigned busy = 0;
  Grid* current = nullptr;
};

Pool& pool = *new Pool;

}  // namespace

void watch(Runner& runner) {
  unsigned place = runnerCount.fetch_add(1);
  if (place < RUNNERS_MAX) runners[place].store(&runner, std::memory_order_release);
}

void catchFaults() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = &onFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    for (int fault : FAULTS) sigaction(fault, &action, &previousActions[fault]);
  });
}

int runGrid(const Launch& launch) {
  catchFaults();
  Grid grid(launch);
  uint64_t lanes = grid.blocks * launch.block.x * launch.block.y * launch.block.z;
  if (grid.blocks == 1 || lanes <= THREADS_WORTH_SHARING || threadLimit == 1)
    work(grid);
  else
    pool.run(grid);
  return grid.failure;
}

}  // namespace simulated
