// Trees on one column, one thread per column and split; the twin of `one_column/leaves.py`.
//
// A thread walks over the sorted rows of its column with two cursors. The first reads the train rows of the next leaf;
// the second then visits the test rows up to the leaf's threshold. Leaves come from left to right, so none is stored.

// What all trees share. Every field takes eight bytes: the host writes the same record.
struct Trees {
  const float* values;          // (n_columns, n_rows), ascending in each column
  const int* rows;              // (n_columns, n_rows)
  const int* ties;              // (n_columns,), see `Ties`
  const int* roles;             // (n_rows, n_splits): `TRAIN`, or the row that receives a test row's value; else -2
  const int* classes;           // (n_rows,)
  const double* numbers;        // (n_rows,) where numbers are predicted
  const double* class_weights;  // (n_classes,), or null
  const double* right;          // (n_classes,) loss of a row in a pure leaf of its own class
  const double* wrong;          // (n_classes,) and in one of another
  const double* tabled;         // (n_tabled, n_tabled) log-loss in leaves of fewer than n_tabled rows
  const double* total_weights;  // (n_splits,)
  const long long* limits;      // (n_splits, 4): criterion, max_depth, min_split, min_leaf; null for full trees
  const unsigned char* counts;  // (n_trees, n_rows, n_splits) how often trees of a forest draw rows; null for one tree
  double* memory;               // (n_cells, n_threads)
  long long n_threads;
  long long n_rows;
  long long n_splits;
  long long n_classes;  // 0 where numbers are predicted
  long long n_tabled;
  long long loss;
  long long n_trees;     // of a forest
  long long is_counted;  // whether rows in pure leaves of distinct or tied columns are counted
};

// The column of one thread, and its split.
struct Tree {
  const float* values;
  const int* rows;
  const int* roles;
  const unsigned char* counts;
  int n_rows;
  int n_splits;

  DEVICE int role(int place) const { return roles[(long long)rows[place] * n_splits]; }

  // How often the tree draws a row; a single tree draws every train row once.
  DEVICE int n_drawn(int place) const {
    return counts ? counts[(long long)rows[place] * n_splits] : role(place) == TRAIN;
  }
};

// Tied rows that a tree is grown from: those at the places `first` to before `next`.
struct Group {
  int first;
  int next;  // the first such row of the next group, or n_rows
  float low;
  float high;
  double weight;  // draws
  double size;    // rows
  bool is_mixed;
};

DEVICE int n_stats(const Trees& all) { return all.n_classes ? (int)all.n_classes : 2; }

DEVICE void clear(const Cells& stats, int n) {
  for (int stat = 0; stat < n; ++stat) stats[stat] = 0.0;
}

DEVICE int next_train(const Tree& tree, int place) {
  while (place < tree.n_rows && !tree.n_drawn(place)) ++place;
  return place;
}

DEVICE void add_row(const Trees& all, int row, double weight, const Cells& stats) {
  if (all.n_classes) {
    stats[all.classes[row]] += weight;
  } else {
    double number = all.numbers[row];
    stats[0] += weight * number;
    stats[1] += weight * number * number;
  }
}

// Read the group that begins with the train row at `first`.
DEVICE Group read_group(const Trees& all, const Tree& tree, int first, const Cells& stats) {
  double weight = (double)tree.n_drawn(first);
  Group group = {first, first + 1, tree.values[first], tree.values[first], weight, 1.0, false};
  int row = tree.rows[first];
  int label = all.n_classes ? all.classes[row] : 0;
  clear(stats, n_stats(all));
  add_row(all, row, weight, stats);
  for (; group.next < tree.n_rows; ++group.next) {
    int n_drawn = tree.n_drawn(group.next);
    if (!n_drawn) continue;
    float value = tree.values[group.next];
    if (value > group.high + TIE) break;
    group.high = value;
    group.weight += (double)n_drawn;
    group.size += 1.0;
    row = tree.rows[group.next];
    add_row(all, row, (double)n_drawn, stats);
    group.is_mixed |= all.n_classes && all.classes[row] != label;
  }
  return group;
}

DEVICE double log_loss(double share) {
  const double epsilon = 2.220446049250313e-16;
  if (share <= epsilon) return 36.04365338911715;
  if (share >= 1.0 - epsilon) return 2.2204460492503136e-16;
  return -log(share);
}

// The loss of a row of each class in a leaf with these counts; the twin of `class_losses` and `leaf_losses`. Only
// counts that are whole numbers are `is_whole`.
DEVICE void class_losses(const Trees& all, const Cells& counts, double weight, bool is_whole, const Cells& losses) {
  double squares = 0.0;
  int likeliest = 0, n_classes = (int)all.n_classes;
  for (int label = 0; label < n_classes; ++label) {
    double share = counts[label] / weight;
    squares += share * share;
    if (counts[label] > counts[likeliest]) likeliest = label;
  }
  for (int label = 0; label < n_classes; ++label) {
    double share = counts[label] / weight, loss;
    if (all.loss == LOG) {
      bool is_tabled = is_whole && weight < (double)all.n_tabled;
      loss = is_tabled ? all.tabled[(int)weight * all.n_tabled + (int)counts[label]] : log_loss(share);
    } else if (all.loss == BRIER) {
      loss = squares - share * share + (share - 1.0) * (share - 1.0);
    } else {
      loss = label == likeliest ? 0.0 : 1.0;
    }
    losses[label] = all.class_weights ? loss * all.class_weights[label] : loss;
  }
}

DEVICE double number_loss(const Trees& all, double error) {
  return all.loss == SQUARED ? error * error : fabs(error);
}

// Hand the leaves of a full tree, which cuts between all groups, to `sink`.
template <class Sink>
DEVICE void full_leaves(const Trees& all, const Tree& tree, const Cells& stats, Sink& sink) {
  int first = next_train(tree, 0);
  while (first < tree.n_rows) {
    Group group = read_group(all, tree, first, stats);
    double limit = group.next < tree.n_rows ? midpoint(group.high, tree.values[group.next]) : INFINITE;
    sink.leaf(stats, group.weight, limit, group.is_mixed);
    first = group.next;
  }
}
