"""Trees and forests on several columns: the shrink phase."""
