"""Benchmarks over time; asv wants a package."""
