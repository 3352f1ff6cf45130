"""The inputs of kernels: sorted columns, splits, the target, bit sets, random numbers by key."""
