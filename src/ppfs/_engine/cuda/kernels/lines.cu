// Lines through single columns: ridge regression, or logistic regression of two classes by Newton's method; the twin of
// `linear/logistic.py` and of `line_columns`.

#define MOST_STEPS 100
#define MOST_HALVINGS 40

struct FittedLine {
  double slope;
  double intercept;
};

// The objective of a line at `slope` and `intercept`, with its derivatives.
struct Slopes {
  double value;
  double gradient[2];
  double information[3];  // slope slope, intercept slope, intercept intercept
};

// Center and scale what the model sees once more: it changes nothing but rounding, and the penalty's unit.
template <class Number>
DEVICE Slopes line_at(const Task<Number>& task, double center, double scale, double penalty, double slope, double intercept) {
  Slopes at = {0.0, {0.0, 0.0}, {0.0, 0.0, 0.0}};
  LogProduct likelihood = {0.0, 1.0};
  for (int row = 0; row < task.n_rows; ++row) {
    if (!task.is_train(row)) continue;
    double x = (task.column.seen(row) - center) / scale, label = task.labels[row], weight = task.weight(row);
    double share = share_at(slope * x + intercept, label, weight, likelihood);
    double rest = weight * (label - share), joint = weight * (share * (1.0 - share));
    at.gradient[0] += x * rest;
    at.gradient[1] += rest;
    at.information[0] += x * joint * x;
    at.information[1] += x * joint;
    at.information[2] += joint;
  }
  at.value = likelihood.value() + 0.5 * penalty * slope * slope;
  at.gradient[0] -= penalty * slope;
  at.information[0] += penalty;
  return at;
}

// The mean and the standard deviation of the train rows; 0 where all are equal, and then the mean is their value.
struct Spread {
  double center;
  double scale;
};

template <class Number>
DEVICE Spread spread_of(const Task<Number>& task) {
  double n = (double)task.n_train, center = 0.0, squares = 0.0;
  for (int row = 0; row < task.n_rows; ++row) {
    if (task.is_train(row)) center += task.column.seen(row);
  }
  center /= n;
  bool is_varied = false;
  double first = 0.0;
  int n_seen = 0;
  for (int row = 0; row < task.n_rows; ++row) {
    if (!task.is_train(row)) continue;
    double value = task.column.seen(row), away = value - center;
    if (!n_seen++) first = value;
    is_varied |= value != first;
    squares += away * away;
  }
  Spread constant = {first, 0.0}, spread = {center, sqrt(squares / n)};
  return is_varied ? spread : constant;
}

template <class Number>
DEVICE FittedLine logistic_line(const Task<Number>& task, const Fit& fit) {
  Spread spread = spread_of(task);
  double intercept = log_odds(task.label_mean), slope = 0.0, center = spread.center, scale = spread.scale;
  if (!(scale > 0.0)) return {0.0, intercept};
  double penalty = fit.penalty / (scale * scale);
  Slopes now = line_at(task, center, scale, penalty, slope, intercept);
  for (int step = 0; step < MOST_STEPS; ++step) {
    double a = now.information[0], b = now.information[1], c = now.information[2];
    double matrix[4] = {a, 0.0, b, c}, moves[2];
    if (!solve_positive<2>(matrix, now.gradient, moves)) return {NOT_A_NUMBER, NOT_A_NUMBER};
    double promised = now.gradient[0] * moves[0] + now.gradient[1] * moves[1];
    bool is_last = !(promised > fit.tolerance), is_better = false;
    double size = 1.0;
    Slopes tried;
    for (int halving = 0; halving < MOST_HALVINGS; ++halving) {
      tried = line_at(task, center, scale, penalty, slope + size * moves[0], intercept + size * moves[1]);
      is_better = tried.value <= now.value + 1e-12 * fabs(now.value);
      if (is_better || is_last) break;
      size /= 2.0;
    }
    if (is_better) {
      slope += size * moves[0];
      intercept += size * moves[1];
      now = tried;
    }
    if (is_last || !is_better) break;
  }
  slope /= scale;
  return {slope, intercept - slope * center};
}

template <class Number>
DEVICE FittedLine ridge_line(const Task<Number>& task, const Fit& fit) {
  double mean = 0.0, first = 0.0, weights = 0.0;
  bool is_varied = false;
  int n_seen = 0;
  for (int row = 0; row < task.n_rows; ++row) {
    if (!task.is_train(row)) continue;
    double value = task.column.seen(row);
    if (!n_seen++) first = value;
    is_varied |= value != first;
    mean += task.weight(row) * value;
    weights += task.weight(row);
  }
  mean /= weights;
  double pull = 0.0, squares = 0.0;
  for (int row = 0; row < task.n_rows; ++row) {
    if (!task.is_train(row)) continue;
    double centered = task.column.seen(row) - mean, weighted = task.weight(row) * centered;
    pull += (task.labels[row] - task.label_mean) * weighted;
    squares += weighted * centered;
  }
  double own = squares + fit.penalty;
  double slope = is_varied && own > 0.0 ? pull / own : 0.0;
  return {slope, task.label_mean - slope * mean};
}

template <class Number>
DEVICE FittedLine fitted_line(const Panel& panel, const Task<Number>& task, const Fit& fit) {
  return panel.n_classes ? logistic_line(task, fit) : ridge_line(task, fit);
}

// `scores` (n_tested, n_columns): the linear output of every tested row.
template <class Number>
DEVICE void fill_lines(const Panel& panel, const Number* X, long long n_columns, const Fit& fit, double* scores) {
  long long place = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (place >= n_columns * panel.n_splits) return;
  long long column = place % n_columns;
  Task<Number> task = task_of(panel, X, n_columns, column, place / n_columns);
  FittedLine line = fitted_line(panel, task, fit);
  for (int row = 0; row < task.n_rows; ++row) {
    if (task.slots[row] >= 0) scores[task.slots[row] * n_columns + column] = task.column.seen(row) * line.slope + line.intercept;
  }
}

KERNEL line_scores_floats(const Panel* panel, const float* X, long long n_columns, const Fit* fit, double* scores) {
  fill_lines(*panel, X, n_columns, *fit, scores);
}

KERNEL line_scores_doubles(const Panel* panel, const double* X, long long n_columns, const Fit* fit, double* scores) {
  fill_lines(*panel, X, n_columns, *fit, scores);
}
