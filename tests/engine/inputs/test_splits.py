from ppfs._engine import Splits
from ppfs._engine.inputs.splits import TRAIN, UNUSED


def test_receivers_follow_the_permutation():
    """Test position 0 receives the value of position 2, so row 5 gives its value to row 1."""
    splits = Splits.from_sequences([[0, 3]], [[1, 4, 5]], [[2, 0, 1]])
    assert splits.receivers(7).tolist() == [[TRAIN, 4, UNUSED, TRAIN, 5, 1, UNUSED]]


def test_splits_of_different_sizes_stand_side_by_side():
    splits = Splits.from_sequences([[0], [1, 2]], [[1, 2], [0]], [[1, 0], [0]])
    assert splits.n_splits == 2
    assert splits.receivers(3).tolist() == [[TRAIN, 2, 1], [0, TRAIN, TRAIN]]
