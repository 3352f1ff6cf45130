// Models of single columns that are no trees of exact cuts: what they share. A thread fits the model of one column in one
// split; neighboring threads have neighboring columns, whose numbers in a row are neighbors in memory.

// What all columns share. `slots` says where a row is: its place among the rows that are tested, or TRAIN.
struct Panel {
  const int* slots;      // (n_splits, n_rows)
  const double* labels;  // (n_rows,): numbers of classes, or numbers
  long long n_rows;
  long long n_splits;
  long long n_tested;    // over all splits
  long long n_classes;   // 0 for numbers
  const double* weights; // (n_rows,) of the rows in the fit, or null
  long long is_scaled;   // 1: a StandardScaler is before the model; 2: one that weighs rows
};

// How a model is fitted: the penalty on the squares of its coefficients, and when Newton's method has converged.
struct Fit {
  double penalty;
  double tolerance;
};

#define SMALLEST_PIVOT 1e-13
#define EPSILON 2.220446049250313e-16

// The numbers of one column, and how its model reads them.
template <class Number>
struct Column {
  const Number* first;
  long long step;
  double center;
  double scale;
  bool is_scaled;

  DEVICE double at(long long row) const { return (double)first[row * step]; }

  DEVICE double seen(long long row) const {
    double number = at(row);
    return is_scaled ? (number - center) / scale : number;
  }
};

// What a model is fitted to: the column of this thread, the roles of the rows in its split, and the labels.
template <class Number>
struct Task {
  Column<Number> column;
  const int* slots;
  const double* labels;
  const double* weights;
  int n_rows;
  int n_train;
  double label_mean;

  DEVICE bool is_train(int row) const { return slots[row] == TRAIN; }
  DEVICE double weight(int row) const { return weights ? weights[row] : 1.0; }
};

// Prepare the column and split of this thread, scaled as scikit-learn's StandardScaler does it.
template <class Number>
DEVICE Task<Number> task_of(const Panel& panel, const Number* X, long long n_columns, long long column, long long split) {
  int n_rows = (int)panel.n_rows;
  Column<Number> numbers = {X + column, n_columns, 0.0, 1.0, panel.is_scaled != 0};
  Task<Number> task = {numbers, panel.slots + split * panel.n_rows, panel.labels, panel.weights, n_rows, 0, 0.0};
  bool is_weighted = panel.is_scaled == 2;
  double total = 0.0, labels = 0.0, weights = 0.0, n = 0.0;
  for (int row = 0; row < n_rows; ++row) {
    if (!task.is_train(row)) continue;
    double weight = task.weight(row), share = is_weighted ? weight : 1.0;
    ++task.n_train;
    n += share;
    total += share * numbers.at(row);
    weights += weight;
    labels += weight * task.labels[row];
  }
  task.label_mean = labels / weights;
  if (!panel.is_scaled) return task;
  double mean = total / n, sum = 0.0, squares = 0.0;
  for (int row = 0; row < n_rows; ++row) {
    if (!task.is_train(row)) continue;
    double away = numbers.at(row) - mean, share = is_weighted ? task.weight(row) : 1.0;
    sum += share * away;
    squares += share * away * away;
  }
  double variance = (squares - sum * sum / n) / n, least = n * mean * EPSILON;
  bool is_constant = variance <= EPSILON * n * variance + least * least;
  task.column.center = mean;
  task.column.scale = is_constant || !(variance > 0.0) ? 1.0 : sqrt(variance);
  return task;
}

// The log-odds of a share, where Newton's method starts.
DEVICE double log_odds(double share) { return log(share / (1.0 - share)); }

// A sum of logarithms of factors, which are multiplied before the logarithm is taken.
struct LogProduct {
  double total;
  double factors;

  DEVICE void add(double factor, double weight) {
    if (weight != 1.0) {
      total += weight * log(factor);
      return;
    }
    factors *= factor;
    if (factors > 1e250) {
      total += log(factors);
      factors = 1.0;
    }
  }

  DEVICE double value() const { return total + log(factors); }
};

// The probability of class 1 at a score, and what the row adds to the negative log-likelihood.
DEVICE double share_at(double score, double label, double weight, LogProduct& likelihood) {
  double small = exp(-fabs(score)), total = 1.0 + small;
  bool is_right = (score >= 0.0) == (label > 0.5);
  likelihood.total += is_right ? 0.0 : weight * fabs(score);
  likelihood.add(total, weight);
  return score >= 0.0 ? 1.0 / total : small / total;
}

// Solve `matrix * solution = right` for a symmetric positive matrix of SIZE rows, of which the lower triangle is there, and
// is overwritten. Returns false if it is not positive.
template <int SIZE>
DEVICE bool solve_positive(double* matrix, const double* right, double* solution) {
#pragma unroll
  for (int i = 0; i < SIZE; ++i) {
#pragma unroll
    for (int j = 0; j <= i; ++j) {
      double rest = matrix[i * SIZE + j], diagonal = rest;
#pragma unroll
      for (int k = 0; k < j; ++k) rest -= matrix[i * SIZE + k] * matrix[j * SIZE + k];
      if (i == j) {
        if (!(rest > SMALLEST_PIVOT * diagonal)) return false;
        matrix[i * SIZE + i] = sqrt(rest);
      } else {
        matrix[i * SIZE + j] = rest / matrix[j * SIZE + j];
      }
    }
  }
#pragma unroll
  for (int i = 0; i < SIZE; ++i) {
    double rest = right[i];
#pragma unroll
    for (int k = 0; k < i; ++k) rest -= matrix[i * SIZE + k] * solution[k];
    solution[i] = rest / matrix[i * SIZE + i];
  }
#pragma unroll
  for (int back = 0; back < SIZE; ++back) {
    const int i = SIZE - 1 - back;
    double value = solution[i] / matrix[i * SIZE + i];
    solution[i] = value;
#pragma unroll
    for (int j = 0; j < i; ++j) solution[j] -= matrix[i * SIZE + j] * value;
  }
  return true;
}
