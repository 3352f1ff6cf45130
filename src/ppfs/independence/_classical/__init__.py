"""The classical tests: contingency tables, correlations, likelihood ratios."""
