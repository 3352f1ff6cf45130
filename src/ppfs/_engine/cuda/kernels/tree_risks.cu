// Test risks of trees on one column, before and after the column is permuted; the twin of `one_column/tree_risks.py`
// and, for rows that are counted, of `one_column/neighbor_risks.py`.

// Adds the losses of a tree's test rows, leaf by leaf.
struct RiskSink {
  const Trees& all;
  const Tree& tree;
  Cells losses;        // (n_classes,) of a row of each class in the leaf at hand
  Cells counts;        // (4, n_classes) with class weights: rows right and wrong, as they are and permuted
  bool is_counted;     // whether rows in pure leaves are counted
  int place;           // of the next row to visit
  long long n_wrong[2];  // without class weights: as they are, and permuted
  long long n_right[2];
  Sum sums[2];

  DEVICE void count(int label, bool is_right, int which) {
    if (all.class_weights) {
      counts[(2 * which + !is_right) * all.n_classes + label] += 1.0;
    } else {
      n_right[which] += is_right;
      n_wrong[which] += !is_right;
    }
  }

  DEVICE void leaf(const Cells& stats, double weight, double limit, bool is_mixed) {
    bool is_pure = is_counted && !is_mixed;
    int says = 0;
    double prediction = 0.0;
    if (!all.n_classes) {
      prediction = stats[0] / weight;
    } else if (is_pure) {
      while (stats[says] == 0.0) ++says;
    } else {
      class_losses(all, stats, weight, true, losses);
    }
    for (; place < tree.n_rows && (double)tree.values[place] <= limit; ++place) {
      int row = tree.rows[place], receiver = tree.role(place);
      if (receiver < 0) continue;
      if (!all.n_classes) {
        add_loss(sums[0], number_loss(all, all.numbers[row] - prediction));
        add_loss(sums[1], number_loss(all, all.numbers[receiver] - prediction));
        continue;
      }
      int label = all.classes[row], other = all.classes[receiver];
      if (is_pure) {
        count(label, label == says, 0);
        count(other, other == says, 1);
      } else {
        add_loss(sums[0], losses[label]);
        add_loss(sums[1], losses[other]);
      }
    }
  }

  // The sum of all losses; the twin of `_sum_up`.
  DEVICE double total(int which) {
    Sum sum = sums[which];
    if (is_counted && all.class_weights) {
      for (int label = 0; label < all.n_classes; ++label) {
        add_repeated_loss(sum, all.wrong[label], counts[(2 * which + 1) * all.n_classes + label]);
        add_repeated_loss(sum, all.right[label], counts[2 * which * all.n_classes + label]);
      }
    } else if (is_counted) {
      add_repeated_loss(sum, all.wrong[0], (double)n_wrong[which]);
      add_repeated_loss(sum, all.right[0], (double)n_right[which]);
    }
    return sum.total + sum.lost;
  }
};

DEVICE Tree tree_of(const Trees& all, int column, int split) {
  long long start = column * all.n_rows;
  return {all.values + start, all.rows + start, all.roles + split, nullptr, (int)all.n_rows, (int)all.n_splits};
}

// Hands the leaves of a thread's full tree to a sink.
struct FullTrees {
  template <class Sink>
  static DEVICE void grow(const Trees& all, const Tree& tree, int split, const Cells& memory, Sink& sink) {
    full_leaves(all, tree, memory, sink);
  }
};

// The same for trees with limits, which need more registers. `memory` has room for four vectors of statistics and the
// stack.
struct LimitedTrees {
  template <class Sink>
  static DEVICE void grow(const Trees& all, const Tree& tree, int split, const Cells& memory, Sink& sink) {
    const long long* own = all.limits + 4 * split;
    Limits limits = {(int)own[0], own[1], (double)own[2], (double)own[3]};
    int n = n_stats(all);
    NodeMemory nodes = {memory, memory.from(n), memory.from(2 * n), memory.from(3 * n), memory.from(4 * n)};
    limited_leaves(all, tree, limits, nodes, sink);
  }
};

template <class Kind>
DEVICE void write_risks(const Trees& all, int first, int n_columns, int is_rest, double* base, double* permuted) {
  long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= n_columns * all.n_splits) return;
  int column = first + (int)(thread / all.n_splits), split = (int)(thread % all.n_splits);
  if (is_rest && all.ties[column] == DISTINCT) return;
  Cells memory = {all.memory + thread, all.n_threads};
  Tree tree = tree_of(all, column, split);
  bool is_counted = all.is_counted && all.ties[column] != ENTANGLED;
  RiskSink sink = {all, tree, memory, memory.from(all.n_classes), is_counted, 0, {0, 0}, {0, 0}, {}};
  if (is_counted && all.class_weights) clear(sink.counts, 4 * (int)all.n_classes);
  Kind::grow(all, tree, split, memory.from(5 * all.n_classes), sink);
  long long out = column * all.n_splits + split;
  base[out] = sink.total(0) / all.total_weights[split];
  permuted[out] = sink.total(1) / all.total_weights[split];
}

// One thread per split and column, from column `first` on; fills `base` and `permuted` (n_columns, n_splits) with mean
// losses. With `is_rest`, columns of distinct values are left as they are: `neighbor_risks` answered about them.
KERNEL full_tree_risks(const Trees* shared, int first, int n_columns, int is_rest, double* base,
                          double* permuted) {
  write_risks<FullTrees>(*shared, first, n_columns, is_rest, base, permuted);
}

KERNEL limited_tree_risks(const Trees* shared, int first, int n_columns, int is_rest, double* base,
                          double* permuted) {
  write_risks<LimitedTrees>(*shared, first, n_columns, is_rest, base, permuted);
}
