"""A question that explain asks is answered when the caller gives the fact; notes are no silence."""

from __future__ import annotations

import pytest

from benchbook.explain.api import Explained, Machine, of_content, print_explained

SWEEP = """# Benchmarking PingPong
#bytes #repetitions t[usec] Mbytes/sec
131072 320 10.20 12850.20
262144 160 19.90 13173.07
524288 80 38.10 13760.84
1048576 40 160.40 6537.26
2097152 20 502.30 4175.10
4194304 10 1390.00 3017.49
"""
PYPERF = """WARNING: the benchmark result may be unstable
* the standard deviation (3.84 ns) is 12% of the mean (31.9 ns)

Mean +- std dev: 31.9 ns +- 3.8 ns
"""
LANES = """[CUDA Bandwidth Test] - Starting...
 Device 0: NVIDIA A100-PCIE-40GB
 Host to Device Bandwidth, 1 Device(s)
 PINNED Memory Transfers
   Transfer Size (Bytes)        Bandwidth(GB/s)
   32000000                     {rate}
"""


def explained(text: str, llc_mib: int = 0) -> Explained:
    machine = Machine(llc_mib << 20, source="--l3") if llc_mib else Machine()
    return of_content("x", text.encode(), machine)


def test_without_caches_a_fall_is_asked_about() -> None:
    (ask,) = explained(SWEEP).asks
    assert ask.option == "--l3 SIZE"


@pytest.mark.parametrize(
    ("llc_mib", "effect", "words"),
    [(2, "explains", "the fall is the end of the cache"), (64, "informs", "do not explain")],
)
def test_with_caches_it_is_answered(llc_mib: int, effect: str, words: str) -> None:
    answered = explained(SWEEP, llc_mib)
    assert answered.asks == []
    (finding,) = [each for each in answered.findings if each.artefact == "cache-resident"]
    assert finding.effect == effect
    assert words in finding.explanation


def test_a_warning_that_was_quoted_is_not_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    print_explained(explained(PYPERF), alone=True)
    shown = capsys.readouterr().out
    assert "Apart from the notes, nothing wrong was found in it." in shown
    assert "said unstable" not in shown


def test_a_rate_stands_next_to_what_its_lanes_carry() -> None:
    (note,) = explained(LANES.format(rate=24.6)).notes
    assert "of the 31.5 GB/s that sixteen lanes of PCIe 4 carry" in note.replace("\u00a0", " ")
    (finding,) = explained(LANES.format(rate=3.1)).findings
    assert finding.artefact == "far-below-link"


def test_no_line_of_a_table_is_longer_than_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(
        f"[{stream}]  {at}.00-{at + 1}.00   sec  1.20 MBytes  10.0 Mbits/sec  0.071 ms  "
        "0/153 (0%)\n"
        for at in range(7)
        for stream in ("  5", "SUM")
    )
    head = "[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n"
    print_explained(explained(head + rows), alone=True)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    assert any(line.split()[:3] == ["SUM", "0", "s"] for line in lines)
