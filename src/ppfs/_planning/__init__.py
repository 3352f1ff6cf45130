"""What a search would cost, before it is run."""

from ppfs._planning.cost import Cost, predict_cost
from ppfs._planning.imagined import imagined_table
from ppfs._planning.measuring import measure_rates
from ppfs._planning.rates import Line, PerQuestion, Rates, Shrinkage
from ppfs._planning.words import cost_lines, duration, size
