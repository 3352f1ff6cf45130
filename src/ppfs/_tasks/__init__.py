"""Independent pieces of work, done wherever joblib's backend says: threads, processes, Dask or Ray."""

from ppfs._tasks.run import count_workers, run_tasks, tasks_are_sent

__all__ = ["count_workers", "run_tasks", "tasks_are_sent"]
