"""Trees on single columns on a GPU: the kernels in CUDA C++, and what launches them."""
