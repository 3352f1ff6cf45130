"""Independent tasks on joblib's current backend: threads, processes, Dask or Ray."""

from ppfs._parallel.forks import MOST_ROWS_FORKED, can_fork, run_python_tasks
from ppfs._parallel.run import count_workers, run_tasks, tasks_are_sent
from ppfs._parallel.threads import MOST_THREADS_OF_PYTHON, small_fits
