"""Why every column was kept or dropped: the record that reports and plots are made from."""

from ppfs._trace.batch import StepBatch
from ppfs._trace.data import DataSummary, summary_of
from ppfs._trace.deciding import DecidingSteps
from ppfs._trace.detectable import Detectable
from ppfs._trace.outcome import Outcome
from ppfs._trace.plain import as_plain, from_plain
from ppfs._trace.question_arrays import QuestionArrays
from ppfs._trace.record import Trace
from ppfs._trace.results import feature_results, results_table
from ppfs._trace.steps import (
    FAVORABLE,
    FOLD_ASIDE,
    JOINT_GROWTH,
    JOINT_GROWTH_OF_PAIRS,
    PAIRS,
    REST_TOGETHER,
    ROLES,
    SECOND_LOOK,
    Decision,
    Step,
)
from ppfs._trace.words import NO_ADDITION, NO_LINK, UNDECIDED
