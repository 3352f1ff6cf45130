// Trees with limits: nodes are cut one by one, as in `trees/cuts.py` and `trees/leaf_rule.py`, with the same rounding.
// A node is a range of places; its groups are read again at every step, which takes no memory.

struct Limits {
  int criterion;
  long long max_depth;
  double min_split;
  double min_leaf;
};

struct Node {
  int first;
  int end;
  long long depth;
  double limit;  // the largest value that belongs to the node
};

struct NodeMemory {
  Cells group, node, left, right, stack;
};

struct Cut {
  int place;  // the first train row on the right, or -1
  double threshold;
};

DEVICE double gini(double squares, double weight) { return 1.0 - squares / (weight * weight); }

DEVICE double impurity(const Cells& stats, int n, double weight, int criterion) {
  if (criterion == SQUARED_ERROR) {
    double mean = stats[0] / weight, mean_square = stats[1] / weight;
    return mean_square - mean * mean;
  }
  double squares = 0.0;
  for (int stat = 0; stat < n; ++stat) squares += stats[stat] * stats[stat];
  return gini(squares, weight);
}

DEVICE double gain(double left, double right, double n_left, double n_right, int criterion) {
  if (criterion == SQUARED_ERROR) return left * left / n_left + right * right / n_right;
  return -n_right * gini(right, n_right) - n_left * gini(left, n_left);
}

// Sum the groups from `first` to before `end`, group by group; return their weight, and set their number of rows.
DEVICE double add_groups(const Trees& all, const Tree& tree, int first, int end, const Cells& group, const Cells& out,
                         double& size) {
  double weight = 0.0;
  size = 0.0;
  int n = n_stats(all);
  clear(out, n);
  while (first < end) {
    Group own = read_group(all, tree, first, group);
    weight += own.weight;
    size += own.size;
    for (int stat = 0; stat < n; ++stat) out[stat] += group[stat];
    first = own.next;
  }
  return weight;
}

DEVICE Cut best_cut(const Trees& all, const Tree& tree, const Node& node, double weight, double size,
                    const Limits& limits, const NodeMemory& memory, double& best) {
  Cut cut = {-1, 0.0};
  int n = n_stats(all), first = node.first;
  double left_weight = 0.0, left_size = 0.0, left_sum = 0.0, right_sum = 0.0;
  float previous = 0.0f;
  clear(memory.left, n);
  best = -INFINITE;
  while (first < node.end) {
    Group group = read_group(all, tree, first, memory.group);
    double right_weight = weight - left_weight;
    if (first > node.first && left_size >= limits.min_leaf && size - left_size >= limits.min_leaf) {
      double worth = gain(left_sum, right_sum, left_weight, right_weight, limits.criterion);
      if (worth > best) {
        best = worth;
        cut = {first, midpoint(previous, group.low)};
      }
    }
    previous = group.high;
    if (all.n_classes) {
      left_sum = right_sum = 0.0;
      for (int stat = 0; stat < n; ++stat) {
        double left = memory.left[stat] + memory.group[stat], right = memory.node[stat] - left;
        memory.left[stat] = left;
        left_sum += left * left;
        right_sum += right * right;
      }
    } else {
      left_sum += memory.group[0];
      right_sum = memory.node[0] - left_sum;
    }
    left_weight += group.weight;
    left_size += group.size;
    first = group.next;
  }
  return cut;
}

DEVICE Cut cut_of(const Trees& all, const Tree& tree, const Node& node, double total_weight, const Limits& limits,
                  const NodeMemory& memory, double& weight) {
  const double epsilon = 2.220446049250313e-16;
  int n = n_stats(all), criterion = limits.criterion;
  double size, left_size;
  weight = add_groups(all, tree, node.first, node.end, memory.group, memory.node, size);
  double own = impurity(memory.node, n, weight, criterion);
  if (node.depth >= limits.max_depth || size < limits.min_split || !(own > epsilon)) return {-1, 0.0};
  double best;
  Cut cut = best_cut(all, tree, node, weight, size, limits, memory, best);
  if (cut.place < 0) return cut;
  double before = criterion == SQUARED_ERROR ? memory.node[0] * memory.node[0] / weight : -(weight * own);
  if (best - before > 1e-6 * (fabs(before) + weight * own)) return cut;
  double left_weight = add_groups(all, tree, node.first, cut.place, memory.group, memory.left, left_size);
  double right_weight = weight - left_weight;
  for (int stat = 0; stat < n; ++stat) memory.right[stat] = memory.node[stat] - memory.left[stat];
  double both = left_weight + right_weight;
  double improvement =
      (both / total_weight) * (impurity(memory.node, n, both, criterion) -
                               (right_weight / both * impurity(memory.right, n, right_weight, criterion)) -
                               (left_weight / both * impurity(memory.left, n, left_weight, criterion)));
  return improvement + epsilon < 0.0 ? Cut{-1, 0.0} : cut;
}

DEVICE void push(const Cells& stack, long long height, const Node& node) {
  Cells entry = stack.from(4 * height);
  entry[0] = node.first;
  entry[1] = node.end;
  entry[2] = (double)node.depth;
  entry[3] = node.limit;
}

DEVICE Node pop(const Cells& stack, long long height) {
  Cells entry = stack.from(4 * height);
  return {(int)entry[0], (int)entry[1], (long long)entry[2], entry[3]};
}

// Hand the leaves of a tree with limits to `sink`, from left to right.
template <class Sink>
DEVICE void limited_leaves(const Trees& all, const Tree& tree, const Limits& limits, const NodeMemory& memory,
                           Sink& sink) {
  double total_weight = 0.0;
  for (int place = 0; place < tree.n_rows; ++place) total_weight += tree.n_drawn(place);
  push(memory.stack, 0, {next_train(tree, 0), tree.n_rows, 0, INFINITE});
  long long height = 1;
  while (height > 0) {
    --height;
    Node node = pop(memory.stack, height);
    double weight;
    Cut cut = cut_of(all, tree, node, total_weight, limits, memory, weight);
    if (cut.place < 0) {
      sink.leaf(memory.node, weight, node.limit, true);
      continue;
    }
    push(memory.stack, height, {cut.place, node.end, node.depth + 1, node.limit});
    double limit = cut.threshold < node.limit ? cut.threshold : node.limit;
    push(memory.stack, height + 1, {node.first, cut.place, node.depth + 1, limit});
    height += 2;
  }
}
