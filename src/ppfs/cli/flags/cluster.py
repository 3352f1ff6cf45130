"""Where the search runs: on this machine, or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ppfs._libraries import imported
from ppfs.cli._failures import InputFailure, UsageFailure

# How long to wait for a scheduler that does not answer.
_PATIENCE = "20s"


@contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """Let joblib use a Dask or Ray cluster during a search."""
    if address is None:
        yield
    elif address == "ray" or address.startswith("ray://"):
        with _on_ray(address):
            yield
    elif "://" in address:
        with _on_dask(address):
            yield
    else:
        raise UsageFailure(
            f"--cluster {address!r} is not an address. Write tcp://scheduler:8786 for Dask, ray://head:10001 for Ray, "
            "or ray for Ray on this machine."
        )


@contextmanager
def _on_dask(address: str) -> Iterator[None]:
    from joblib import parallel_config

    distributed = imported("distributed", f"--cluster {address}", "dask")
    try:
        client = distributed.Client(address, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        raise InputFailure(
            f"--cluster {address}: no scheduler answers there ({error}). Start one with: dask scheduler"
        ) from error
    with client, parallel_config(backend="dask"):
        yield


@contextmanager
def _on_ray(address: str) -> Iterator[None]:
    from joblib import parallel_config

    ray = imported("ray", f"--cluster {address}", "ray")
    ray_in_joblib = imported("ray.util.joblib", f"--cluster {address}", "ray")
    try:
        ray.init(address=None if address == "ray" else address, include_dashboard=False, log_to_driver=False)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise InputFailure(
            f"--cluster {address}: no Ray answers there ({error}). Start one with: ray start --head"
        ) from error
    ray_in_joblib.register_ray()
    try:
        with parallel_config(backend="ray"):
            yield
    finally:
        ray.shutdown()
