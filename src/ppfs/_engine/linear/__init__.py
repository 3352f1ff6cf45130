"""Linear algebra, least squares and logistic regression."""
