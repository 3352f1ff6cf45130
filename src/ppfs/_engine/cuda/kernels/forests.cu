// Forests on one column, one thread per column and split, tree by tree; the twin of `one_column/forest_leaves.py`.

// Adds what the leaves of a tree predict to the sums of the test rows, which are numbered in the order of their values.
struct SumSink {
  const Trees& all;
  const Tree& tree;
  Cells sums;  // (n_test, n_outputs)
  int place;
  long long number;

  DEVICE void leaf(const Cells& stats, double weight, double limit, bool) {
    int n_outputs = all.n_classes ? (int)all.n_classes : 1;
    for (; place < tree.n_rows && (double)tree.values[place] <= limit; ++place) {
      if (tree.role(place) < 0) continue;
      Cells own = sums.from(number++ * n_outputs);
      for (int output = 0; output < n_outputs; ++output) {
        // A share of zero needs no memory.
        if (stats[output] != 0.0) own[output] += stats[output] / weight;
      }
    }
  }
};

// Sum the predictions of all trees for each test row.
template <class Kind>
DEVICE void sum_trees(const Trees& all, Tree tree, int split, const Cells& sums, const Cells& memory) {
  int n_outputs = all.n_classes ? (int)all.n_classes : 1;
  long long n_tested = 0;
  for (int place = 0; place < tree.n_rows; ++place) n_tested += tree.role(place) >= 0;
  for (long long cell = 0; cell < n_tested * n_outputs; ++cell) sums[cell] = 0.0;
  for (long long number = 0; number < all.n_trees; ++number) {
    tree.counts = all.counts + number * all.n_rows * all.n_splits + split;
    SumSink sink = {all, tree, sums, 0, 0};
    Kind::grow(all, tree, split, memory, sink);
  }
}

// `memory` of a thread: the losses of each class, the sums of the test rows, at most `n_sums` numbers, and the nodes.
template <class Kind>
DEVICE void write_forest_risks(const Trees& all, int first, int n_columns, int n_sums, double* base, double* permuted) {
  long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= n_columns * all.n_splits) return;
  int column = first + (int)(thread / all.n_splits), split = (int)(thread % all.n_splits);
  Cells losses = {all.memory + thread, all.n_threads}, sums = losses.from(all.n_classes);
  Tree tree = tree_of(all, column, split);
  sum_trees<Kind>(all, tree, split, sums, sums.from(n_sums));
  double n_trees = (double)all.n_trees;
  int n_outputs = all.n_classes ? (int)all.n_classes : 1;
  Sum as_it_is = {0.0, 0.0}, moved = {0.0, 0.0};
  for (int place = 0; place < tree.n_rows; ++place) {
    int row = tree.rows[place], receiver = tree.role(place);
    if (receiver < 0) continue;
    if (all.n_classes) {
      class_losses(all, sums, n_trees, false, losses);
      add_loss(as_it_is, losses[all.classes[row]]);
      add_loss(moved, losses[all.classes[receiver]]);
    } else {
      double prediction = sums[0] / n_trees;
      add_loss(as_it_is, number_loss(all, all.numbers[row] - prediction));
      add_loss(moved, number_loss(all, all.numbers[receiver] - prediction));
    }
    sums = sums.from(n_outputs);
  }
  long long out = column * all.n_splits + split;
  base[out] = (as_it_is.total + as_it_is.lost) / all.total_weights[split];
  permuted[out] = (moved.total + moved.lost) / all.total_weights[split];
}

// One thread per split and column, from column `first` on; fills `base` and `permuted` (n_columns, n_splits) with mean
// losses.
KERNEL full_forest_risks(const Trees* shared, int first, int n_columns, int n_sums, double* base, double* permuted) {
  write_forest_risks<FullTrees>(*shared, first, n_columns, n_sums, base, permuted);
}

KERNEL limited_forest_risks(const Trees* shared, int first, int n_columns, int n_sums, double* base,
                            double* permuted) {
  write_forest_risks<LimitedTrees>(*shared, first, n_columns, n_sums, base, permuted);
}

template <class Kind>
DEVICE void write_forest_predictions(const Trees& all, int n_columns, int n_sums, double* predicted) {
  long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= n_columns * all.n_splits) return;
  long long column = thread / all.n_splits;
  int split = (int)(thread % all.n_splits), n_outputs = all.n_classes ? (int)all.n_classes : 1;
  Cells losses = {all.memory + thread, all.n_threads}, sums = losses.from(all.n_classes);
  Tree tree = tree_of(all, (int)column, split);
  sum_trees<Kind>(all, tree, split, sums, sums.from(n_sums));
  for (int place = 0; place < tree.n_rows; ++place) {
    if (tree.role(place) < 0) continue;
    double* own = predicted + (column * all.n_rows + tree.rows[place]) * n_outputs;
    if (all.n_classes) class_losses(all, sums, (double)all.n_trees, false, losses);
    for (int output = 0; output < n_outputs; ++output) {
      own[output] = all.n_classes ? losses[output] : sums[0] / (double)all.n_trees;
    }
    sums = sums.from(n_outputs);
  }
}

// One thread per column and split. Fills `predicted` (n_columns, n_rows, n_outputs) where rows are tested.
KERNEL full_forest_predictions(const Trees* shared, int n_columns, int n_sums, double* predicted) {
  write_forest_predictions<FullTrees>(*shared, n_columns, n_sums, predicted);
}

KERNEL limited_forest_predictions(const Trees* shared, int n_columns, int n_sums, double* predicted) {
  write_forest_predictions<LimitedTrees>(*shared, n_columns, n_sums, predicted);
}
