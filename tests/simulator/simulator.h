// Runs CUDA kernels on the CPU: the threads of a block are fibers, which take turns at barriers.
//
// Within a phase between two barriers the threads run one after the other, forwards or backwards as `is_backwards` says:
// a kernel that lacks a barrier gives another answer backwards than forwards, or another one than its twin.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>
#include <ucontext.h>

using std::ceil;
using std::exp;
using std::fabs;
using std::floor;
using std::frexp;
using std::ldexp;
using std::log;
using std::rint;
using std::sqrt;

#define DEVICE inline
#define KERNEL extern "C" void
#define SHARED_MEMORY(name) unsigned char* name = simulator::shared_memory

namespace simulator {

struct Index {
  unsigned int x;
};

enum Waiting { RUNS, AT_BLOCK, AT_WARP, IS_DONE };

struct Fiber {
  ucontext_t context;
  std::vector<char> stack;
  Waiting waits_at = RUNS;
  unsigned int sent = 0;  // to the other lanes of the warp
  int vote = 0;
};

inline Index threadIdx, blockIdx, blockDim, gridDim;
inline unsigned char* shared_memory;
inline std::vector<Fiber> fibers;
inline ucontext_t scheduler;
inline int block_vote;
inline bool is_backwards;
inline void (*body)(void*);
inline void* body_argument;

constexpr int WARP = 32;

inline Fiber& current() { return fibers[threadIdx.x]; }

inline void wait_at(Waiting barrier) {
  unsigned int own = threadIdx.x;
  fibers[own].waits_at = barrier;
  swapcontext(&fibers[own].context, &scheduler);
  threadIdx.x = own;
}

inline void enter() {
  unsigned int own = threadIdx.x;
  body(body_argument);
  fibers[own].waits_at = IS_DONE;
  swapcontext(&fibers[own].context, &scheduler);
}

// Let the threads of a barrier go on: those of a warp when all of them are there, then those of the block.
inline bool release() {
  bool any = false;
  int n_threads = (int)fibers.size();
  for (int first = 0; first < n_threads; first += WARP) {
    int end = first + WARP < n_threads ? first + WARP : n_threads, n_there = 0, n_done = 0;
    for (int thread = first; thread < end; ++thread) {
      n_there += fibers[thread].waits_at == AT_WARP;
      n_done += fibers[thread].waits_at == IS_DONE;
    }
    if (n_there && n_there + n_done == end - first) {
      for (int thread = first; thread < end; ++thread) {
        if (fibers[thread].waits_at == AT_WARP) fibers[thread].waits_at = RUNS;
      }
      any = true;
    }
  }
  if (any) return true;
  int n_there = 0, n_done = 0;
  block_vote = 0;
  for (Fiber& fiber : fibers) {
    n_there += fiber.waits_at == AT_BLOCK;
    n_done += fiber.waits_at == IS_DONE;
    if (fiber.waits_at == AT_BLOCK) block_vote |= fiber.vote;
  }
  if (n_done == n_threads) return false;
  if (n_there + n_done != n_threads) {
    std::fprintf(stderr, "some threads wait at a barrier of the block, others at one of their warp\n");
    std::abort();
  }
  for (Fiber& fiber : fibers) {
    if (fiber.waits_at == AT_BLOCK) fiber.waits_at = RUNS;
  }
  return true;
}

inline void run_block(int n_threads) {
  fibers.resize(n_threads);
  for (int thread = 0; thread < n_threads; ++thread) {
    Fiber& fiber = fibers[thread];
    fiber.stack.resize(65536);
    fiber.waits_at = RUNS;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = fiber.stack.size();
    fiber.context.uc_link = &scheduler;
    makecontext(&fiber.context, enter, 0);
  }
  do {
    for (int turn = 0; turn < n_threads; ++turn) {
      int thread = is_backwards ? n_threads - 1 - turn : turn;
      if (fibers[thread].waits_at != RUNS) continue;
      threadIdx.x = thread;
      swapcontext(&scheduler, &fibers[thread].context);
    }
  } while (release());
}

template <class... Arguments, std::size_t... Places>
void call(void (*kernel)(Arguments...), void** arguments, std::index_sequence<Places...>) {
  kernel(*static_cast<std::remove_reference_t<Arguments>*>(arguments[Places])...);
}

template <class... Arguments>
void launch(void (*kernel)(Arguments...), int n_blocks, int n_threads, int n_bytes, int backwards, void** arguments) {
  struct Call {
    void (*kernel)(Arguments...);
    void** arguments;
  } own = {kernel, arguments};
  body = [](void* argument) {
    Call* call_of = static_cast<Call*>(argument);
    call(call_of->kernel, call_of->arguments, std::index_sequence_for<Arguments...>());
  };
  body_argument = &own;
  is_backwards = backwards != 0;
  blockDim.x = n_threads;
  gridDim.x = n_blocks;
  // What is written beyond the memory that was asked for damages the pattern behind it.
  std::vector<unsigned char> memory(n_bytes + 64);
  shared_memory = memory.data();
  for (int turn = 0; turn < n_blocks; ++turn) {
    std::memset(memory.data(), 0xA5, memory.size());
    blockIdx.x = is_backwards ? n_blocks - 1 - turn : turn;
    run_block(n_threads);
    for (int place = n_bytes; place < n_bytes + 64; ++place) {
      if (memory[place] != 0xA5) {
        std::fprintf(stderr, "a block wrote beyond its shared memory\n");
        std::abort();
      }
    }
  }
}

}  // namespace simulator

using simulator::blockDim;
using simulator::blockIdx;
using simulator::gridDim;
using simulator::threadIdx;

inline void __syncthreads() { simulator::wait_at(simulator::AT_BLOCK); }
inline void __syncwarp() { simulator::wait_at(simulator::AT_WARP); }

inline int __syncthreads_or(int vote) {
  simulator::current().vote = vote;
  __syncthreads();
  int answer = simulator::block_vote;
  simulator::current().vote = 0;
  __syncthreads();
  return answer != 0;
}

inline unsigned int __shfl_xor_sync(unsigned int, unsigned int value, int apart) {
  simulator::current().sent = value;
  __syncwarp();
  unsigned int received = simulator::fibers[simulator::threadIdx.x ^ apart].sent;
  __syncwarp();
  return received;
}

inline int __popc(unsigned int bits) { return __builtin_popcount(bits); }

template <class Number>
Number atomicAdd(Number* place, Number amount) {
  Number before = *place;
  *place += amount;
  return before;
}

inline int atomicOr(int* place, int bits) {
  int before = *place;
  *place |= bits;
  return before;
}

template <class To, class From>
To same_bits(From from) {
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

inline unsigned int __float_as_uint(float value) { return same_bits<unsigned int>(value); }
inline float __uint_as_float(unsigned int bits) { return same_bits<float>(bits); }
inline double __longlong_as_double(long long bits) { return same_bits<double>(bits); }
inline long long __double_as_longlong(double value) { return same_bits<long long>(value); }

#define SIMULATED(kernel)                                                                                     \
  extern "C" void simulate_##kernel(int n_blocks, int n_threads, int n_bytes, int backwards, void** arguments) { \
    simulator::launch(kernel, n_blocks, n_threads, n_bytes, backwards, arguments);                            \
  }
