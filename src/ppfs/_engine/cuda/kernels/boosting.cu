// A line through a column, followed by boosted trees on bins; the twin of `boosting/column_models.py`. Each round has one
// tree for numbers and for two classes, else one per class.

struct Boosting {
  double learning_rate;
  double n_rounds;
  double max_leaves;
  double max_depth;
  double min_leaf;
  double min_hessian;
  double l2;
  double max_bins;
  double has_midpoints;
  double has_line;     // whether the first round starts from a line
};

#define BOUND_OF_POWERS 300.0
#define TINY 1e-15
#define ALMOST_INFINITE 1e300
#define NODE_FIELDS 12

// The fields of a node, numbers all of them.
enum NodeField { GRADIENT, HESSIAN, VALUE, GAIN, LEFT_GRADIENT, LEFT_HESSIAN, FIRST, END, CUT, DEPTH, N_ROWS, IS_SPLIT };

// The memory of a thread.
struct Growing {
  Cells state;    // (n_trees, n_rows) of the train rows in the order of the column: values, then raw predictions or powers
  Cells labels;   // (n_train,)
  Cells weights;  // (n_train,), where rows have weights
  bool is_weighted;
  Cells edges;    // (max_bins,)
  Cells counts;   // (max_bins + 1,) train rows below the end of a bin
  Cells gradient; // (max_bins + 1,) sums over the train rows below the end of a bin
  Cells hessian;
  Cells table;    // (n_trees, max_bins) what the trees add to the prediction of a bin
  Cells totals;   // (n_train,) of the powers of all classes, where there are more than two
  Cells nodes;    // (2 * most leaves + 1, NODE_FIELDS)
  Cells pending;  // (most leaves + 1,)

  DEVICE double& node(long long number, int field) const { return nodes[number * NODE_FIELDS + field]; }
};

DEVICE double leaf_value(double gradient, double hessian, double l2) { return -gradient / (hessian + l2 + TINY); }

DEVICE double quantile(double share, int n_values, const Cells& values, bool has_midpoints) {
  double position = has_midpoints ? (double)(n_values - 1) * share : (double)n_values * share - 1.0;
  long long low = (long long)floor(position), high = has_midpoints ? (long long)ceil(position) : low + 1;
  bool is_between = has_midpoints ? low != high : position == (double)low;
  double edge = values[high];
  return is_between ? edge - (edge - values[low]) * 0.5 : edge;
}

DEVICE int add_edge(double edge, int n_edges, const Cells& edges) {
  edge = edge < ALMOST_INFINITE ? edge : ALMOST_INFINITE;
  if (n_edges && edges[n_edges - 1] == edge) return n_edges;
  edges[n_edges] = edge;
  return n_edges + 1;
}

DEVICE int find_edges(int n_values, const Boosting& rules, const Cells& values, const Cells& edges) {
  int n_distinct = 1, n_edges = 0, max_bins = (int)rules.max_bins;
  for (int i = 1; i < n_values; ++i) n_distinct += values[i] != values[i - 1];
  if (n_distinct <= max_bins) {
    for (int i = 1; i < n_values; ++i) {
      if (values[i] != values[i - 1]) n_edges = add_edge((values[i - 1] + values[i]) / 2.0, n_edges, edges);
    }
    return n_edges;
  }
  for (int part = 1; part < max_bins; ++part) {
    double share = (double)part * (100.0 / rules.max_bins) / 100.0;
    n_edges = add_edge(quantile(share, n_values, values, rules.has_midpoints != 0.0), n_edges, edges);
  }
  return n_edges;
}

// Add up gradients and hessians of the rows, rounded to 32 bits, over the bins, and make the root.
DEVICE void add_up_bins(int n_classes, int tree, int n_bins, const Cells& states, const Growing& growing) {
  double gradient = 0.0, hessian = 0.0;
  int row = 0;
  growing.gradient[0] = growing.hessian[0] = 0.0;
  for (int number = 0; number < n_bins; ++number) {
    for (int end = (int)growing.counts[number + 1]; row < end; ++row) {
      double state = states[row], label = growing.labels[row];
      double weight = growing.is_weighted ? growing.weights[row] : 1.0;
      if (n_classes > 2) {
        double share = state / growing.totals[row];
        gradient += (double)(float)(weight * (share - (label == (double)tree ? 1.0 : 0.0)));
        hessian += (double)(float)(weight * (share * (1.0 - share)));
      } else if (n_classes) {
        gradient += (double)(float)(weight * (((1.0 - label) - label * state) / (1.0 + state)));
        hessian += (double)(float)(weight * (state / ((1.0 + state) * (1.0 + state))));
      } else {
        gradient += (double)(float)(weight * (state - label));
        hessian += (double)(float)weight;
      }
    }
    growing.gradient[number + 1] = gradient;
    growing.hessian[number + 1] = hessian;
  }
  growing.node(0, GRADIENT) = gradient;
  growing.node(0, HESSIAN) = hessian;
  growing.node(0, FIRST) = 0.0;
  growing.node(0, END) = (double)n_bins;
  growing.node(0, N_ROWS) = (double)row;
  growing.node(0, VALUE) = growing.node(0, DEPTH) = growing.node(0, IS_SPLIT) = 0.0;
}

// Find the first of the best cuts of a node; returns whether one lowers the loss.
DEVICE bool find_cut(long long number, const Boosting& rules, const Growing& growing) {
  double all_gradient = growing.node(number, GRADIENT), all_hessian = growing.node(number, HESSIAN);
  double now = growing.node(number, VALUE) * all_gradient, best = 0.0;
  int first = (int)growing.node(number, FIRST), stop = (int)growing.node(number, END), chosen = -1;
  double from_gradient = growing.gradient[first], from_hessian = growing.hessian[first];
  double n_below = growing.counts[first], n_until = growing.counts[stop];
  for (int cut = first; cut < stop; ++cut) {
    double n_left = growing.counts[cut + 1] - n_below, n_right = n_until - growing.counts[cut + 1];
    if (n_left < rules.min_leaf) continue;
    if (n_right < rules.min_leaf) break;
    double left_gradient = growing.gradient[cut + 1] - from_gradient;
    double left_hessian = growing.hessian[cut + 1] - from_hessian;
    double right_gradient = all_gradient - left_gradient, right_hessian = all_hessian - left_hessian;
    if (!(left_hessian >= rules.min_hessian && right_hessian >= rules.min_hessian)) continue;
    double left = left_gradient * leaf_value(left_gradient, left_hessian, rules.l2);
    double right = right_gradient * leaf_value(right_gradient, right_hessian, rules.l2);
    double gain = now - left - right;
    if (gain > best) {
      best = gain;
      chosen = cut;
      growing.node(number, LEFT_GRADIENT) = left_gradient;
      growing.node(number, LEFT_HESSIAN) = left_hessian;
    }
  }
  growing.node(number, CUT) = (double)chosen;
  growing.node(number, GAIN) = best;
  return chosen >= 0;
}

DEVICE void make_children(long long number, long long n_nodes, const Boosting& rules, const Growing& growing) {
  double cut = growing.node(number, CUT), first = growing.node(number, FIRST);
  double n_left = growing.counts[(int)cut + 1] - growing.counts[(int)first];
  growing.node(number, IS_SPLIT) = 1.0;
  for (int side = 0; side < 2; ++side) {
    long long child = n_nodes + side;
    double gradient = growing.node(number, LEFT_GRADIENT), hessian = growing.node(number, LEFT_HESSIAN);
    if (side) {
      gradient = growing.node(number, GRADIENT) - gradient;
      hessian = growing.node(number, HESSIAN) - hessian;
    }
    growing.node(child, FIRST) = side ? cut + 1.0 : first;
    growing.node(child, END) = side ? growing.node(number, END) : cut + 1.0;
    growing.node(child, N_ROWS) = side ? growing.node(number, N_ROWS) - n_left : n_left;
    growing.node(child, DEPTH) = growing.node(number, DEPTH) + 1.0;
    growing.node(child, IS_SPLIT) = 0.0;
    growing.node(child, GRADIENT) = gradient;
    growing.node(child, HESSIAN) = hessian;
    growing.node(child, VALUE) = leaf_value(gradient, hessian, rules.l2);
  }
}

// Grow one tree from its root, best first; returns the number of nodes.
DEVICE long long grow_boosted(const Boosting& rules, const Growing& growing) {
  bool is_limited = rules.max_leaves < floor(growing.node(0, N_ROWS) / rules.min_leaf);
  long long n_pending = 0, n_seen = 0, n_nodes = 1, n_leaves = 1, max_leaves = (long long)rules.max_leaves;
  if (growing.node(0, HESSIAN) < rules.min_hessian) return 1;
  while (true) {
    for (; n_seen < n_nodes && n_leaves < max_leaves; ++n_seen) {
      bool is_open = growing.node(n_seen, N_ROWS) >= 2.0 * rules.min_leaf && growing.node(n_seen, DEPTH) < rules.max_depth;
      if (is_open && find_cut(n_seen, rules, growing)) growing.pending[n_pending++] = (double)n_seen;
    }
    if (!n_pending || n_leaves >= max_leaves) return n_nodes;
    long long chosen = n_pending - 1;
    for (long long place = 0; is_limited && place < n_pending - 1; ++place) {
      if (growing.node((long long)growing.pending[place], GAIN) > growing.node((long long)growing.pending[chosen], GAIN)) {
        chosen = place;
      }
    }
    long long number = (long long)growing.pending[chosen];
    growing.pending[chosen] = growing.pending[--n_pending];
    make_children(number, n_nodes, rules, growing);
    n_nodes += 2;
    ++n_leaves;
  }
}

// Add the values of the leaves; returns the largest step.
DEVICE double apply_tree(int n_classes, long long n_nodes, const Boosting& rules, const Cells& states, const Cells& table,
                         const Growing& growing) {
  double largest = 0.0;
  for (long long number = 0; number < n_nodes; ++number) {
    if (growing.node(number, IS_SPLIT) != 0.0) continue;
    double step = growing.node(number, VALUE) * rules.learning_rate;
    double factor = n_classes ? exp(n_classes > 2 ? step : -step) : 1.0;
    int first = (int)growing.node(number, FIRST), end = (int)growing.node(number, END);
    largest = fabs(step) > largest ? fabs(step) : largest;
    for (int row = (int)growing.counts[first]; row < (int)growing.counts[end]; ++row) {
      if (n_classes) states[row] *= factor;
      else states[row] += step;
    }
    for (int bin = first; bin < end; ++bin) table[bin] += step;
  }
  return largest;
}

// Lay out the train rows by value, and find the bins of all rows: those of tested rows are left in `scores`.
template <class Number>
DEVICE int lay_out(const Task<Number>& task, const int* order, const Boosting& rules, long long n_columns,
                   long long column, int n_trees, const Growing& growing, double* scores) {
  int n_known = 0;
  for (int place = 0; place < task.n_rows; ++place) {
    int row = order[place * n_columns + column];
    if (!task.is_train(row)) continue;
    growing.state[n_known] = task.column.at(row);
    if (growing.is_weighted) growing.weights[n_known] = task.weights[row];
    growing.labels[n_known++] = task.labels[row];
  }
  int n_edges = find_edges(n_known, rules, growing.state, growing.edges), current = 0, n_below = 0;
  growing.counts[0] = 0.0;
  for (int place = 0; place < task.n_rows; ++place) {
    int row = order[place * n_columns + column];
    double value = task.column.at(row);
    while (current < n_edges && value > growing.edges[current]) growing.counts[++current] = (double)n_below;
    if (task.is_train(row)) ++n_below;
    else if (task.slots[row] >= 0) scores[task.slots[row] * n_trees * n_columns + column] = (double)current;
  }
  while (current < n_edges + 1) growing.counts[++current] = (double)n_below;
  return n_edges + 1;
}

// Fill the lines from which the trees of a round start, in the units of the column.
template <class Number>
DEVICE bool fill_starts(const Panel& panel, const Task<Number>& task, const Boosting& rules, const Fit& fit,
                        const double* baseline, int n_trees, const Cells& slopes, const Cells& intercepts, const Cells& memory) {
  for (int tree = 0; tree < n_trees; ++tree) {
    slopes[tree] = 0.0;
    intercepts[tree] = baseline[tree];
  }
  if (rules.has_line == 0.0) return true;
  if (n_trees == 1) {
    FittedLine line = fitted_line(panel, task, fit);
    slopes[0] = line.slope;
    intercepts[0] = line.intercept;
  } else {
    LineBasis shape = line_basis(task);
    Softmax softmax(n_trees, LineBasis::REGRESSORS, memory);
    if (!fit_classes(task, shape, fit.penalty / (shape.scale * shape.scale), fit.tolerance, softmax)) return false;
    double slope = 0.0, intercept = 0.0;
    slopes[0] = intercepts[0] = 0.0;
    for (int tree = 1; tree < n_trees; ++tree) {
      slopes[tree] = softmax.theta[2 * tree - 2] / shape.scale;
      intercepts[tree] = softmax.theta[2 * tree - 1] - slopes[tree] * shape.center;
      slope += slopes[tree] / n_trees;
      intercept += intercepts[tree] / n_trees;
    }
    // One score per class, with sum zero.
    for (int tree = 0; tree < n_trees; ++tree) {
      slopes[tree] -= slope;
      intercepts[tree] -= intercept;
    }
  }
  for (int tree = 0; panel.is_scaled && tree < n_trees; ++tree) {
    slopes[tree] /= task.column.scale;
    intercepts[tree] -= slopes[tree] * task.column.center;
  }
  return true;
}

// Turn values into the raw predictions of the first round, or into their powers; returns the largest prediction.
DEVICE double start_states(int n_classes, int n_trees, int n_train, long long n_rows, const Cells& slopes,
                           const Cells& intercepts, const Growing& growing) {
  double size = 0.0;
  for (int row = 0; row < n_train; ++row) {
    double value = growing.state[row], largest = -INFINITE;
    for (int tree = 0; tree < n_trees; ++tree) {
      double raw = slopes[tree] != 0.0 ? intercepts[tree] + slopes[tree] * value : intercepts[tree];
      size = fabs(raw) > size ? fabs(raw) : size;
      largest = raw > largest ? raw : largest;
      growing.state[tree * n_rows + row] = raw;
    }
    for (int tree = 0; n_classes && tree < n_trees; ++tree) {
      double& state = growing.state[tree * n_rows + row];
      double power = n_classes > 2 ? state - largest : -state;
      state = exp(power < 2.0 * BOUND_OF_POWERS ? power : 2.0 * BOUND_OF_POWERS);
    }
  }
  return size;
}

// All rounds. Returns false where predictions are beyond e^300: they are certain, and the CPU answers.
DEVICE bool boost(int n_classes, int n_trees, int n_train, int n_bins, long long n_rows, double size, const Boosting& rules,
                  const Growing& growing) {
  long long max_bins = (long long)rules.max_bins;
  for (int round = 0; round < (int)rules.n_rounds; ++round) {
    if (n_classes && size > BOUND_OF_POWERS) return false;
    for (int row = 0; n_trees > 1 && row < n_train; ++row) {
      double total = 0.0;
      for (int tree = 0; tree < n_trees; ++tree) total += growing.state[tree * n_rows + row];
      growing.totals[row] = total;
    }
    bool is_grown = false;
    for (int tree = 0; tree < n_trees; ++tree) {
      Cells states = growing.state.from(tree * n_rows);
      add_up_bins(n_classes, tree, n_bins, states, growing);
      long long n_nodes = grow_boosted(rules, growing);
      if (n_nodes == 1) continue;
      is_grown = true;
      size += apply_tree(n_classes, n_nodes, rules, states, growing.table.from(tree * max_bins), growing);
    }
    if (!is_grown) break;
  }
  return true;
}

template <class Number>
DEVICE void fill_boosted(const Panel& panel, const Number* X, long long n_columns, long long n_ordered, const int* order,
                         const Boosting& rules, const Fit& fit, const double* baseline, double* memory,
                         long long most_leaves, double* scores) {
  long long place = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (place >= n_ordered * panel.n_splits) return;
  long long column = place % n_ordered, split = place / n_ordered;
  Task<Number> task = task_of(panel, X, n_columns, column, split);
  int n_classes = (int)panel.n_classes, n_trees = n_classes > 2 ? n_classes : 1;
  Cells all = {memory + place, n_ordered * panel.n_splits};
  long long n_rows = panel.n_rows, max_bins = (long long)rules.max_bins;
  Growing growing;
  growing.state = all;
  growing.labels = growing.state.from(n_trees * n_rows);
  growing.totals = growing.labels.from(n_rows);
  growing.weights = growing.totals.from(n_trees > 1 ? n_rows : 0);
  growing.is_weighted = panel.weights != 0;
  growing.edges = growing.weights.from(growing.is_weighted ? n_rows : 0);
  growing.counts = growing.edges.from(max_bins);
  growing.gradient = growing.counts.from(max_bins + 2);
  growing.hessian = growing.gradient.from(max_bins + 1);
  growing.table = growing.hessian.from(max_bins + 1);
  growing.nodes = growing.table.from(n_trees * max_bins);
  growing.pending = growing.nodes.from((2 * most_leaves + 1) * NODE_FIELDS);
  Cells slopes = growing.pending.from(most_leaves + 1), intercepts = slopes.from(n_trees), rest = intercepts.from(n_trees);
  bool is_fitted = fill_starts(panel, task, rules, fit, baseline + split * n_trees, n_trees, slopes, intercepts, rest);
  int n_bins = lay_out(task, order, rules, n_columns, column, n_trees, growing, scores);
  for (int tree = 0; tree < n_trees; ++tree) {
    for (int bin = 0; bin < n_bins; ++bin) growing.table[tree * max_bins + bin] = intercepts[tree];
  }
  double size = start_states(n_classes, n_trees, task.n_train, n_rows, slopes, intercepts, growing);
  is_fitted = is_fitted && boost(n_classes, n_trees, task.n_train, n_bins, n_rows, size, rules, growing);
  for (int row = 0; row < task.n_rows; ++row) {
    if (task.slots[row] < 0) continue;
    double* own = scores + (long long)task.slots[row] * n_trees * n_columns + column;
    int bin = (int)own[0];
    for (int tree = 0; tree < n_trees; ++tree) {
      double raw = growing.table[tree * max_bins + bin];
      double score = slopes[tree] != 0.0 ? raw + slopes[tree] * task.column.at(row) : raw;
      own[tree * n_columns] = is_fitted ? score : NOT_A_NUMBER;
    }
  }
}

// `order` (n_rows, n_columns): the rows of each column by value. Columns of this launch: the first `n_ordered` from X on.
KERNEL boosted_scores_floats(const Panel* panel, const float* X, long long n_columns, long long n_ordered, const int* order,
                             const Boosting* rules, const Fit* fit, const double* baseline, double* memory,
                             long long most_leaves, double* scores) {
  fill_boosted(*panel, X, n_columns, n_ordered, order, *rules, *fit, baseline, memory, most_leaves, scores);
}

KERNEL boosted_scores_doubles(const Panel* panel, const double* X, long long n_columns, long long n_ordered,
                              const int* order, const Boosting* rules, const Fit* fit, const double* baseline,
                              double* memory, long long most_leaves, double* scores) {
  fill_boosted(*panel, X, n_columns, n_ordered, order, *rules, *fit, baseline, memory, most_leaves, scores);
}
