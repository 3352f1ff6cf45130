"""The tests that ask a model whether it predicts worse when a feature gives way to its knockoff."""
