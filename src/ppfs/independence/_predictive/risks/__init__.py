"""Sources of the risks with and without a knockoff: compiled trees, vectorized models, or any estimator."""
