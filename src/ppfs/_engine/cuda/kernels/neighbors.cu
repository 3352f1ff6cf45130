// Full trees on distinct values by neighbors, all splits at once; the twin of `one_column/neighbors.py`.
//
// One block per column. From a test row one walks outwards over the sorted rows, the nearer side first: the first train
// row of a split that is met decides. The train parts of 64 splits are the bits of one word.

// The rows of a column in memory that its block shares, between two ends that no row is beyond: row `i` stands at `i + 1`.
struct Line {
  double* halves;  // (n_rows + 2,) half of each value
  Word* trained;   // (n_rows + 2,) splits that train on a row
  unsigned char* labels;  // (n_rows + 2,)
};

// Return whether near ties are one group in any train part, and contain their own test rows.
DEVICE bool is_apart(const float* values, int first, int end, int n_rows) {
  float low = values[first], high = values[end - 1];
  if (high > low + TIE) return false;
  if (end < n_rows && midpoint(low, values[end]) < high) return false;
  return !(first > 0 && midpoint(values[first - 1], high) >= low);
}

// Return what ties a column has; every thread of the block gets the answer. The twin of `mark_groups`.
DEVICE int ties_of(const float* values, int n_rows) {
  int is_tied = 0, is_entangled = 0;
  for (int place = threadIdx.x; place < n_rows; place += blockDim.x) {
    if (place > 0 && values[place] <= values[place - 1] + TIE) continue;
    int end = place + 1;
    while (end < n_rows && values[end] <= values[end - 1] + TIE) ++end;
    is_tied |= end > place + 1;
    is_entangled |= values[end - 1] > values[place] && !is_apart(values, place, end, n_rows);
  }
  if (__syncthreads_or(is_entangled)) return ENTANGLED;
  return __syncthreads_or(is_tied) ? TIED : DISTINCT;
}

// Say of each column what ties it has, one block per column.
KERNEL mark_ties(const float* values, int n_rows, int* ties) {
  int own = ties_of(values + (long long)blockIdx.x * n_rows, n_rows);
  if (threadIdx.x == 0) ties[blockIdx.x] = own;
}

// Transpose the 32 by 32 bits that a warp holds, one row per lane.
DEVICE unsigned int transposed(unsigned int bits, int lane) {
  unsigned int mask = 0x0000FFFFu;
  for (int apart = 16; apart > 0; apart >>= 1, mask ^= mask << apart) {
    unsigned int other = __shfl_xor_sync(0xFFFFFFFFu, bits, apart);
    bits = lane & apart ? (bits & ~mask) | ((other >> apart) & mask) : (bits & mask) | ((other & mask) << apart);
  }
  return bits;
}

// Add a warp's words to the counts of their bits: `low` counts bit `lane`, `high` bit `lane + 32`.
DEVICE void tally(Word word, int lane, bool has_high, int& low, int& high) {
  low += __popc(transposed((unsigned int)word, lane));
  if (has_high) high += __popc(transposed((unsigned int)(word >> 32), lane));
}

// Fill `base` and `permuted` (n_columns, n_splits) with mean losses of columns of distinct values, one block each, and
// `ties` (n_columns,) of all columns. `train` and `test` are (n_words, n_rows); `receivers` (n_classes, n_words, n_rows)
// holds the splits in which a row of the class receives the value of a row. `n_tested` is (n_splits,). The lines of
// columns that do not fit into shared memory are in `lines`, which else is null.
KERNEL neighbor_risks(const Trees* shared, const Word* train, const Word* test, const Word* receivers,
                      const double* n_tested, unsigned char* lines, long long bytes_per_line, int* ties, double* base,
                      double* permuted) {
  SHARED_MEMORY(on_chip);
  unsigned char* memory = lines ? lines + blockIdx.x * bytes_per_line : on_chip;
  const Trees all = *shared;
  int n_rows = (int)all.n_rows, n_splits = (int)all.n_splits, n_words = (n_splits + 63) / 64;
  long long start = (long long)blockIdx.x * n_rows;
  int own_ties = ties_of(all.values + start, n_rows);
  if (threadIdx.x == 0) ties[blockIdx.x] = own_ties;
  if (own_ties != DISTINCT) return;
  int* counts = (int*)memory;  // (2, 64)
  Line line;
  line.halves = (double*)(memory + 128 * sizeof(int));
  line.trained = (Word*)(line.halves + n_rows + 2);
  line.labels = (unsigned char*)(line.trained + n_rows + 2);
  int lane = threadIdx.x & 31, n_chunks = (n_rows + 31) / 32;
  for (int place = threadIdx.x; place < n_rows; place += blockDim.x) {
    line.halves[place + 1] = 0.5 * (double)all.values[start + place];
    line.labels[place + 1] = (unsigned char)all.classes[all.rows[start + place]];
  }
  if (threadIdx.x == 0) {
    line.halves[0] = -INFINITE;
    line.halves[n_rows + 1] = INFINITE;
    line.trained[0] = line.trained[n_rows + 1] = 0;
    line.labels[0] = line.labels[n_rows + 1] = 0;
  }
  for (int word = 0; word < n_words; ++word) {
    bool has_high = n_splits - 64 * word > 32;
    for (int place = threadIdx.x; place < n_rows; place += blockDim.x) {
      line.trained[place + 1] = train[(long long)word * n_rows + all.rows[start + place]];
    }
    for (int index = threadIdx.x; index < 128; index += blockDim.x) counts[index] = 0;
    __syncthreads();
    int n_wrong = 0, n_wrong_high = 0, n_missed = 0, n_missed_high = 0;
    for (int chunk = threadIdx.x >> 5; chunk < n_chunks; chunk += blockDim.x >> 5) {
      int place = 32 * chunk + lane + 1;
      Word wrong = 0, missed = 0;
      if (place <= n_rows) {
        int row = all.rows[start + place - 1], label = line.labels[place];
        Word pending = test[(long long)word * n_rows + row];
        double value = 2.0 * line.halves[place];
        int left = place - 1, right = place + 1;
        missed = pending;
        while (pending) {
          bool is_left = value <= line.halves[left] + line.halves[right];
          int met = is_left ? left-- : right++;
          Word answered = pending & line.trained[met];
          if (!answered) continue;
          pending ^= answered;
          int says = line.labels[met];
          if (says != label) wrong |= answered;
          missed &= ~(answered & receivers[((long long)says * n_words + word) * n_rows + row]);
        }
      }
      tally(wrong, lane, has_high, n_wrong, n_wrong_high);
      tally(missed, lane, has_high, n_missed, n_missed_high);
    }
    atomicAdd(counts + lane, n_wrong);
    atomicAdd(counts + 64 + lane, n_missed);
    if (has_high) {
      atomicAdd(counts + 32 + lane, n_wrong_high);
      atomicAdd(counts + 96 + lane, n_missed_high);
    }
    __syncthreads();
    for (int index = threadIdx.x; index < 128; index += blockDim.x) {
      int split = 64 * word + (index & 63);
      if (split >= n_splits) continue;
      double count = (double)counts[index];
      Sum sum = {0.0, 0.0};
      add_repeated_loss(sum, all.wrong[0], count);
      add_repeated_loss(sum, all.right[0], n_tested[split] - count);
      double* out = index < 64 ? base : permuted;
      out[(long long)blockIdx.x * n_splits + split] = (sum.total + sum.lost) / all.total_weights[split];
    }
    __syncthreads();
  }
}
