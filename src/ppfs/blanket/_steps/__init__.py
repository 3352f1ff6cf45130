"""The steps that searches are made of: questions, growth, shrinkage, order, neighbors."""
