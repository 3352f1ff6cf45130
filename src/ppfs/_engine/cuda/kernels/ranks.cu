// What a signed-rank test over splits needs of the risks of a column; the twin of `risk_differences` and `signed_ranks`.

// `base` and `replaced` (n_columns, n_pairs); differences are left in `base`. `sums` (5, n_columns): the mean, which is NaN
// where a risk is not finite; -1 where no pair differs, else 1; and the fields of `SignedRanks`.
KERNEL rank_sums(double* base, const double* replaced, int n_pairs, long long n_columns, double* sums) {
  long long column = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n_columns) return;
  double* before = base + column * n_pairs;
  const double* after = replaced + column * n_pairs;
  double largest = 0.0, total = 0.0, positive = 0.0, zero = 0.0, tied = 0.0;
  bool is_finite = true;
  for (int pair = 0; pair < n_pairs; ++pair) {
    double one = fabs(before[pair]), other = fabs(after[pair]), larger = one > other ? one : other;
    is_finite = is_finite && one < INFINITE && other < INFINITE;
    largest = larger > largest ? larger : largest;
  }
  int exponent;
  frexp(largest, &exponent);
  double step = ldexp(1.0, exponent - 33);
  for (int pair = 0; pair < n_pairs; ++pair) {
    before[pair] = rint((after[pair] - before[pair]) / step) * step;
    total += before[pair];
  }
  for (int i = 0; i < n_pairs; ++i) {
    double size = fabs(before[i]);
    int n_below = 0, n_equal = 0;
    for (int j = 0; j < n_pairs; ++j) {
      n_below += fabs(before[j]) < size;
      n_equal += fabs(before[j]) == size;
    }
    double rank = (double)n_below + (double)(n_equal + 1) / 2.0;
    if (before[i] > 0.0) positive += rank;
    if (size == 0.0) zero += rank;
    tied += (double)n_equal * (double)n_equal - 1.0;
  }
  sums[column] = is_finite ? total / (double)n_pairs : NOT_A_NUMBER;
  sums[n_columns + column] = zero == (double)n_pairs * (double)(n_pairs + 1) / 2.0 ? -1.0 : 1.0;
  sums[2 * n_columns + column] = positive;
  sums[3 * n_columns + column] = zero;
  sums[4 * n_columns + column] = tied;
}
