// See blocks.h. A thread of a block gets a fiber when it begins, and gives it to the next one when it ends, so that
// kernels without barriers need one. WARPMAP_EMULATOR_THREADS: OS threads, 4 unless told.
#include "blocks.h"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "fibers.h"

namespace emulator {

WARPMAP_NEAR Dimensions thread, block, blocks, threads;
WARPMAP_NEAR unsigned char* dynamicShared;

namespace {

struct Launch {
  Kernel kernel;
  void* const* parameters;
  Dimensions grid, block;
  unsigned sharedBytes;
  std::atomic<uint64_t> nextBlock{0};
};

/// A barrier that its users pass together, again and again.
struct Meeting {
  unsigned arrived = 0;
  unsigned round = 0;
};

struct Warp : Meeting {
  /// Of this round and the one before, which some lanes still read.
  uint64_t brought[2][32];
};

/// A thread of a block.
struct Thread {
  std::unique_ptr<Fiber> fiber;
  /// What it waits for, in which round.
  const Meeting* meeting = nullptr;
  unsigned round = 0;
  bool hasEnded = false;
  bool mayRun() const { return !hasEnded && (meeting == nullptr || meeting->round != round); }
};

/// The block that an OS thread runs.
struct Running {
  const Launch* launch = nullptr;
  unsigned alive = 0;
  Meeting all;
  std::vector<Warp> warps;
  std::vector<std::unique_ptr<Fiber>> spare;
  std::vector<Thread> threads;
  Fiber scheduler;
  unsigned current = 0;
  std::vector<unsigned char> shared;

  /// The next thread in turn that does not wait.
  unsigned next() const {
    unsigned t = current;
    do t = t + 1 < threads.size() ? t + 1 : 0;
    while (!threads[t].mayRun());
    return t;
  }
};

WARPMAP_NEAR Running* running;

/// Goes on with the next thread, and returns when this one's turn has come again. The scheduler begins threads.
void leave() {
  Running& now = *running;
  const Dimensions at = thread;
  Fiber& from = *now.threads[now.current].fiber;
  const unsigned next = now.next();
  Fiber* to = now.threads[next].fiber.get();
  if (to != nullptr) now.current = next;
  Fiber::change(from, to == nullptr ? now.scheduler : *to);
  thread = at;
}

void pass(Meeting& meeting, unsigned members) {
  const unsigned round = meeting.round;
  if (++meeting.arrived >= members) {
    meeting.arrived = 0;
    meeting.round++;
    return;
  }
  Thread& mine = running->threads[running->current];
  mine.meeting = &meeting;
  mine.round = round;
  leave();
  mine.meeting = nullptr;
}

void runThread() {
  running->launch->kernel(running->launch->parameters);
  Running& now = *running;
  Thread& mine = now.threads[now.current];
  mine.hasEnded = true;
  now.alive--;
  if (now.all.arrived > 0 && now.all.arrived >= now.alive) {
    now.all.arrived = 0;
    now.all.round++;
  }
  Fiber::change(*mine.fiber, now.scheduler);
  std::abort();
}

void runBlock(const Launch& launch, uint64_t number) {
  thread_local Running ofThread;
  running = &ofThread;
  Running& now = ofThread;
  const unsigned size = launch.block.x;
  now.launch = &launch;
  now.alive = size;
  now.all = Meeting();
  now.warps.assign((size + 31) / 32, Warp());
  now.threads.clear();
  now.threads.resize(size);
  now.shared.resize(launch.sharedBytes + 16);
  dynamicShared = now.shared.data() + (16 - uintptr_t(now.shared.data()) % 16) % 16;
  block = {unsigned(number % launch.grid.x), unsigned(number / launch.grid.x), 0};
  blocks = launch.grid;
  threads = launch.block;
  now.current = size - 1;
  while (now.alive > 0) {
    const unsigned t = now.next();
    now.current = t;
    if (now.threads[t].fiber == nullptr) {
      thread = {t, 0, 0};
      if (now.spare.empty()) now.spare.push_back(std::make_unique<Fiber>());
      now.threads[t].fiber = std::move(now.spare.back());
      now.spare.pop_back();
      now.threads[t].fiber->start(runThread);
    }
    Fiber::change(now.scheduler, *now.threads[t].fiber);
    Thread& last = now.threads[now.current];
    if (last.hasEnded) now.spare.push_back(std::move(last.fiber));
  }
}

void runBlocks(Launch& launch) {
  const uint64_t count = uint64_t(launch.grid.x) * launch.grid.y;
  for (uint64_t number; (number = launch.nextBlock.fetch_add(1)) < count;) runBlock(launch, number);
}

/// OS threads that wait for launches. They live as long as the process.
class Pool {
 public:
  Pool() {
    const char* wanted = std::getenv("WARPMAP_EMULATOR_THREADS");
    const int count = wanted == nullptr ? 4 : std::atoi(wanted);
    for (int i = 0; i < count; i++) std::thread([this] { work(); }).detach();
    size_ = count;
  }
  void run(Launch& launch) {
    std::lock_guard<std::mutex> one(launching_);
    std::unique_lock<std::mutex> lock(mutex_);
    launch_ = &launch;
    round_++;
    busy_ = size_;
    wake_.notify_all();
    done_.wait(lock, [this] { return busy_ == 0; });
  }

 private:
  void work() {
    unsigned seen = 0;
    for (;;) {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [&] { return round_ != seen; });
      seen = round_;
      Launch& launch = *launch_;
      lock.unlock();
      runBlocks(launch);
      lock.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }
  std::mutex launching_, mutex_;
  std::condition_variable wake_, done_;
  Launch* launch_ = nullptr;
  unsigned round_ = 0;
  int size_ = 0, busy_ = 0;
};

}  // namespace

void barrier() { pass(running->all, running->alive); }

const uint64_t* exchange(uint64_t mine) {
  Warp& warp = running->warps[thread.x / 32];
  uint64_t* brought = warp.brought[warp.round % 2];
  brought[thread.x % 32] = mine;
  pass(warp, 32);
  return brought;
}

unsigned lane() { return thread.x % 32; }

void pause() { std::this_thread::yield(); }

void runGrid(Kernel kernel, void* const* parameters, Dimensions grid, Dimensions block, unsigned sharedBytes) {
  static Pool& pool = *new Pool;
  Launch launch{kernel, parameters, grid, block, sharedBytes};
  if (grid.x == 1 && grid.y == 1) runBlocks(launch);
  else pool.run(launch);
}

}  // namespace emulator
