"""The flags keep pace with the library, and the help needs none of it."""

import inspect
import subprocess
import sys

import pytest
from checks.recorded import Record

from ppfs import PPFS, blanket, wrappers
from ppfs.cli._app import app
from ppfs.cli.flags.parameters import METHODS, TESTS, flag_of
from ppfs.independence import TESTS_BY_NAME

RECORD = Record(__file__)


def _flags(command):
    return {name for option in app.commands[command].params for name in option.opts}


def test_every_parameter_of_ppfs_has_a_flag():
    parameters = set(inspect.signature(PPFS).parameters)
    without = {name for name in parameters if flag_of(name) not in _flags("select")}
    # Shown on a terminal without being asked for; --quiet hides it.
    assert without == {"progress"}


def test_every_search_and_test_has_a_name():
    assert {path.split(":")[1] for path in METHODS.values()} == {*blanket.__all__, *wrappers.__all__}
    assert set(TESTS.values()) == set(TESTS_BY_NAME)


def test_help_loads_no_heavy_library():
    heavy = {"numpy", "scipy", "sklearn", "numba", "pandas", "narwhals", "joblib", "rich"}
    for arguments in (["--help"], ["select", "--help"], ["--version"]):
        code = (
            "import sys; from ppfs.cli._app import app; from ppfs.cli._failures import run;"
            f"code = run(app, {arguments}); print(*sorted(set(sys.modules) & {heavy}), sep=',', file=sys.stderr);"
            "sys.exit(code)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr.strip()) == (0, "")
        assert done.stdout


def test_module_runs_and_tells_its_version():
    for module in ("ppfs", "ppfs.cli"):
        done = subprocess.run(
            [sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=True
        )
        assert done.stdout.startswith("ppfs 0.")


def test_the_bare_command_is_its_help(ppfs):
    result = ppfs()
    assert result.exit_code == 2
    assert result.stderr.startswith("Usage: ppfs [OPTIONS] COMMAND")
    assert "Did you mean 'select'?" in ppfs("selct").stderr


def test_a_model_may_be_called_a_model(select, table):
    said = ["--format", "names", "--target", "ill"]
    by_name = select(table, *said, "--model", "linear")
    assert by_name.exit_code == 0
    assert by_name.stdout == select(table, *said, "--estimator", "linear").stdout


def test_a_flag_that_takes_one_value_is_not_given_twice(ppfs, table):
    done = ppfs("select", table, "-t", "ill", "--target", "bmi")
    assert done.exit_code == 2
    assert "--target is given 2 times, and takes one value" in done.stderr
    twice = ("--drop", "age", "--drop", "noise", "-q", "--quiet", "--test", "paper", "--splits", 10)
    assert ppfs("select", table, "-t", "ill", *twice).exit_code == 0


@pytest.mark.parametrize("command", ["select", "plan"])
def test_no_workers_at_all_are_refused(ppfs, table, command):
    result = ppfs(command, table, "-t", "ill", "--jobs", 0)
    assert result.exit_code == 2
    assert "--jobs 0 is not a number of workers" in result.stderr


def test_a_short_flag_is_named_by_its_long_form(ppfs, table, tmp_path):
    done = ppfs("select", table, "-t", "ill", "-o", tmp_path / "no folder" / "kept.csv")
    assert done.exit_code == 1
    assert done.stderr.startswith("ppfs: --output ")


def described(parameter):
    """Return what a flag takes, in words that all versions of Click have."""
    kind = parameter.type
    limits = (
        [kind.min, kind.max, kind.min_open] if hasattr(kind, "min") else list(getattr(kind, "choices", ()))
    )
    default = parameter.default
    return [
        parameter.name,
        [*parameter.opts, *parameter.secondary_opts],
        type(kind).__name__,
        limits,
        default if isinstance(default, bool | int | float | str) else None,
        parameter.required,
        parameter.multiple,
        parameter.expose_value,
        parameter.is_eager,
        bool(getattr(parameter, "is_flag", False)),
        getattr(parameter, "section", ""),
        getattr(parameter, "is_written", False),
        parameter.metavar,
        parameter.callback is not None,
    ]


@pytest.mark.parametrize("name", ["ppfs", *app.commands])
def test_flags_are_those_on_record(name):
    command = app.commands.get(name, app)
    RECORD.check(name, [described(parameter) for parameter in command.params])
    assert command.no_args_is_help == (name == "ppfs")


def test_the_help_is_asked_for_by_two_flags():
    assert app.context_settings == {"help_option_names": ["-h", "--help"], "max_content_width": 100}
