"""Trees and forests on one column each: the growth phase."""
