// What every kernel shares. The same source is compiled for a GPU, and in the tests for the CPU, where
// `simulator.h` runs the threads of a block one after the other from barrier to barrier.

#ifdef __CUDACC__
#define DEVICE __device__ __forceinline__
#define KERNEL extern "C" __global__ void
#define SHARED_MEMORY(name) extern __shared__ __align__(16) unsigned char name[]
#else
#include "simulator.h"
#endif

typedef unsigned long long Word;

#define INFINITE (__longlong_as_double(0x7ff0000000000000LL))
#define NOT_A_NUMBER (__longlong_as_double(0x7ff8000000000000LL))

// scikit-learn's FEATURE_THRESHOLD: values that differ by no more are tied. Added in float32.
#define TIE 1e-7f

// What `roles` says of a row that is not in the test part of a split; test rows name the row that receives their value.
#define TRAIN -1

// See `LossCode` and `Criterion`.
enum Loss { LOG = 0, BRIER = 1, ZERO_ONE = 2, SQUARED = 3, ABSOLUTE = 4 };
enum Criterion { GINI = 0, ENTROPY = 1, SQUARED_ERROR = 2 };

// What `mark_ties` finds in a column.
enum Ties { DISTINCT = 0, TIED = 1, ENTANGLED = 2 };

// A vector of one thread: those of all threads are interleaved, so that neighboring threads touch neighboring numbers.
struct Cells {
  double* first;
  long long step;
  DEVICE double& operator[](long long index) const { return first[index * step]; }
  DEVICE Cells from(long long index) const { return {first + index * step, step}; }
};

// A sum, and what rounding took from it.
struct Sum {
  double total;
  double lost;
};

// Add to a compensated sum (Neumaier); the twin of `add_loss`.
DEVICE void add_loss(Sum& sum, double loss) {
  double old = sum.total, now = old + loss;
  sum.lost += fabs(old) >= fabs(loss) ? (old - now) + loss : (loss - now) + old;
  sum.total = now;
}

// Add the same loss many times, with the result of adding it one by one without rounding; the twin of
// `add_repeated_loss`.
DEVICE void add_repeated_loss(Sum& sum, double loss, double times) {
  double shifted = loss * 134217729.0;
  double high = shifted - (shifted - loss);
  add_loss(sum, times * high);
  add_loss(sum, times * (loss - high));
}

// The threshold between two float32 values: the sum of halves, in float64.
DEVICE double midpoint(float low, float high) { return (double)low / 2.0 + (double)high / 2.0; }
