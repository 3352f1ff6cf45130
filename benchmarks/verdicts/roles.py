"""How many of the arrows that roles draw are in the network that the rows were drawn from.

    python benchmarks/verdicts/roles.py --networks asia child --rows 5000
    python benchmarks/verdicts/roles.py --graphs 300

Networks: every node is the target once, with the G-squared test at level 0.01. MMMB's own questions decide about
its roles; IAMB's blanket is asked about further (`find_roles`). Graphs: random graphs with a d-separation oracle,
where no arrow and no role may be wrong.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from ppfs.blanket import HITONMB, IAMB, MMMB
from ppfs.datasets import read_network
from ppfs.independence import DSeparation

ROOT = Path(__file__).resolve().parents[2]
NETWORKS = ROOT.parent / "shared" / "data" / "networks"
sys.path.insert(0, str(ROOT / "tests"))


def roles_found(search, **settings):
    """Return the roles that a search decides, with further questions where it does not look for separating sets."""
    return search.roles_ if isinstance(search, MMMB | HITONMB) else search.find_roles(**settings)


def of_network(kind: type, name: str, n_rows: int, n_targets: int | None) -> tuple[int, int, int]:
    """Return how many arrows were drawn, how many of them are right, and how many end or begin at the targets."""
    network = read_network(NETWORKS / f"{name}.bif.gz")
    rows = network.sample(n_rows, random_state=0)
    true = {(cause, effect) for effect in network.nodes for cause in network.parents(effect)}
    drawn = right = possible = 0
    for target in list(network.nodes)[:n_targets]:
        search = kind(independence="g2", alpha=0.01).fit(rows.drop(columns=target), rows[target])
        arrows = {arrow for role in roles_found(search) for arrow in role.arrows}
        drawn, right = drawn + len(arrows), right + len(arrows & true)
        possible += sum(target in arrow for arrow in true)
    return drawn, right, possible


def of_graphs(search, n_graphs: int) -> tuple[int, int, int]:
    """Return how many arrows were drawn, how many of them are wrong, and how many roles are."""
    from checks.graphs import random_dag

    drawn = wrong = wrong_roles = 0
    for seed in range(n_graphs):
        n_nodes, edges = random_dag(seed)
        target = n_nodes - 1
        X = np.repeat([[0.0], [1.0]], n_nodes - 1, axis=1)
        found = search.set_params(independence=DSeparation(edges)).fit(X, [0.0, 1.0])
        number = {f"x{i}": i for i in range(n_nodes - 1)} | {"target": target}
        parents = {cause for cause, effect in edges if effect == target}
        children = {effect for cause, effect in edges if cause == target}
        true = {"parent": parents, "child": children, "parent or child": parents | children}
        for role in roles_found(found, max_k=None, max_columns=n_nodes):
            linked = true.get(role.role)
            x = number[role.feature]
            wrong_roles += (
                x not in linked if linked is not None else role.role == "spouse" and x in parents | children
            )
            for arrow in role.arrows:
                drawn += 1
                wrong += tuple(number[name] for name in arrow) not in set(edges)
    return drawn, wrong, wrong_roles


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", nargs="*", default=[])
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--targets", type=int, default=None, help="the first this many nodes")
    parser.add_argument("--graphs", type=int, default=0)
    args = parser.parse_args()
    with threadpool_limits(1):
        if args.graphs:
            for search in (MMMB(max_k=None), HITONMB(max_k=None), IAMB()):
                drawn, wrong, roles = of_graphs(search, args.graphs)
                told = f"{drawn} arrows, {wrong} wrong; {roles} wrong roles"
                print(f"{args.graphs} random graphs, oracle, {type(search).__name__}: {told}", flush=True)
        for name in args.networks:
            for kind in (MMMB, IAMB):
                drawn, right, possible = of_network(kind, name, args.rows, args.targets)
                precision = right / drawn if drawn else float("nan")
                told = f"{drawn} arrows, {right} right ({precision:.0%}); {possible} arrows at the targets"
                print(f"{name}, {args.rows} rows, {kind.__name__}: {told}", flush=True)


if __name__ == "__main__":
    main()
