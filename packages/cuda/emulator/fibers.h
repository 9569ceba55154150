// Fibers: stacks of their own that one OS thread switches between. Few instructions on x86-64; ucontext elsewhere and
// under sanitizers (ThreadSanitizer is told of switches).
#pragma once
#include <cstddef>

namespace emulator {

class Fiber {
 public:
  /// Runs `run()` on a stack of its own when it is switched to; `run` ends by switching away for good.
  void start(void (*run)());
  /// Stops `from`, and goes on with `to`. A default-made Fiber is the stack of the OS thread.
  static void change(Fiber& from, Fiber& to);
  Fiber() = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber();

 private:
  void* stack_ = nullptr;
  /// The stack pointer, or the ucontext.
  void* state_ = nullptr;
  void* sanitizer_ = nullptr;
};

}  // namespace emulator
