// Cubic splines of single columns with five equally spaced knots, the defaults of scikit-learn's SplineTransformer, before
// ridge regression or logistic regression of two classes.
//
// The coefficients are those of the splines themselves. That is the CPU's problem in other units: Newton's method takes
// the same steps in any units. Splines add up to 1, so that products with the intercept are sums of products of splines.

#define KNOTS 5
#define SPLINES 7
#define AT_ONCE 4                           // splines that are not zero at a number
#define UNKNOWNS (SPLINES + 1)              // and the intercept

// The places of a number among the knots: an interval, and the values of the splines that begin there.
struct Basis {
  int interval;
  double values[AT_ONCE];
};

struct Knots {
  double low;
  double high;
  double apart;

  DEVICE bool are_apart() const { return apart > 0.0 && low + apart > low && high - apart < high; }

  DEVICE Basis at(double x) const {
    x = x < low ? low : x > high ? high : x;
    int interval = 0;
#pragma unroll
    for (int knot = 1; knot < KNOTS - 1; ++knot) interval += x >= low + (double)knot * apart;
    double t = (x - (low + (double)interval * apart)) / apart, s = 1.0 - t;
    Basis basis = {interval,
                   {s * s * s / 6.0, (3.0 * t * t * t - 6.0 * t * t + 4.0) / 6.0,
                    (3.0 * s * s * s - 6.0 * s * s + 4.0) / 6.0, t * t * t / 6.0}};
    return basis;
  }
};

// Equally spaced between the extremes of the train rows.
template <class Number>
DEVICE Knots knots_of(const Task<Number>& task) {
  double low = INFINITE, high = -INFINITE;
  for (int row = 0; row < task.n_rows; ++row) {
    if (!task.is_train(row)) continue;
    double value = task.column.seen(row);
    low = value < low ? value : low;
    high = value > high ? value : high;
  }
  Knots knots = {low, high, (high - low) / (double)(KNOTS - 1)};
  return knots;
}

// Sums over the train rows. `products[r * AT_ONCE + k]` is that of the splines r and r + k.
struct Sums {
  double value;
  double gradient[SPLINES];
  double products[SPLINES * AT_ONCE];
};

template <int INTERVAL>
DEVICE double score_in(const double* coefficients, const double* values) {
  double score = coefficients[SPLINES];
#pragma unroll
  for (int k = 0; k < AT_ONCE; ++k) score += values[k] * coefficients[INTERVAL + k];
  return score;
}

template <int INTERVAL>
DEVICE void add_in(Sums& sums, const double* values, double rest, double weight) {
#pragma unroll
  for (int k = 0; k < AT_ONCE; ++k) {
    sums.gradient[INTERVAL + k] += values[k] * rest;
    double weighted = values[k] * weight;
#pragma unroll
    for (int l = k; l < AT_ONCE; ++l) sums.products[(INTERVAL + k) * AT_ONCE + l - k] += weighted * values[l];
  }
}

// Branches for each interval, so that sums stay in registers.
DEVICE double score_of(const double* coefficients, const Basis& basis) {
  if (basis.interval == 0) return score_in<0>(coefficients, basis.values);
  if (basis.interval == 1) return score_in<1>(coefficients, basis.values);
  if (basis.interval == 2) return score_in<2>(coefficients, basis.values);
  return score_in<3>(coefficients, basis.values);
}

DEVICE void add_to(Sums& sums, const Basis& basis, double rest, double weight) {
  if (basis.interval == 0) add_in<0>(sums, basis.values, rest, weight);
  else if (basis.interval == 1) add_in<1>(sums, basis.values, rest, weight);
  else if (basis.interval == 2) add_in<2>(sums, basis.values, rest, weight);
  else add_in<3>(sums, basis.values, rest, weight);
}

// The objective at some coefficients, and its derivatives.
template <class Number>
DEVICE void add_up(const Panel& panel, const Task<Number>& task, const Knots& knots, double penalty,
                   const double* coefficients, Sums& sums) {
  sums.value = 0.0;
#pragma unroll
  for (int place = 0; place < SPLINES; ++place) sums.gradient[place] = 0.0;
#pragma unroll
  for (int place = 0; place < SPLINES * AT_ONCE; ++place) sums.products[place] = 0.0;
  LogProduct likelihood = {0.0, 1.0};
  for (int row = 0; row < task.n_rows; ++row) {
    if (!task.is_train(row)) continue;
    Basis basis = knots.at(task.column.seen(row));
    double score = score_of(coefficients, basis), weight = task.weight(row);
    if (panel.n_classes) {
      double share = share_at(score, task.labels[row], weight, likelihood);
      add_to(sums, basis, weight * (task.labels[row] - share), weight * (share * (1.0 - share)));
    } else {
      add_to(sums, basis, weight * (task.labels[row] - task.label_mean - score), weight);
    }
  }
  sums.value = likelihood.value();
#pragma unroll
  for (int place = 0; place < SPLINES; ++place) {
    sums.value += 0.5 * penalty * coefficients[place] * coefficients[place];
  }
}

// One step of Newton's method from `coefficients`; returns the improvement that it promises, or -1 if there is no step.
DEVICE double step_from(const Sums& sums, double penalty, const double* coefficients, double* moves) {
  double matrix[UNKNOWNS * UNKNOWNS], right[UNKNOWNS];
  double all = 0.0, rest = 0.0;
#pragma unroll
  for (int r = 0; r < SPLINES; ++r) {
    double with_intercept = 0.0;
#pragma unroll
    for (int s = 0; s < SPLINES; ++s) {
      const int low = r < s ? r : s, apart = r < s ? s - r : r - s;
      double product = apart < AT_ONCE ? sums.products[low * AT_ONCE + apart] : 0.0;
      with_intercept += product;
      if (s <= r) matrix[r * UNKNOWNS + s] = product + (r == s ? penalty : 0.0);
    }
    matrix[SPLINES * UNKNOWNS + r] = with_intercept;
    all += with_intercept;
    rest += sums.gradient[r];
    right[r] = sums.gradient[r] - penalty * coefficients[r];
  }
  matrix[SPLINES * UNKNOWNS + SPLINES] = all;
  right[SPLINES] = rest;
  if (!solve_positive<UNKNOWNS>(matrix, right, moves)) return -1.0;
  double promised = 0.0;
#pragma unroll
  for (int r = 0; r < UNKNOWNS; ++r) promised += right[r] * moves[r];
  return promised;
}

// Fill the coefficients of a model; returns false if there is none.
template <class Number>
DEVICE bool fit_splines(const Panel& panel, const Task<Number>& task, const Knots& knots, const Fit& fit,
                        double* coefficients) {
  double moves[UNKNOWNS], trial[UNKNOWNS];
#pragma unroll
  for (int r = 0; r < UNKNOWNS; ++r) coefficients[r] = 0.0;
  if (panel.n_classes) coefficients[SPLINES] = log_odds(task.label_mean);
  Sums sums;
  add_up(panel, task, knots, fit.penalty, coefficients, sums);
  if (!panel.n_classes) {
    // The second round recovers the digits that the products lose.
    for (int round = 0; round < 2; ++round) {
      if (round) add_up(panel, task, knots, fit.penalty, coefficients, sums);
      if (step_from(sums, fit.penalty, coefficients, moves) < 0.0) return false;
#pragma unroll
      for (int r = 0; r < UNKNOWNS; ++r) coefficients[r] += moves[r];
    }
    coefficients[SPLINES] += task.label_mean;
    return true;
  }
  for (int step = 0; step < MOST_STEPS; ++step) {
    double promised = step_from(sums, fit.penalty, coefficients, moves);
    if (promised < 0.0) return false;
    bool is_last = !(promised > fit.tolerance), is_better = false;
    double size = 1.0, value = sums.value;
    for (int halving = 0; halving < MOST_HALVINGS; ++halving) {
#pragma unroll
      for (int r = 0; r < UNKNOWNS; ++r) trial[r] = coefficients[r] + size * moves[r];
      add_up(panel, task, knots, fit.penalty, trial, sums);
      is_better = sums.value <= value + 1e-12 * fabs(value);
      if (is_better || is_last) break;
      size /= 2.0;
    }
    if (is_better) {
#pragma unroll
      for (int r = 0; r < UNKNOWNS; ++r) coefficients[r] = trial[r];
    }
    if (is_last || !is_better) break;
  }
  return true;
}

// `scores` (n_tested, n_columns): the linear output of every tested row; NaN where the knots of a column coincide.
template <class Number>
DEVICE void fill_splines(const Panel& panel, const Number* X, long long n_columns, const Fit& fit, double* scores) {
  long long place = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (place >= n_columns * panel.n_splits) return;
  long long column = place % n_columns;
  Task<Number> task = task_of(panel, X, n_columns, column, place / n_columns);
  Knots knots = knots_of(task);
  double coefficients[UNKNOWNS];
  bool is_fitted = knots.are_apart() && fit_splines(panel, task, knots, fit, coefficients);
  for (int row = 0; row < task.n_rows; ++row) {
    if (task.slots[row] < 0) continue;
    double score = is_fitted ? score_of(coefficients, knots.at(task.column.seen(row))) : NOT_A_NUMBER;
    scores[task.slots[row] * n_columns + column] = score;
  }
}

KERNEL spline_scores_floats(const Panel* panel, const float* X, long long n_columns, const Fit* fit, double* scores) {
  fill_splines(*panel, X, n_columns, *fit, scores);
}

KERNEL spline_scores_doubles(const Panel* panel, const double* X, long long n_columns, const Fit* fit, double* scores) {
  fill_splines(*panel, X, n_columns, *fit, scores);
}
