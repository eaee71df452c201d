"""`benchbook explain` as people and machines call it: files, standard input, what is not known."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchbook.core.errors import BenchbookError
from benchbook.explain import explanation, readers
from benchbook.explain.api import Explained, Machine
from benchbook.explain.machine import machine_of
from benchbook.explain.model import Report, Result
from benchbook.explain.render import print_explained

ROOT = Path(__file__).resolve().parent.parent
STREAM = ROOT / "tests/logs/stream/c-5.10-one-thread.log"
MBW = ROOT / "tests/logs/mbw/real-1.2.2-all.log"


def run(
    *arguments: str | Path, stdin: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "benchbook", "explain", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, **environment},
        check=False,
    )


def facts(*arguments: str | Path, stdin: bytes = b"") -> Any:
    return json.loads(run(*arguments, "--json", stdin=stdin).stdout)


def test_one_file_is_an_object_and_several_are_a_list() -> None:
    record = facts(STREAM)
    assert record["version"] == 1
    assert (record["file"], record["tool"]) == (str(STREAM), "stream")
    copy = record["results"][0]
    assert (copy["name"], copy["value"], copy["unit"]) == ("Copy", 13512.4, "MB/s")
    assert (copy["base_value"], copy["base_unit"]) == (13512.4e6, "B/s")
    both = facts(STREAM, MBW)
    assert [each["tool"] for each in both] == ["stream", "mbw"]


def test_findings_have_cause_evidence_and_remedy() -> None:
    (found,) = facts(MBW)["findings"]
    assert found["artefact"] == "source-not-advanced"
    assert "line 16" in found["where"][0]
    assert found["explanation"]
    assert found["remedy"]


def test_people_read_a_table_with_units_and_what_is_wrong() -> None:
    shown = run(MBW)
    text = shown.stdout.decode()
    assert shown.returncode == 0
    assert "MiB/s (2²⁰)" in text
    assert "do not use these figures, by a factor of 1.93 (source-not-advanced)" in text
    assert "--l3 SIZE" in text


def test_standard_input_is_read_once() -> None:
    shown = run("-", "-", "--json", stdin=STREAM.read_bytes())
    first, second = json.loads(shown.stdout)
    assert (first["file"], first["tool"], second["tool"]) == ("-", "stream", None)
    assert shown.returncode == explanation.NOT_RECOGNISED


def test_what_is_not_known_says_what_was_looked_for(tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("Dear all,\nit was fast.\n")
    shown = run(file, STREAM)
    assert shown.returncode == explanation.NOT_RECOGNISED
    said = shown.stderr.decode()
    assert len(said.splitlines()) == 2
    assert "--formats" in said
    listed = run("--formats").stdout.decode()
    assert all(sign in listed for sign in explanation.looked_for().values())
    assert b"Triad" in shown.stdout
    record, other = facts(file, STREAM)
    assert (record["tool"], record["results"], other["tool"]) == (None, [], "stream")
    assert "letter.txt" in record["error"]


def test_all_importers_of_a_tool_say_what_they_look_for() -> None:
    said = explanation.looked_for()
    modules = [readers.importer(name) for name in readers.names()]
    tools = {module.TOOL for module in modules}
    others = {"table", "text", "list of sizes", "figures", "table without units"}
    others |= {"figures in JSON", "pandas", "rates over time", "lines alike", "rows without a head"}
    others |= {"statistics without units"}
    several = {tool for each in explanation.OF_SEVERAL for tool in each.LOOKS_FOR}
    assert said.keys() == tools | others | several
    assert len(tools) < len(modules)
    looked_for = {name: sign.looks_for for name, sign in readers.signs().items()}
    assert all(looked_for[name] in said[readers.importer(name).TOOL] for name in readers.names())


@pytest.mark.parametrize("content", [b"", b"\n \r\n", b"\x00\x00"])
def test_empty_input_is_one_sentence(content: bytes) -> None:
    shown = run("-", stdin=content)
    assert (shown.returncode, shown.stdout) == (explanation.NOT_RECOGNISED, b"")
    assert shown.stderr.decode() == (
        "benchbook: standard input is empty: there is nothing to explain\n"
    )


def test_what_cannot_be_read_is_one_sentence_and_the_others_are_shown(tmp_path: Path) -> None:
    shown = run(tmp_path / "absent.log", tmp_path, STREAM)
    assert shown.returncode == explanation.NOT_RECOGNISED
    lines = shown.stderr.decode().splitlines()
    assert [line.rsplit(": ", 1)[1] for line in lines] == [
        "no such file or directory",
        "is a directory",
    ]
    assert b"Triad" in shown.stdout


def test_what_is_too_long_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explanation, "MOST_BYTES", 1000)
    file = tmp_path / "long.log"
    file.write_bytes(b"x" * 1001)
    assert "cut the lines" in explanation.of_file(file, Machine()).trouble


def test_nothing_of_a_log_speaks_to_the_terminal(tmp_path: Path) -> None:
    hostile = "\x1b]0;title\x07\x1b[31m\u202e\x9b2J"
    file = tmp_path / f"a{hostile.replace('/', '')}.log"
    text = STREAM.read_text().replace("Triad:", f"Triad{hostile}:")
    record = {"command": f"sleep {hostile}", "mean": 1.0, "stddev": 0.1, "median": 1.0, "min": 0.9}
    record |= {"max": 1.2, "times": [1.0, 0.9, 1.2], "user": 0.1, "system": 0.0}
    file.write_text(text + json.dumps({"results": [record]}))
    shown = run(file, MBW, tmp_path / "\x1b[31mabsent")
    for stream in (shown.stdout, shown.stderr):
        left = stream.decode().replace("\n", "")
        assert all(name.isprintable() for name in left)


def test_any_locale_can_show_it() -> None:
    shown = run(MBW, LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert shown.returncode == 0
    assert b"Traceback" not in shown.stderr


def test_a_reader_who_goes_away_is_no_error() -> None:
    files = " ".join([str(MBW)] * 40)
    for option in ("", "--json"):
        command = f"{sys.executable} -m benchbook explain {files} {option} | head -n 1"
        shown = subprocess.run(command, shell=True, capture_output=True, cwd=ROOT, check=False)
        assert shown.stderr == b""


def test_the_size_of_the_caches_decides() -> None:
    def said(*arguments: str) -> list[str]:
        found = facts(STREAM, *arguments)
        return [finding["artefact"] for finding in (*found["findings"], *found["asks"])]

    assert said("--l3", "32 MiB") == []
    assert said("--l3", "512MiB") == ["cache-resident"]
    assert said("--l3", "4 GiB") == ["cache-resident"]
    assert facts(MBW)["asks"][0]["option"] == "--l3 SIZE"


def test_a_size_that_is_none_is_refused() -> None:
    shown = run(STREAM, "--l3", "large")
    assert (shown.returncode, shown.stdout) == (1, b"")
    assert shown.stderr.decode().startswith("benchbook: size 'large' is not understood")


def record_of(folder: Path, host: str, **content: Any) -> None:
    run_folder = folder / "data/runs" / host / "stream" / "run-1"
    run_folder.mkdir(parents=True)
    plan = {"host_facts": {"usable_cores": 4, "memory_total_bytes": 2**34}, **content}
    (run_folder / "plan.json").write_text(json.dumps(plan))


def test_a_host_is_known_by_its_runs(tmp_path: Path) -> None:
    record_of(tmp_path, "epyc-2c-1", sizes={"total LLC": 2**25})
    record_of(tmp_path, "xeon-4c-2", sizes={"total LLC": 2**24})
    results = tmp_path / "results/epyc-2c-1/quick/stream"
    results.mkdir(parents=True)
    ceilings = [{"rate_bytes_per_s": 4e10}, {"rate_bytes_per_s": 5e10}]
    content = {"facts": {}, "sizes": {}, "ceilings": ceilings}
    (results / "analysis.json").write_text(json.dumps(content))
    found = machine_of(tmp_path, "", "epyc")
    assert (found.llc_bytes, found.cores, found.memory_bytes_per_s) == (2**25, 4, 5e10)
    assert machine_of(tmp_path, "1 MiB", "epyc").llc_bytes == 2**20
    by_file = machine_of(tmp_path, "", str(tmp_path / "data/runs/xeon-4c-2/stream/run-1/plan.json"))
    assert by_file.llc_bytes == 2**24
    with pytest.raises(BenchbookError, match="known here: epyc-2c-1, xeon-4c-2"):
        machine_of(tmp_path, "", "power")


def test_this_host_is_known(tmp_path: Path) -> None:
    found = machine_of(tmp_path, "", "here")
    assert found.cores
    assert found.source == "--host here"


def test_a_host_file_that_is_none_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text("no JSON")
    with pytest.raises(BenchbookError, match="cannot be read as the record of a host"):
        machine_of(tmp_path, "", str(file))


def test_long_runs_are_folded(tmp_path: Path) -> None:
    lines = [f"64 bytes from 10.0.0.1: icmp_seq={n} ttl=64 time={n % 7}.5 ms" for n in range(500)]
    head = "PING 10.0.0.1 (10.0.0.1) 56(84) bytes of data."
    times = [0.9 + n % 5 / 100 for n in range(500)]
    record = {"command": "x", "mean": 0.92, "stddev": 0.01, "median": 0.92, "min": 0.9, "max": 0.94}
    record |= {"times": times, "user": 0.1, "system": 0.0}
    file = tmp_path / "long.log"
    file.write_text("\n".join([head, *lines, json.dumps({"results": [record]})]))
    shown = run(file).stdout.decode()
    assert "×500" in shown
    assert len(shown.splitlines()) < 100


def test_a_fault_of_an_importer_is_told_and_the_others_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from benchbook.explain.readers import mbw

    def broken(log: object) -> list[object]:
        raise ZeroDivisionError

    monkeypatch.setattr(mbw, "read", broken)
    both = STREAM.read_bytes() + MBW.read_bytes()
    found = explanation.explained("both.log", both, Machine())
    assert found["tools"] == ["stream"]
    assert "importer mbw" in found["notes"][0]


MBW_LINE = "0\tMethod: MEMCPY\tElapsed: 0.1\tMiB: {}\tCopy: 1000.000 MiB/s\n"
PYPERF = '{{"benchmarks": [{{"metadata": {{"name": "f"}}, "runs": [{{"values": [{}, 1.5]}}]}}]}}'
SOCKPERF = (
    "$ sockperf ping-pong -i 10.0.0.1 -m {}\nsockperf: == version #3.7 ==\n"
    "sockperf: [Total Run] RunTime=1.000 sec; Warm up time=400 msec; SentMessages=9; "
    "ReceivedMessages=8\nsockperf: ====> avg-latency=20.0 (std-dev=1.0)\n"
)


@pytest.mark.parametrize("text", [MBW_LINE, PYPERF, SOCKPERF], ids=["mbw", "pyperf", "sockperf"])
@pytest.mark.parametrize("odd", ["1e308", "NaN", "Infinity", "1" + "0" * 400, "9" * 4400, "²", ""])
def test_odd_numbers_are_no_fault_of_an_importer(text: str, odd: str) -> None:
    found = explanation.explained("odd.log", text.format(odd).encode(), Machine())
    assert [note for note in found["notes"] if "failed on this log" in note] == []


CORPUS = ROOT / "tests/logs"


@pytest.mark.parametrize(
    ("sample", "printed", "edited"),
    [
        ("google_benchmark/median-of-four.log", "212 ns          211", "232 ns          211"),
        ("hyperfine/cut-in-times.log", "0.06974047127266443", "0.69740471272664428"),
        ("ping/mikrotik.log", "max-rtt=9ms523us", "max-rtt=9ms52us"),
    ],
    ids=["median", "deviation", "longest"],
)
def test_one_fault_is_told_once(sample: str, printed: str, edited: str) -> None:
    text = (CORPUS / sample).read_text(encoding="utf-8")
    assert printed in text
    found = explanation.explained("x", text.replace(printed, edited).encode(), Machine())
    assert [finding["artefact"] for finding in found["findings"]] == ["inconsistent-report"]


def test_what_takes_seconds_to_import_is_not_imported() -> None:
    """Tables and statistics are for samples of odd shape only."""
    code = (
        "import sys; from benchbook.explain import api, rules\n"
        "rules.rules(); api.looked_for()\n"
        "print(*sorted({'pandas', 'numpy', 'scipy', 'matplotlib'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=ROOT, check=True)
    assert run.stdout.strip() == b""


def test_units_of_columns_stand_behind_their_values(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        Result(
            "throughput", 1.5, "Gbit/s", 2, "total", {"end": "sender", "start_s": 0.0, "end_s": 5}
        ),
        Result("round trip", 1.5, "ms", 3, "mean", {"end": "receiver"}),
    ]
    report = Report("x", rows, 1, facts={"took_ms": 19031, "link_bits_per_s": 10**9})
    print_explained(Explained("x", [report]), alone=True)
    shown = capsys.readouterr().out
    assert "took 19,031 ms; link 1,000,000,000 bit/s" in shown
    assert shown.split("\n")[2].split() == ["value", "unit", "end", "from", "until", "line"]
    assert shown.split("\n")[3].split()[-6:] == ["sender", "0", "s", "5", "s", "2"]
