"""How kernels are compiled, kept on disk and run on threads."""
