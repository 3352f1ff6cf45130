import numpy as np
import pytest


@pytest.fixture(scope="module")
def growth(script):
    return script("scale/growth.py")


@pytest.fixture(scope="module")
def memory(script):
    return script("scale/memory.py")


@pytest.fixture(scope="module")
def cores(script):
    return script("scale/cores.py")


@pytest.fixture(scope="module")
def startup(script):
    return script("scale/startup.py")


@pytest.fixture(scope="module")
def render(script):
    return script("scale/render.py")


@pytest.fixture(scope="module")
def recording(script):
    return script("scale/recording.py")


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_exponent_of_a_power_law_is_its_power(growth, power):
    amounts = np.array([1.0, 2.0, 4.0, 8.0])
    assert growth.exponent(amounts, 3.0 * amounts**power) == pytest.approx(power)


def test_time_that_follows_n_log_n_has_exponent_one_in_it(growth):
    rows = growth.AXES[0]
    points = [
        {"n_rows": n, "growth": n * np.log2(n), "fit": float(n), "argsort": float(n)}
        for n in (500, 1000, 2000)
    ]
    found = growth.exponents_of(rows, points)
    assert found["growth in expected"] == pytest.approx(1.0)
    assert found["fit"] == pytest.approx(1.0)


def test_every_axis_is_doubled_while_the_others_stay(growth):
    sizes = growth.AXES[1].sizes(4)
    assert [size.n_columns for size in sizes] == [500, 1000, 2000, 4000, 8000]
    assert len({(size.n_rows, size.n_splits) for size in sizes}) == 1


def test_a_size_is_measured(growth):
    point = growth.measure(growth.Size(40, 6, 5), n_repeats=1)
    assert set(growth.TIMED) <= set(point)


def test_alpha_of_the_growth_phase_is_never_reached(growth):
    size = growth.Size(200, 6, 160)
    X, y = growth.make_problem(size)
    with pytest.warns(UserWarning, match="cannot be reached"):
        selector = growth.PPFS(n_splits=160, alpha=growth.UNREACHABLE, random_state=0).fit(X, y)
    assert {step.phase for step in selector.trace_} == {"growth"}


def test_peak_memory_is_read_in_mebibytes(memory):
    assert memory.status_mib("Name: x\nVmHWM:\t  3072 kB\nVmRSS:\t 1024 kB", "VmHWM") == 3.0
    with pytest.raises(ValueError, match="VmSwap"):
        memory.status_mib("VmRSS: 1 kB", "VmSwap")


def test_input_size_is_that_of_the_values(memory):
    assert memory.nbytes_of(np.zeros((10, 3))) == 240
    frame, _ = memory.planted_frame(10, 6)
    assert memory.nbytes_of(frame) == 480


def test_memory_beyond_the_limit_is_called_missed(memory):
    case = {"n_splits": 30, "input": 10.0, "peak above": 25.0, "multiple": 2.5}
    assert "| NO " in memory.dense_table({"noise": case})


def test_import_times_are_read_from_pythons_report(startup):
    report = "import time: self [us] | cumulative | imported package\nimport time:      2500 |    9000 |   scipy.stats"
    assert startup.parse_import_times(report) == {"scipy.stats": 2.5}


def test_compiling_is_what_the_second_fit_does_not_need(startup):
    fits = {"classification": {"first": {"cpu": 7.5}, "second": {"cpu": 0.5}}}
    assert startup.compile_cpu(fits, "classification") == 7.0


def test_a_table_is_aligned(recording):
    table = recording.markdown_table(["set", "s"], [["wdbc", 1], ["a", 22]])
    assert table.splitlines() == ["| set  | s  |", "| ---- | -- |", "| wdbc | 1  |", "| a    | 22 |"]


def test_missing_data_end_with_the_way_out(recording, monkeypatch, tmp_path):
    monkeypatch.setenv("PPFS_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(SystemExit, match="Set PPFS_DATA"):
        recording.data_folder()


def test_the_pages_have_a_place_for_every_block(render):
    for path, blocks in render.PAGES.items():
        page = path.read_text(encoding="utf-8")
        assert [name for name in blocks if f"<!-- {name} -->" not in page] == []


def test_the_pages_show_the_latest_results(render):
    for path, blocks in render.PAGES.items():
        page = path.read_text(encoding="utf-8")
        assert render.render(page, blocks) == page


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("tree", 0.01),
        # The benchmark runs the same lines for any fit.
        pytest.param("forest", 0.01, marks=pytest.mark.slow),
        pytest.param("logistic", 0.002, marks=pytest.mark.slow),
    ],
)
def test_fits_with_one_and_four_threads_have_the_same_answers(cores, name, size):
    """`measure_all` ends the benchmark where they differ; with several threads the main thread does not do all."""
    measured = cores.measure_all(name, [1, 4], size=size)
    assert [one.n_threads for one in measured] == [1, 4]
    assert measured[0].selected == measured[1].selected
    assert 0.0 < measured[1].serial_seconds < measured[1].cpu_seconds
    assert all(sum(one.by_runnable.values()) == pytest.approx(one.cpu_seconds, rel=0.5) for one in measured)
    assert max(measured[0].by_runnable) <= 1 or cores.alone_share(measured[0].by_runnable) > 0.5


def test_different_answers_end_the_benchmark_of_cores(cores, monkeypatch):
    made = iter(range(2))
    monkeypatch.setattr(
        cores,
        "measure",
        lambda fit, X, y, n_threads: cores.Measured(n_threads, 1.0, 1.0, 0.5, {}, [next(made)], 7),
    )
    with pytest.raises(SystemExit, match="answers differ"):
        cores.measure_all("tree", [1, 2], size=0.001)


def test_tables_of_cores_say_which_fits_are_too_serial(cores):
    fits = [
        {"n_threads": 1, "seconds": 8.0, "cpu_seconds": 8.0, "serial_seconds": 8.0},
        {
            "n_threads": 2,
            "seconds": 5.0,
            "cpu_seconds": 8.0,
            "serial_seconds": 2.0,
            "by_runnable": {"1": 0.2, "2": 7.8},
        },
        {"n_threads": 4, "seconds": 2.0, "cpu_seconds": 8.0, "serial_seconds": 0.08},
    ]
    results = {"machine": cores.describe_machine(), "size": 1.0, "fits": {"tree": fits}}
    lines = cores.report(results).splitlines()[-3:]
    assert [line.split("|")[-3].strip() for line in lines] == ["", "2.5%", ""]
    assert [line.split("|")[5].strip() for line in lines] == ["1.00", "1.60", "4.00"]
    # The main thread has a quarter of the time, but the others work meanwhile.
    cells = [cell.strip() for cell in cores.table_of(results).splitlines()[-1].split("|")]
    assert cells[-6:-2] == ["8.0", "25.0%", "2.5%", "yes"]
    fits[1]["by_runnable"] = {"1": 0.8, "2": 7.2}
    assert "| NO " in cores.table_of(results)


def test_work_of_so_many_threads_takes_so_long_on_as_many_cores(cores):
    assert cores.gain_on({"1": 1.0, "20": 16.0}) == pytest.approx(17.0 / 2.0)
    assert cores.alone_share({"0": 1.0, "1": 1.0, "2": 6.0}) == 0.25
