"""`--export`: measurements in the formats of other programs, each read by its reader."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from benchbook.core.errors import BenchbookError
from benchbook.report.measurement_formats import FORMATS, Export
from benchbook.report.measurements import (
    EVENTS,
    FIGURE,
    NS,
    RATIO,
    TIME,
    TIMES,
    UNKNOWN,
    Measurement,
    seconds_of,
)

AT_S = seconds_of("20261127T121506Z")
HEADS = ("value", "unit", "ref", "lower_thres", "upper_thres")


def of_program(program: str, factor: float) -> list[Measurement]:
    times = [factor * time for time in (1.0e8, 1.02e8, 0.98e8, 1.01e8, 0.99e8)]
    counts = [1e6 * factor] * 3
    return [
        Measurement(
            *("host", 'a "case"', 'a "case"', program, TIME, NS, AT_S),
            *(times, 1e8 * factor, 0.98e8 * factor, 1.02e8 * factor),
        ),
        Measurement(
            *("host", 'a "case"', 'a "case"', program, "instructions", EVENTS, AT_S),
            *(counts, counts[0]),
        ),
    ]


COMPARED = [
    *of_program("a", 1.0),
    *of_program("b", 1.5),
    Measurement(*("host", 'a "case"', 'a "case"', "", RATIO, TIMES, AT_S, [1.5], 1.5, 1.49, 1.51)),
]
HISTORY = [
    Measurement(
        "host", "mbw", f"point-{k}", "", TIME, NS, AT_S + day * 86400, [1e6 + day], 1e6 + day
    )
    for k in range(2)
    for day in range(3)
]


def written(name: str, measurements: list[Measurement], folder: Path) -> Path:
    path = folder / "deep" / f"{name}.out"
    Export.of(f"{name}={path}").write(measurements)
    return path


def test_pyperf_compares_both_programs(tmp_path: Path) -> None:
    path = written("pyperf", COMPARED, tmp_path)
    files = [path.with_stem(f"pyperf-{program}") for program in ("a", "b")]
    content = json.loads(files[0].read_text())
    assert content["benchmarks"][0]["runs"][0]["values"] == [0.1]
    program = shutil.which("pyperf")
    if program is None:
        pytest.skip("pyperf is absent")
    words = [program, "compare_to", *map(str, files)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "1.50x slower" in done.stdout
    whole = written("pyperf", HISTORY, tmp_path)
    words = [program, "show", str(whole)]
    shown = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "point-1" in shown.stdout


def test_pyperf_takes_times_only(tmp_path: Path) -> None:
    figure = Measurement("host", "a", "a", "a", FIGURE, UNKNOWN, AT_S, [3.0], 3.0)
    with pytest.raises(BenchbookError, match="pyperf has times only"):
        written("pyperf", [figure], tmp_path)


def test_openmetrics_is_read_by_prometheus(tmp_path: Path) -> None:
    text = written("openmetrics", COMPARED, tmp_path).read_text()
    assert text.endswith("# EOF\n")
    parser = pytest.importorskip("prometheus_client.openmetrics.parser")
    families = {f.name: f for f in parser.text_string_to_metric_families(text)}
    seconds = families["benchbook_time_seconds"]
    assert (seconds.type, seconds.unit) == ("gauge", "seconds")
    assert [(s.labels["program"], s.value) for s in seconds.samples] == [("a", 0.1), ("b", 0.15)]
    assert seconds.samples[0].labels["name"] == 'a "case"'
    assert families["benchbook_ratio_low"].samples[0].value == 1.49
    counted = families["benchbook_counted_events"].samples[1]
    assert (counted.labels["event"], counted.value) == ("instructions", 1.5e6)
    dated = written("openmetrics", HISTORY, tmp_path).read_text()
    (family,) = parser.text_string_to_metric_families(dated)
    assert len(family.samples) == 6
    assert float(family.samples[0].timestamp) == AT_S


def test_github_action_benchmark_has_the_last_values(tmp_path: Path) -> None:
    path = written("github-action-benchmark", COMPARED, tmp_path)
    entries = {entry["name"]: entry for entry in json.loads(path.read_text())}
    assert entries['a "case" a'] == {
        "name": 'a "case" a',
        "unit": "ns",
        "value": 1e8,
        "range": "9.8e+07 to 1.02e+08",
    }
    assert entries['a "case" b instructions']["value"] == 1.5e6
    last = json.loads(written("github-action-benchmark", HISTORY, tmp_path).read_text())
    assert [entry["value"] for entry in last] == [1e6 + 2] * 2
    rate = Measurement(
        "host", "a", "a", "b", FIGURE, UNKNOWN, AT_S, [3.0], 3.0, more_is_better=True
    )
    entries = json.loads(
        written("github-action-benchmark", [*COMPARED, rate], tmp_path).read_text()
    )
    assert [entry["value"] for entry in entries] == [3.0]  # a file has one direction


def test_bencher_metric_format(tmp_path: Path) -> None:
    content = json.loads(written("bencher", COMPARED, tmp_path).read_text())
    assert content['a "case" b'] == {
        "latency": {"value": 1.5e8, "lower_value": 0.98e8 * 1.5, "upper_value": 1.02e8 * 1.5},
        "instructions": {"value": 1.5e6},
    }
    assert content['a "case"'] == {
        "ratio": {"value": 1.5, "lower_value": 1.49, "upper_value": 1.51}
    }


def test_reframe_log_has_a_line_for_each_run(tmp_path: Path) -> None:
    lines = written("reframe", HISTORY, tmp_path).read_text().splitlines()
    table = [dict(zip(lines[0].split("|"), line.split("|"), strict=True)) for line in lines[1:]]
    assert [row["job_completion_time"] for row in table] == [
        f"2026-11-{day}T12:15:06" for day in (27, 28, 29)
    ]
    assert {row["point-1_unit"] for row in table} == {"ns"}
    assert float(table[2]["point-0_value"]) == 1e6 + 2
    (row,) = written("reframe", COMPARED, tmp_path).read_text().splitlines()[1:]
    assert row.split("|")[:4] == ["pass", "2026-11-27T12:15:06", 'a "case"', "host"]


CHECK = """
import reframe as rfm
import reframe.utility.sanity as sn
@rfm.simple_test
class own(rfm.RunOnlyRegressionTest):
    valid_systems, valid_prog_environs, executable = ['*'], ['*'], 'true'
    @run_before('sanity')
    def ready(self):
        self.sanity_patterns = sn.assert_true(1)
        self.perf_variables = {'speed': sn.make_performance_function(sn.defer(3), 'ns')}
"""


def test_reframe_writes_the_same_columns(tmp_path: Path) -> None:
    """ReFrame has no command that reads its logs: its own log is compared with ours."""
    program = shutil.which("reframe")
    if program is None:
        pytest.skip("reframe is absent")
    (tmp_path / "check.py").write_text(CHECK)
    subprocess.run(
        [program, "-c", "check.py", "-r", f"--prefix={tmp_path}"],
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    (log,) = (tmp_path / "perflogs").rglob("own.log")
    heads, line = (text.split("|") for text in log.read_text().splitlines())
    theirs = dict(zip(heads, line, strict=True))
    ours = written("reframe", HISTORY, tmp_path).read_text().splitlines()
    columns = ours[0].split("|")
    assert set(columns[:4]) <= set(heads)
    assert heads[:2] == columns[:2]
    at = heads.index("speed_value")
    assert [head.removeprefix("speed_") for head in heads[at : at + 5]] == list(HEADS)
    assert [head.removeprefix("point-0_") for head in columns[4:9]] == list(HEADS)
    assert theirs["result"] == ours[1].split("|")[0]
    assert len(theirs["job_completion_time"]) == len(ours[1].split("|")[1])
    assert (theirs["speed_unit"], theirs["speed_lower_thres"]) == ("ns", "None")


def test_parquet_has_a_row_for_each_value(tmp_path: Path) -> None:
    table = pd.read_parquet(written("parquet", COMPARED, tmp_path))
    times = table[(table.program == "b") & (table.quantity == TIME)]
    assert times["value"].tolist() == pytest.approx([1.5e8, 1.53e8, 1.47e8, 1.515e8, 1.485e8])
    assert set(times["median"]) == {1.5e8}
    assert str(times["at"].iloc[0]) == "2026-11-27 12:15:06+00:00"


@pytest.mark.parametrize("text", ["pyperf", "pyperf=", "csv=x.csv", ""])
def test_a_wrong_export_names_the_formats(text: str) -> None:
    with pytest.raises(BenchbookError, match="write FORMAT=FILE; the formats are pyperf, "):
        Export.of(text)


def test_every_format_is_listed_where_a_person_reads() -> None:
    folder = Path(__file__).parents[1]
    for text in ("docs/ci/README.md", "benchbook/commands/options.py"):
        assert all(name in (folder / text).read_text() for name in FORMATS)
