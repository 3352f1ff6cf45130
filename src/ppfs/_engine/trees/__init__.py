"""Code that all trees share: rules, criteria, cuts, nodes, losses."""
