"""Who computes the risks with and without a knockoff: compiled trees, vectorised models, or any estimator."""
