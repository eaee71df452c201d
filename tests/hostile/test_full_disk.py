"""A full disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

# Fills a disk of 256 KiB, and then does what stages do; each must name its file.
PROGRAM = """
import os, sys
from pathlib import Path
from benchbook.commands import main
from benchbook.core.files import write_json
from benchbook.records import journal

disk, what = Path(sys.argv[1]), sys.argv[2]
whole = disk / "analysis.json"
write_json(whole, {"version": 1})
(disk / "filler").write_bytes(bytes(200 << 10))

def work():
    if what == "results":
        write_json(whole, {"version": 1, "points": list(range(100_000))})
    elif what == "journal":
        while True:
            journal.append(disk / "journal.jsonl", [{"kind": "x", "time_ns": [1] * 1000}])
    elif what == "samples":
        journal.store_samples(disk, [1] * 20_000, [2] * 20_000)
    elif what == "log":
        from benchbook.core.files import Tee
        sys.stderr = Tee(sys.stderr, disk / "measure.log")
        for _ in range(20_000):
            print("a line that is kept", file=sys.stderr)
        raise OSError(28, "No space left on device", str(disk / "measure.log"))

main._explained = lambda words: work() or True
sys.argv = ["benchbook", "explain"]
main.main()
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root may mount a small disk")
@pytest.mark.parametrize(
    ("what", "name"),
    [
        ("results", "analysis.json"),
        ("journal", "journal.jsonl"),
        ("samples", "samples/"),
        ("log", "measure.log"),
    ],
)
def test_the_sentence_names_the_file(tmp_path: Path, what: str, name: str) -> None:
    """The disk is full while results, a journal, samples or a log are written: one sentence names
    the file, what was whole stays whole, and no draft stays."""
    show = 'ls -A "$0"; cat "$0/analysis.json"'
    script = f'mount -t tmpfs -o size=256k none "$0" && "$@" >"$0.out" 2>"$0.err"; {show}'
    words = ["unshare", "-m", "sh", "-c", script, str(tmp_path)]
    done = subprocess.run(
        [*words, sys.executable, "-c", PROGRAM, str(tmp_path), what],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if "mount" in done.stderr:
        pytest.skip("mounts are refused here")
    said = Path(f"{tmp_path}.err").read_text()
    last = said.splitlines()[-1]
    assert last.startswith(f"benchbook: {tmp_path}/{name}"), said
    assert "No space left on device; correct this and run again" in last
    assert "Traceback" not in said
    assert "lost sys.stderr" not in said
    assert '"version": 1' in done.stdout
    assert not [line for line in done.stdout.splitlines() if line.startswith(".")]
