// See fibers.h.
#include "fibers.h"

#include <cstdint>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
#define WITH_UCONTEXT 1
#include <ucontext.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace emulator {

constexpr size_t STACK_BYTES = 128 << 10;

#if !defined(WITH_UCONTEXT)

// What a function keeps for its caller goes on the stack; then stacks are exchanged.
asm(R"(
.text
.type emulator_switch, @function
emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");
extern "C" void emulator_switch(void** from, void* to);

void Fiber::start(void (*run)()) {
  if (stack_ == nullptr) stack_ = std::aligned_alloc(64, STACK_BYTES);
  void** top = (void**)((char*)stack_ + STACK_BYTES);
  *--top = nullptr;  // where `run` would return to: it does not
  *--top = (void*)run;
  for (int saved = 0; saved < 6; saved++) *--top = nullptr;
  state_ = top;
}

void Fiber::change(Fiber& from, Fiber& to) { emulator_switch(&from.state_, to.state_); }

Fiber::~Fiber() { std::free(stack_); }

#else

void Fiber::start(void (*run)()) {
  if (stack_ == nullptr) {
    stack_ = std::malloc(STACK_BYTES);
    state_ = new ucontext_t;
  }
  ucontext_t& context = *(ucontext_t*)state_;
  getcontext(&context);
  context.uc_stack.ss_sp = stack_;
  context.uc_stack.ss_size = STACK_BYTES;
  context.uc_link = nullptr;
  makecontext(&context, run, 0);
#if defined(__SANITIZE_THREAD__)
  if (sanitizer_ == nullptr) sanitizer_ = __tsan_create_fiber(0);
#endif
}

void Fiber::change(Fiber& from, Fiber& to) {
  if (from.state_ == nullptr) from.state_ = new ucontext_t;
#if defined(__SANITIZE_THREAD__)
  if (from.sanitizer_ == nullptr) from.sanitizer_ = __tsan_get_current_fiber();
  // switching orders the two: one OS thread runs both
  __tsan_switch_to_fiber(to.sanitizer_, 0);
#endif
  swapcontext((ucontext_t*)from.state_, (ucontext_t*)to.state_);
}

Fiber::~Fiber() {
  delete (ucontext_t*)state_;
  std::free(stack_);
}

#endif

}  // namespace emulator
