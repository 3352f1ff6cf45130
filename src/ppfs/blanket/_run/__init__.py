"""How a search runs: reading, folds, reused answers, checkpoints, confirmation and results."""
