"""What a search would cost, before it is run."""

from ppfs._planning.cost import cost_lines, measure_rates, predict_cost

__all__ = [
    "cost_lines",
    "measure_rates",
    "predict_cost",
]
