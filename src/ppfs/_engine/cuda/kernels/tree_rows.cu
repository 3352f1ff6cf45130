// Losses row by row of trees on one column each, for the column as it is and for many permuted copies; the twin of
// `one_column/tree_rows.py` and, for rows that are counted, of `one_column/neighbor_rows.py`.

// Writes what the leaf of each test row predicts: the loss of a row of each class, or a number.
struct RowSink {
  const Trees& all;
  const Tree& tree;
  Cells losses;       // (n_classes,)
  double* predicted;  // (n_rows, n_outputs)
  bool is_counted;
  bool is_impure;  // whether a test row is in a leaf of several classes
  int place;

  DEVICE void leaf(const Cells& stats, double weight, double limit, bool is_mixed) {
    int n_outputs = all.n_classes ? (int)all.n_classes : 1;
    bool is_pure = all.n_classes && is_counted && !is_mixed;
    int says = 0;
    if (is_pure) {
      while (stats[says] == 0.0) ++says;
    } else if (all.n_classes) {
      class_losses(all, stats, weight, true, losses);
    }
    for (; place < tree.n_rows && (double)tree.values[place] <= limit; ++place) {
      if (tree.role(place) < 0) continue;
      double* own = predicted + (long long)tree.rows[place] * n_outputs;
      for (int output = 0; output < n_outputs; ++output) {
        if (!all.n_classes) {
          own[output] = stats[0] / weight;
        } else if (is_pure) {
          own[output] = output == says ? all.right[output] : all.wrong[output];
        } else {
          own[output] = losses[output];
        }
      }
      is_impure |= !is_pure;
    }
  }
};

template <class Kind>
DEVICE void write_predictions(const Trees& all, int n_columns, double* predicted, int* is_impure) {
  long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= n_columns * all.n_splits) return;
  int column = (int)(thread / all.n_splits), split = (int)(thread % all.n_splits);
  Cells memory = {all.memory + thread, all.n_threads};
  Tree tree = tree_of(all, column, split);
  long long n_outputs = all.n_classes ? all.n_classes : 1;
  bool is_counted = all.is_counted && all.ties[column] != ENTANGLED;
  RowSink sink = {all, tree, memory, predicted + column * all.n_rows * n_outputs, is_counted, false, 0};
  Kind::grow(all, tree, split, memory.from(all.n_classes), sink);
  if (sink.is_impure || !is_counted || all.class_weights) atomicOr(is_impure + column, 1);
}

// One thread per column and split. Fills `predicted` (n_columns, n_rows, n_outputs) where rows are tested, and sets
// `is_impure` (n_columns,) where rows cannot be counted.
KERNEL full_tree_predictions(const Trees* shared, int n_columns, double* predicted, int* is_impure) {
  write_predictions<FullTrees>(*shared, n_columns, predicted, is_impure);
}

KERNEL limited_tree_predictions(const Trees* shared, int n_columns, double* predicted, int* is_impure) {
  write_predictions<LimitedTrees>(*shared, n_columns, predicted, is_impure);
}

DEVICE double loss_of(const Trees& all, int row, const double* predicted) {
  return all.n_classes ? predicted[all.classes[row]] : number_loss(all, all.numbers[row] - predicted[0]);
}

// One thread per column and tested row; fills `base` and `replaced` (n_columns, n_tested), the mean over the draws.
// `tested` is (n_tested,), `sources` (n_draws, n_tested): the row whose value a row takes.
KERNEL row_losses(const Trees* shared, int n_columns, const double* predicted, const int* is_impure, const int* tested,
                  const int* sources, int n_tested, int n_draws, double* base, double* replaced) {
  const Trees all = *shared;
  long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= (long long)n_columns * n_tested) return;
  long long column = thread / n_tested, n_outputs = all.n_classes ? all.n_classes : 1;
  int place = (int)(thread % n_tested), row = tested[place];
  const double* own = predicted + column * all.n_rows * n_outputs;
  double as_it_is = loss_of(all, row, own + row * n_outputs), rise = 0.0;
  int n_changed = 0;
  for (int draw = 0; draw < n_draws; ++draw) {
    double loss = loss_of(all, row, own + sources[(long long)draw * n_tested + place] * n_outputs);
    rise += loss - as_it_is;
    n_changed += loss != as_it_is;
  }
  base[thread] = as_it_is;
  if (is_impure[column]) {
    replaced[thread] = as_it_is + rise / n_draws;
  } else {
    // Every leaf is pure: a row is right or wrong, and the draws that change that are counted.
    double difference = all.wrong[0] - all.right[0];
    double change = difference * n_changed / n_draws;
    replaced[thread] = as_it_is == all.right[0] ? as_it_is + change : as_it_is - change;
  }
}

// One thread per column and draw; fills `by_draw` (n_columns, n_draws) with the sum of the losses of all tested rows.
KERNEL draw_totals(const Trees* shared, int n_columns, const double* predicted, const int* is_impure,
                   const int* tested, const int* sources, int n_tested, int n_draws, double* by_draw) {
  const Trees all = *shared;
  long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= (long long)n_columns * n_draws) return;
  long long column = thread / n_draws, n_outputs = all.n_classes ? all.n_classes : 1, n_wrong = 0;
  const int* own_sources = sources + thread % n_draws * n_tested;
  const double* own = predicted + column * all.n_rows * n_outputs;
  bool is_impure_column = is_impure[column] != 0;
  Sum sum = {0.0, 0.0};
  for (int place = 0; place < n_tested; ++place) {
    double loss = loss_of(all, tested[place], own + own_sources[place] * n_outputs);
    if (is_impure_column) {
      add_loss(sum, loss);
    } else {
      n_wrong += loss == all.wrong[0];
    }
  }
  if (!is_impure_column) {
    add_repeated_loss(sum, all.wrong[0], (double)n_wrong);
    add_repeated_loss(sum, all.right[0], (double)(n_tested - n_wrong));
  }
  by_draw[thread] = sum.total + sum.lost;
}
