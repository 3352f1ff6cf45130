// Random orders of the rows, and which rearranged columns stand out by a quick look; see `exact_tail.py`.

// Join two keys; the twin of `combine`.
DEVICE Word combine(Word key, Word other) {
  const Word golden = 0x9E3779B97F4A7C15ull;
  Word mixed = (key ^ (other + golden)) + golden;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ull;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBull;
  return mixed ^ (mixed >> 31);
}

// Shuffle the rows once per thread; the twin of `_fill_permutations`. `orders` (n_rows, n_draws): the row that each row
// takes its value from. Every seed makes `n_per_seed` draws.
KERNEL draw_orders(const Word* seeds, long long n_per_seed, int n_rows, long long n_draws, int* orders) {
  long long draw = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (draw >= n_draws) return;
  Word key = combine(combine(seeds[draw / n_per_seed], 0), (Word)(draw % n_per_seed)), n_drawn = 0;
  int* order = orders + draw;
  for (long long i = 0; i < n_rows; ++i) order[i * n_draws] = (int)i;
  for (long long i = n_rows - 1; i > 0; --i) {
    Word size = (Word)(i + 1), product = (combine(key, n_drawn++) >> 32) * size;
    if ((product & 0xFFFFFFFFull) < size) {
      Word rejected = (0x100000000ull - size) % size;
      while ((product & 0xFFFFFFFFull) < rejected) product = (combine(key, n_drawn++) >> 32) * size;
    }
    long long other = (long long)(product >> 32);
    int mine = order[i * n_draws];
    order[i * n_draws] = order[other * n_draws];
    order[other * n_draws] = mine;
  }
}

#define VIEWS 3

// What columns are compared with; see `Screening` and `TailBound`.
struct Screened {
  const double* directions;  // (n_directions, n_rows); the first two of a column are its values and its ranks
  const long long* starts;   // (VIEWS * n_columns + 1,): the first direction of each view
  const double* bounds;      // (VIEWS * n_columns,)
  const double* outputs;     // (n_outputs, n_rows)
  const double* members;     // (n_contrasts, n_rows): 1 for the rows that are compared with all others
  const double* least;       // (n_contrasts,): squared sums from which a p-value may have a tiny bound
  long long n_rows;
  long long n_outputs;
  long long n_contrasts;
};

// The product of a rearranged direction with a vector over the rows.
DEVICE double product_of(const double* direction, const double* vector, const int* order, long long n_draws, int n_rows) {
  double sum = 0.0;
  for (long long row = 0; row < n_rows; ++row) sum += direction[order[row * n_draws]] * vector[row];
  return sum;
}

// `flags` (n_columns, n_draws): 0, 1 where a draw stands out, 3 where its p-value may have a tiny bound besides.
KERNEL screen_draws(const Screened* all, const int* orders, long long n_draws, long long n_columns, unsigned char* flags) {
  const Screened& screened = *all;
  long long place = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (place >= n_columns * n_draws) return;
  long long column = place / n_draws;
  const int* order = orders + place % n_draws;
  int n_rows = (int)screened.n_rows, flag = 0;
  for (int view = 0; view < VIEWS && !flag; ++view) {
    long long number = column * VIEWS + view;
    double length = 0.0;
    for (long long one = screened.starts[number]; one < screened.starts[number + 1]; ++one) {
      for (long long output = 0; output < screened.n_outputs; ++output) {
        double along = product_of(screened.directions + one * n_rows, screened.outputs + output * n_rows, order, n_draws, n_rows);
        length += along * along;
      }
    }
    flag = length >= screened.bounds[number];
  }
  const double* own = screened.directions + screened.starts[column * VIEWS] * n_rows;
  for (long long contrast = 0; flag && contrast < 2 * screened.n_contrasts; ++contrast) {
    const double* members = screened.members + contrast / 2 * n_rows;
    double sum = product_of(own + contrast % 2 * n_rows, members, order, n_draws, n_rows);
    if (sum * sum >= screened.least[contrast / 2]) flag = 3;
  }
  flags[place] = (unsigned char)flag;
}

// Rearrange columns: `X` (n_rows, n_copies). `places` (2, n_copies): the column, and the draw, of each copy.
template <class Number>
DEVICE void gather(const Number* columns, const int* orders, const int* places, int n_rows, long long n_draws,
                   long long n_copies, Number* X) {
  long long place = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (place >= n_rows * n_copies) return;
  long long copy = place % n_copies, row = place / n_copies;
  X[place] = columns[(long long)places[copy] * n_rows + orders[row * n_draws + places[n_copies + copy]]];
}

KERNEL gather_floats(const float* columns, const int* orders, const int* places, int n_rows, long long n_draws,
                     long long n_copies, float* X) {
  gather(columns, orders, places, n_rows, n_draws, n_copies, X);
}

KERNEL gather_doubles(const double* columns, const int* orders, const int* places, int n_rows, long long n_draws,
                      long long n_copies, double* X) {
  gather(columns, orders, places, n_rows, n_draws, n_copies, X);
}
