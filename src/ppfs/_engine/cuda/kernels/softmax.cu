// Logistic regression of three and more classes by Newton's method, on a line or on splines; the twin of
// `linear/logistic.py`. A score per class but the first, whose score is 0; unknown `a * regressors + r` is the coefficient
// of regressor r in the score of class a + 1, and the intercept is the last regressor.

// How a line or splines see a number: the regressors that are not zero.
struct LineBasis {
  double center;
  double scale;
  static const int REGRESSORS = 2, NONZERO = 2;

  DEVICE void at(double x, int* places, double* values) const {
    places[0] = 0;
    values[0] = (x - center) / scale;
    places[1] = 1;
    values[1] = 1.0;
  }
};

struct SplineBasis {
  Knots knots;
  static const int REGRESSORS = UNKNOWNS, NONZERO = AT_ONCE + 1;

  DEVICE void at(double x, int* places, double* values) const {
    Basis basis = knots.at(x);
    for (int k = 0; k < AT_ONCE; ++k) {
      places[k] = basis.interval + k;
      values[k] = basis.values[k];
    }
    places[AT_ONCE] = SPLINES;
    values[AT_ONCE] = 1.0;
  }
};

// The memory of a thread: see `softmax_cells`.
struct Softmax {
  int n_scores;
  int size;            // unknowns
  Cells theta;         // (size,)
  Cells trial;         // (size,)
  Cells gradient;      // (size,)
  Cells moves;         // (size,)
  Cells shares;        // (n_scores,)
  Cells information;   // (size, size), the lower triangle

  DEVICE Softmax(int n_classes, int n_regressors, const Cells& memory) {
    n_scores = n_classes - 1;
    size = n_scores * n_regressors;
    theta = memory;
    trial = theta.from(size);
    gradient = trial.from(size);
    moves = gradient.from(size);
    shares = moves.from(size);
    information = shares.from(n_scores);
  }
};

// The scores of classes 1 and later at a number.
template <class Shape>
DEVICE void scores_at(const Shape& shape, double x, const Cells& theta, int n_scores, const Cells& scores) {
  int places[Shape::NONZERO];
  double values[Shape::NONZERO];
  shape.at(x, places, values);
  for (int a = 0; a < n_scores; ++a) {
    double score = 0.0;
    for (int k = 0; k < Shape::NONZERO; ++k) score += values[k] * theta[a * Shape::REGRESSORS + places[k]];
    scores[a] = score;
  }
}

// The objective at some coefficients; its derivatives are left in `softmax`.
template <class Number, class Shape>
DEVICE double objective_at(const Task<Number>& task, const Shape& shape, double penalty, const Cells& theta, const Softmax& softmax) {
  const int n_regressors = Shape::REGRESSORS;
  int n_scores = softmax.n_scores, size = softmax.size;
  const Cells& shares = softmax.shares;
  for (int r = 0; r < size; ++r) {
    softmax.gradient[r] = 0.0;
    for (int s = 0; s <= r; ++s) softmax.information[r * size + s] = 0.0;
  }
  double value = 0.0;
  for (int row = 0; row < task.n_rows; ++row) {
    if (!task.is_train(row)) continue;
    int places[Shape::NONZERO], label = (int)task.labels[row];
    double values[Shape::NONZERO], top = 0.0;
    double x = task.column.seen(row), weight = task.weight(row);
    shape.at(x, places, values);
    scores_at(shape, x, theta, n_scores, shares);
    for (int a = 0; a < n_scores; ++a) top = shares[a] > top ? shares[a] : top;
    double chosen = label ? shares[label - 1] : 0.0, total = exp(-top);
    for (int a = 0; a < n_scores; ++a) {
      shares[a] = exp(shares[a] - top);
      total += shares[a];
    }
    value += weight * (top - chosen + log(total));
    for (int a = 0; a < n_scores; ++a) shares[a] /= total;
    for (int a = 0; a < n_scores; ++a) {
      double own = shares[a], rest = weight * ((label == a + 1 ? 1.0 : 0.0) - own);
      for (int k = 0; k < Shape::NONZERO; ++k) softmax.gradient[a * n_regressors + places[k]] += values[k] * rest;
      for (int b = 0; b <= a; ++b) {
        double joint = weight * (own * ((a == b ? 1.0 : 0.0) - shares[b]));
        for (int k = 0; k < Shape::NONZERO; ++k) {
          for (int l = 0; l < Shape::NONZERO; ++l) {
            int r = a * n_regressors + places[k], s = b * n_regressors + places[l];
            if (s <= r) softmax.information[r * size + s] += values[k] * joint * values[l];
          }
        }
      }
    }
  }
  // The penalty is on one coefficient per class, with sum zero.
  double n_classes = (double)(n_scores + 1);
  for (int r = 0; r < n_regressors - 1; ++r) {
    double squares = 0.0, summed = 0.0;
    for (int a = 0; a < n_scores; ++a) {
      double own = theta[a * n_regressors + r];
      squares += own * own;
      summed += own;
    }
    value += 0.5 * penalty * (squares - summed * summed / n_classes);
    for (int a = 0; a < n_scores; ++a) {
      int place = a * n_regressors + r;
      softmax.gradient[place] -= penalty * (theta[place] - summed / n_classes);
      for (int b = 0; b <= a; ++b) {
        softmax.information[place * size + b * n_regressors + r] += penalty * ((a == b ? 1.0 : 0.0) - 1.0 / n_classes);
      }
    }
  }
  return value;
}

// Do what `solve_positive` does with a matrix in memory.
DEVICE bool solve_in_memory(const Cells& matrix, const Cells& right, const Cells& solution, int size) {
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j <= i; ++j) {
      double rest = matrix[i * size + j], diagonal = rest;
      for (int k = 0; k < j; ++k) rest -= matrix[i * size + k] * matrix[j * size + k];
      if (i == j) {
        if (!(rest > SMALLEST_PIVOT * diagonal)) return false;
        matrix[i * size + i] = sqrt(rest);
      } else {
        matrix[i * size + j] = rest / matrix[j * size + j];
      }
    }
  }
  for (int i = 0; i < size; ++i) {
    double rest = right[i];
    for (int k = 0; k < i; ++k) rest -= matrix[i * size + k] * solution[k];
    solution[i] = rest / matrix[i * size + i];
  }
  for (int i = size - 1; i >= 0; --i) {
    double value = solution[i] / matrix[i * size + i];
    solution[i] = value;
    for (int j = 0; j < i; ++j) solution[j] -= matrix[i * size + j] * value;
  }
  return true;
}

// Fill `softmax.theta`; returns false if there is no step.
template <class Number, class Shape>
DEVICE bool fit_classes(const Task<Number>& task, const Shape& shape, double penalty, double tolerance, const Softmax& softmax) {
  int n_scores = softmax.n_scores, size = softmax.size;
  for (int r = 0; r < size; ++r) softmax.theta[r] = 0.0;
  // The model without regressors predicts the shares of the classes.
  double n_first = 0.0;
  for (int a = 0; a < n_scores; ++a) softmax.shares[a] = 0.0;
  for (int row = 0; row < task.n_rows; ++row) {
    if (!task.is_train(row)) continue;
    int label = (int)task.labels[row];
    if (label) softmax.shares[label - 1] += task.weight(row);
    else n_first += task.weight(row);
  }
  for (int a = 0; a < n_scores; ++a) softmax.theta[(a + 1) * Shape::REGRESSORS - 1] = log(softmax.shares[a] / n_first);
  double value = objective_at(task, shape, penalty, softmax.theta, softmax);
  for (int step = 0; step < MOST_STEPS; ++step) {
    if (!solve_in_memory(softmax.information, softmax.gradient, softmax.moves, size)) return false;
    double promised = 0.0, length = 1.0, reached = 0.0;
    for (int r = 0; r < size; ++r) promised += softmax.gradient[r] * softmax.moves[r];
    bool is_last = !(promised > tolerance), is_better = false;
    for (int halving = 0; halving < MOST_HALVINGS; ++halving) {
      for (int r = 0; r < size; ++r) softmax.trial[r] = softmax.theta[r] + length * softmax.moves[r];
      reached = objective_at(task, shape, penalty, softmax.trial, softmax);
      is_better = reached <= value + 1e-12 * fabs(value);
      if (is_better || is_last) break;
      length /= 2.0;
    }
    if (is_better) {
      for (int r = 0; r < size; ++r) softmax.theta[r] = softmax.trial[r];
      value = reached;
    }
    if (is_last || !is_better) break;
  }
  return true;
}

// A line is fitted to centered and scaled numbers, which changes nothing but rounding.
template <class Number>
DEVICE LineBasis line_basis(const Task<Number>& task) {
  Spread spread = spread_of(task);
  LineBasis basis = {spread.center, spread.scale > 0.0 ? spread.scale : 1.0};
  return basis;
}

// Write the scores of all classes in the tested rows; `scores` (n_tested, n_classes, n_columns).
template <class Number, class Shape>
DEVICE void write_scores(const Task<Number>& task, const Shape& shape, bool is_fitted, const Softmax& softmax,
                         long long n_columns, long long column, double* scores) {
  int n_classes = softmax.n_scores + 1;
  for (int row = 0; row < task.n_rows; ++row) {
    if (task.slots[row] < 0) continue;
    double* own = scores + (long long)task.slots[row] * n_classes * n_columns + column;
    if (is_fitted) scores_at(shape, task.column.seen(row), softmax.theta, softmax.n_scores, softmax.shares);
    own[0] = is_fitted ? 0.0 : NOT_A_NUMBER;
    for (int a = 0; a < softmax.n_scores; ++a) own[(a + 1) * n_columns] = is_fitted ? softmax.shares[a] : NOT_A_NUMBER;
  }
}

template <class Number>
DEVICE void fill_classes(bool has_splines, const Panel& panel, const Number* X, long long n_columns, long long n_fitted,
                         const Fit& fit, double* memory, double* scores) {
  long long place = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (place >= n_fitted * panel.n_splits) return;
  long long column = place % n_fitted;
  Task<Number> task = task_of(panel, X, n_columns, column, place / n_fitted);
  Cells own = {memory + place, n_fitted * panel.n_splits};
  int n_classes = (int)panel.n_classes;
  if (has_splines) {
    SplineBasis shape = {knots_of(task)};
    Softmax softmax(n_classes, SplineBasis::REGRESSORS, own);
    bool is_fitted = shape.knots.are_apart() && fit_classes(task, shape, fit.penalty, fit.tolerance, softmax);
    write_scores(task, shape, is_fitted, softmax, n_columns, column, scores);
  } else {
    LineBasis shape = line_basis(task);
    Softmax softmax(n_classes, LineBasis::REGRESSORS, own);
    bool is_fitted = fit_classes(task, shape, fit.penalty / (shape.scale * shape.scale), fit.tolerance, softmax);
    write_scores(task, shape, is_fitted, softmax, n_columns, column, scores);
  }
}

// Columns of this launch: the first `n_fitted` from X on.
KERNEL class_scores_floats(const Panel* panel, const float* X, long long n_columns, long long n_fitted, int has_splines,
                           const Fit* fit, double* memory, double* scores) {
  fill_classes(has_splines != 0, *panel, X, n_columns, n_fitted, *fit, memory, scores);
}

KERNEL class_scores_doubles(const Panel* panel, const double* X, long long n_columns, long long n_fitted, int has_splines,
                            const Fit* fit, double* memory, double* scores) {
  fill_classes(has_splines != 0, *panel, X, n_columns, n_fitted, *fit, memory, scores);
}
