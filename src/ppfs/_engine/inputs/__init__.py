"""What kernels read: sorted columns, splits, the target, sets of bits, random numbers by key."""
