"""The thirteen networks of the data folder, against the table of its description."""

import numpy as np
import pytest

from ppfs.datasets import read_network

pytestmark = pytest.mark.data

# name, nodes, arcs, free parameters, mean blanket size, largest blanket, a node that has it, most states
NETWORKS = [
    ("asia", 8, 8, 18, 2.50, 5, "either", 2),
    ("cancer", 5, 4, 10, 2.00, 4, "Cancer", 2),
    ("earthquake", 5, 4, 10, 2.00, 4, "Alarm", 2),
    ("survey", 6, 6, 21, 2.67, 4, "E", 3),
    ("sachs", 11, 17, 178, 3.09, 7, "PKA", 3),
    ("child", 20, 25, 230, 3.00, 8, "Disease", 6),
    ("water", 32, 66, 10083, 7.69, 13, "CBODD_12_15", 4),
    ("mildew", 35, 46, 540150, 4.57, 9, "lai_1", 100),
    ("alarm", 37, 46, 509, 3.51, 8, "INTUBATION", 4),
    ("barley", 48, 84, 114005, 5.25, 13, "dgv1059", 67),
    ("win95pts", 76, 112, 574, 5.92, 29, "PrtMem", 2),
    ("pigs", 441, 592, 5618, 3.66, 68, "p82140988", 3),
    ("link", 724, 1125, 14211, 4.80, 31, "N21_d_m", 4),
]


@pytest.fixture
def network(request, benchmark_data):
    return read_network(benchmark_data / "networks" / f"{request.param}.bif.gz")


@pytest.mark.parametrize(
    ("network", "nodes", "arcs", "free", "mean", "largest", "owner", "most_states"),
    NETWORKS, indirect=["network"], ids=[row[0] for row in NETWORKS],
)  # fmt: skip
def test_network_has_the_described_size(network, nodes, arcs, free, mean, largest, owner, most_states):
    tables = [network.table(node) for node in network.nodes]
    sizes = {node: len(network.markov_blanket(node)) for node in network.nodes}
    assert len(network.nodes) == nodes
    assert len(network.edges) == arcs
    assert sum(table.size - table.size // table.shape[-1] for table in tables) == free
    assert np.mean(list(sizes.values())) == pytest.approx(mean, abs=0.005)
    assert max(sizes.values()) == sizes[owner] == largest
    assert max(table.shape[-1] for table in tables) == most_states


@pytest.mark.parametrize("network", ["alarm", "link"], indirect=True)
def test_blankets_are_mutual(network):
    blankets = {node: set(network.markov_blanket(node)) for node in network.nodes}
    assert all(node in blankets[member] for node in blankets for member in blankets[node])


@pytest.mark.parametrize("network", ["child", "mildew"], indirect=True)
def test_sampled_roots_follow_their_table(network):
    codes = network.sample_codes(20_000, random_state=0)
    for j, node in enumerate(network.nodes):
        if not network.parents(node):
            frequencies = np.bincount(codes[:, j], minlength=len(network.states(node))) / len(codes)
            # Five standard deviations of a frequency are at most 5 x 0.5 / sqrt(20000) = 0.018.
            np.testing.assert_allclose(frequencies, network.table(node), atol=0.018)
