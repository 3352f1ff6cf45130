// Columns sorted once, each by one block: values ascending, ties by row.

// Bits that sort like the number, as unsigned integers do. Adding zero turns -0.0 into 0.0.
DEVICE unsigned int sortable(float value) {
  unsigned int bits = __float_as_uint(value + 0.0f);
  return bits ^ ((bits >> 31) ? 0xFFFFFFFFu : 0x80000000u);
}

DEVICE float unsortable(unsigned int bits) {
  return __uint_as_float(bits ^ ((bits >> 31) ? 0x80000000u : 0xFFFFFFFFu));
}

// One key per row: the value, then the row. A number that is not finite in 32 bits sets `is_bad`.
template <class Number>
DEVICE Word key_of(Number number, int row, int* is_bad) {
  float value = (float)number;
  if (!(fabsf(value) <= 3.402823466e+38f)) *is_bad = 1;
  return ((Word)sortable(value) << 32) | (Word)row;
}

// Sort the keys of a block, a power of two of them (Batcher's bitonic network). Pairs at most 32 places apart belong to
// one warp, which needs no barrier of the block.
DEVICE void sort_keys(Word* keys, int n_keys) {
  for (int size = 2; size <= n_keys; size <<= 1) {
    for (int apart = size >> 1; apart > 0; apart >>= 1) {
      for (int pair = threadIdx.x; pair < n_keys >> 1; pair += blockDim.x) {
        int low = 2 * pair - (pair & (apart - 1)), high = low + apart;
        bool is_ascending = (low & size) == 0;
        Word first = keys[low], second = keys[high];
        if ((first > second) == is_ascending) {
          keys[low] = second;
          keys[high] = first;
        }
      }
      int next = apart > 1 ? apart >> 1 : size;
      if (apart > 32 || next > 32) {
        __syncthreads();
      } else {
        __syncwarp();
      }
    }
  }
  __syncthreads();
}

template <class Number>
DEVICE void sort_column(const Number* X, long long row_step, long long column_step, int n_rows, int n_keys,
                        float* values, int* rows, int* is_bad, Word* keys) {
  const Number* column = X + (long long)blockIdx.x * column_step;
  for (int row = threadIdx.x; row < n_keys; row += blockDim.x) {
    keys[row] = row < n_rows ? key_of(column[row * row_step], row, is_bad) : ~(Word)0;
  }
  __syncthreads();
  sort_keys(keys, n_keys);
  long long start = (long long)blockIdx.x * n_rows;
  for (int place = threadIdx.x; place < n_rows; place += blockDim.x) {
    values[start + place] = unsortable((unsigned int)(keys[place] >> 32));
    rows[start + place] = (int)(keys[place] & 0xFFFFFFFFu);
  }
}

// Sort columns in shared memory, one per block. `X[row * row_step + column * column_step]`; `values` and `rows` are
// (n_columns, n_rows).
KERNEL sort_floats(const float* X, long long row_step, long long column_step, int n_rows, int n_keys, float* values,
                   int* rows, int* is_bad) {
  SHARED_MEMORY(memory);
  sort_column(X, row_step, column_step, n_rows, n_keys, values, rows, is_bad, (Word*)memory);
}

KERNEL sort_doubles(const double* X, long long row_step, long long column_step, int n_rows, int n_keys, float* values,
                    int* rows, int* is_bad) {
  SHARED_MEMORY(memory);
  sort_column(X, row_step, column_step, n_rows, n_keys, values, rows, is_bad, (Word*)memory);
}

// Columns of more rows than shared memory holds: their keys, (n_columns, n_rows), are sorted in global memory between
// these two kernels.
template <class Number>
DEVICE void write_keys(const Number* X, long long row_step, long long column_step, int n_rows, long long n_keys,
                       Word* keys, int* is_bad) {
  long long place = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (place < n_keys) {
    int row = (int)(place % n_rows);
    keys[place] = key_of(X[row * row_step + place / n_rows * column_step], row, is_bad);
  }
}

KERNEL keys_of_floats(const float* X, long long row_step, long long column_step, int n_rows, long long n_keys,
                      Word* keys, int* is_bad) {
  write_keys(X, row_step, column_step, n_rows, n_keys, keys, is_bad);
}

KERNEL keys_of_doubles(const double* X, long long row_step, long long column_step, int n_rows, long long n_keys,
                       Word* keys, int* is_bad) {
  write_keys(X, row_step, column_step, n_rows, n_keys, keys, is_bad);
}

KERNEL unpack_keys(const Word* keys, long long n_keys, float* values, int* rows) {
  long long place = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (place < n_keys) {
    values[place] = unsortable((unsigned int)(keys[place] >> 32));
    rows[place] = (int)(keys[place] & 0xFFFFFFFFu);
  }
}

// Bits that sort like a number of 64 bits.
DEVICE Word sortable_word(double value) {
  Word bits = (Word)__double_as_longlong(value + 0.0);
  return bits ^ ((bits >> 63) ? ~(Word)0 : (Word)1 << 63);
}

// The order of one column per block, by all of the number's bits, ties by row: `order` (n_rows, n_columns).
template <class Number>
DEVICE void order_column(const Number* X, long long row_step, int n_rows, int n_keys, int* order, long long n_columns,
                         Word* keys) {
  int* rows = (int*)(keys + n_keys);
  for (int row = threadIdx.x; row < n_keys; row += blockDim.x) {
    keys[row] = row < n_rows ? sortable_word((double)X[row * row_step + blockIdx.x]) : ~(Word)0;
    rows[row] = row;
  }
  __syncthreads();
  for (int size = 2; size <= n_keys; size <<= 1) {
    for (int apart = size >> 1; apart > 0; apart >>= 1) {
      for (int pair = threadIdx.x; pair < n_keys >> 1; pair += blockDim.x) {
        int low = 2 * pair - (pair & (apart - 1)), high = low + apart;
        Word first = keys[low], second = keys[high];
        bool is_after = first > second || (first == second && rows[low] > rows[high]);
        if (is_after == ((low & size) == 0)) {
          keys[low] = second;
          keys[high] = first;
          int row = rows[low];
          rows[low] = rows[high];
          rows[high] = row;
        }
      }
      __syncthreads();
    }
  }
  for (int place = threadIdx.x; place < n_rows; place += blockDim.x) {
    order[place * n_columns + blockIdx.x] = rows[place];
  }
}

KERNEL order_floats(const float* X, long long row_step, int n_rows, int n_keys, int* order, long long n_columns) {
  SHARED_MEMORY(memory);
  order_column(X, row_step, n_rows, n_keys, order, n_columns, (Word*)memory);
}

KERNEL order_doubles(const double* X, long long row_step, int n_rows, int n_keys, int* order, long long n_columns) {
  SHARED_MEMORY(memory);
  order_column(X, row_step, n_rows, n_keys, order, n_columns, (Word*)memory);
}
