"""How `PPFSCV` chooses: candidates, inner scores, the choice and the ranking of columns."""
