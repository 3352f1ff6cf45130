// Losses of tested rows with a column as it is and permuted, and what a test needs of their differences.

struct Pairs {
  const double* labels;   // (n_tested,)
  const double* weights;  // (n_tested,) of the losses
  const double* totals;   // (n_splits,) of the weights
  const int* sources;     // (n_draws, n_tested): the row whose prediction a tested row gets
  const int* ends;        // (n_splits + 1,): where the test parts begin and end
  long long n_tested;
  long long n_draws;
  long long n_splits;
  long long n_classes;    // 0 for numbers
  long long loss;
  long long is_by_row;    // whether a pair is a tested row, or the mean over a test part
  long long is_rest;      // whether the probability of class 0 is 1 less that of class 1, or computed by itself
};

DEVICE double loss_at(const Pairs& pairs, double label, double score) {
  if (score != score) return score;
  if (!pairs.n_classes) return pairs.loss == SQUARED ? (label - score) * (label - score) : fabs(label - score);
  if (pairs.loss == ZERO_ONE) return (score > 0.0) == (label > 0.5) ? 0.0 : 1.0;
  double share = 1.0 / (1.0 + exp(-score));
  if (label < 0.5) share = pairs.is_rest ? 1.0 - share : 1.0 / (1.0 + exp(score));
  return pairs.loss == LOG ? log_loss(share) : 2.0 * (1.0 - share) * (1.0 - share);
}

// Replace the scores of three and more classes in a tested row by the losses that rows of each class have there;
// `scores` (n_tested, n_classes, n_columns).
KERNEL losses_by_class(const Pairs* all, long long n_columns, double* scores) {
  const Pairs& pairs = *all;
  long long place = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (place >= pairs.n_tested * n_columns) return;
  int n_classes = (int)pairs.n_classes, likeliest = 0;
  Cells own = {scores + place / n_columns * n_classes * n_columns + place % n_columns, n_columns};
  for (int label = 1; label < n_classes; ++label) likeliest = own[label] > own[likeliest] ? label : likeliest;
  double top = own[likeliest], total = 0.0, squares = 0.0;
  for (int label = 0; label < n_classes; ++label) {
    own[label] = exp(own[label] - top);
    total += own[label];
  }
  for (int label = 0; label < n_classes; ++label) {
    own[label] /= total;
    squares += own[label] * own[label];
  }
  for (int label = 0; label < n_classes; ++label) {
    double share = own[label];
    if (share != share) continue;
    if (pairs.loss == LOG) own[label] = log_loss(share);
    else if (pairs.loss == BRIER) own[label] = squares - share * share + (share - 1.0) * (share - 1.0);
    else own[label] = label == likeliest ? 0.0 : 1.0;
  }
}

// The loss of a row whose prediction is that of a tested row.
DEVICE double loss_from(const Pairs& pairs, double label, const double* own, long long slot, long long n_columns) {
  if (pairs.n_classes > 2) return own[(slot * pairs.n_classes + (int)label) * n_columns];
  return loss_at(pairs, label, own[slot * n_columns]);
}

// `scores` (n_tested, n_columns), or what `losses_by_class` made of them; `base` and `replaced` (n_pairs, n_columns).
KERNEL pair_risks(const Pairs* all, const double* scores, long long n_columns, double* base, double* replaced) {
  const Pairs& pairs = *all;
  long long place = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  long long n_pairs = pairs.is_by_row ? pairs.n_tested : pairs.n_splits;
  if (place >= n_pairs * n_columns) return;
  long long pair = place / n_columns;
  const double* own = scores + place % n_columns;
  int first = pairs.is_by_row ? (int)pair : pairs.ends[pair];
  int end = pairs.is_by_row ? (int)pair + 1 : pairs.ends[pair + 1];
  double before = 0.0, after = 0.0;
  for (int slot = first; slot < end; ++slot) {
    double label = pairs.labels[slot], weight = pairs.weights[slot], sum = 0.0;
    before += weight * loss_from(pairs, label, own, slot, n_columns);
    for (int draw = 0; draw < (int)pairs.n_draws; ++draw) {
      sum += loss_from(pairs, label, own, pairs.sources[draw * pairs.n_tested + slot], n_columns);
    }
    after += weight * (sum / (double)pairs.n_draws);
  }
  double total = pairs.is_by_row ? 1.0 : pairs.totals[pair];
  base[place] = before / total;
  replaced[place] = after / total;
}

// Mean, standard deviation and effective number of the differences, after rounding; `moments` (3, n_columns). The deviation
// is -1 where no pair differs. The twin of `risk_differences` and `moments_of`.
KERNEL pair_moments(const double* base, const double* replaced, int n_pairs, long long n_columns, double* moments) {
  long long column = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= n_columns) return;
  double largest = 0.0;
  bool is_finite = true;
  for (int pair = 0; pair < n_pairs; ++pair) {
    double before = fabs(base[pair * n_columns + column]), after = fabs(replaced[pair * n_columns + column]);
    double larger = before > after ? before : after;
    is_finite = is_finite && before < INFINITE && after < INFINITE;
    largest = larger > largest ? larger : largest;
  }
  int exponent;
  frexp(largest, &exponent);
  double step = ldexp(1.0, exponent - 33), sum = 0.0, widest = 0.0, n = (double)n_pairs;
  for (int pair = 0; pair < n_pairs; ++pair) {
    long long place = pair * n_columns + column;
    double difference = rint((replaced[place] - base[place]) / step) * step;
    sum += difference;
    widest = fabs(difference) > widest ? fabs(difference) : widest;
  }
  double mean = sum / n, squares = 0.0, total = 0.0, fourth = 0.0, unit = widest == 0.0 ? 1.0 : widest;
  for (int pair = 0; pair < n_pairs; ++pair) {
    long long place = pair * n_columns + column;
    double difference = rint((replaced[place] - base[place]) / step) * step;
    squares += (difference - mean) * (difference - mean);
    double share = difference / unit * (difference / unit);
    total += share;
    fourth += share * share;
  }
  double freedom = total * total / (total == 0.0 ? 1.0 : fourth);
  freedom = freedom < 1.0 ? 1.0 : freedom > n - 1.0 ? n - 1.0 : freedom;
  moments[column] = is_finite ? mean : NOT_A_NUMBER;
  moments[n_columns + column] = widest == 0.0 ? -1.0 : sqrt(squares / (n - 1.0));
  moments[2 * n_columns + column] = freedom;
}
