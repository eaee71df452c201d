"""The messages library without a network: a lossy carrier, a stranger's frames, a killed peer."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

import kernels
from kernels import KERNELS, LIMIT_S

FOLDER = KERNELS / "messages"
# The library; the other files of the folder are the experiment.
LIBRARY = [
    FOLDER / f"{name}.c"
    for name in (
        "control",
        "descriptor",
        "endpoint",
        "ethernet",
        "frame",
        "polling",
        "primitives",
        "state",
        "lossy_carrier",
        "memory_carrier",
        "packet_carrier",
        "receiving",
        "rings_carrier",
        "sending",
        "silence",
        "targets",
        "udp_carrier",
        "xdp_carrier",
    )
]
SANITIZERS = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
SENT, SANITIZED = 1_000_000, 50_000
FRAMES = 10_000
SILENT_MS = 2_000


def build(folder: Path, *flags: str, compiler: str = "gcc") -> Path:
    include = (f"-I{FOLDER}", *(flags or ("-O2",)))
    objects = kernels.all_compiled(
        [ROOT / "tests/messages_ends.c", *LIBRARY], *include, compiler=compiler
    )
    return kernels.linked(folder / "ends", *objects, flags=flags, compiler=compiler)


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("ends"))


def printed(program: Path, *arguments: object) -> dict[str, int]:
    """The numbers by name that a good run printed."""
    done = subprocess.run(
        [str(program), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    pairs = (line.split() for line in done.stdout.splitlines())
    return {name: int(value) for name, value in pairs}


def whole(counts: dict[str, int], messages: int) -> None:
    """Each message arrived once, in order, intact; what was lost was sent again."""
    assert counts["wrong"] == 0
    assert counts["near_sent"] == counts["far_delivered"] == messages
    assert counts["far_refused"] == 0
    for name in ("lost", "lossy_repeated", "reordered"):
        assert counts[name] > messages / 200, name
    assert counts["lossy_damaged"] > messages / 4000
    assert counts["near_resent"] >= counts["lost"] + counts["lossy_damaged"]
    # A changed bit of the header can make a stranger's frame of a damaged one; the carrier may have
    # had no room for it, or may have repeated it.
    seen = counts["far_damaged"] + counts["far_strange"]
    assert counts["lossy_damaged"] / 2 < seen < 2 * counts["lossy_damaged"]


def test_a_million_messages_through_a_lossy_carrier(ends: Path) -> None:
    whole(printed(ends, "stream", "memory", SENT, 1), SENT)


def test_a_lossy_carrier_over_udp(ends: Path) -> None:
    whole(printed(ends, "stream", "udp", SANITIZED, 2), SANITIZED)


def test_the_same_seed_hits_the_same_frames(ends: Path) -> None:
    first, again = (printed(ends, "stream", "memory", 1000, 5) for _ in range(2))
    assert first["lost"] > 0
    assert first["far_delivered"] == again["far_delivered"] == 1000


@pytest.mark.parametrize("seed", range(5))
def test_hostile_frames_change_nothing(ends: Path, seed: int) -> None:
    counts = printed(ends, "hostile", FRAMES, seed)
    assert counts["changed"] == 0
    assert counts["far_delivered"] == 0
    for name in ("far_refused", "far_repeated", "far_damaged", "far_strange"):
        assert counts[name] > FRAMES / 100, name
    assert counts["still_delivered"] == 1


@pytest.mark.parametrize("listens", ["asks", "listens"])
@pytest.mark.parametrize("waits", ["spins", "sleeps"])
@pytest.mark.parametrize("carrier", ["memory", "udp"])
def test_a_killed_peer_is_named_soon(ends: Path, carrier: str, waits: str, listens: str) -> None:
    command = [str(ends), "killed", carrier, waits, listens]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=True)
    milliseconds, _, sentence = done.stdout.partition(" ")
    assert int(milliseconds) < SILENT_MS
    assert sentence.startswith("the peer has ")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_sanitizers_find_nothing(tmp_path: Path, compiler: str) -> None:
    program = build(tmp_path, *SANITIZERS, compiler=compiler)
    whole(printed(program, "stream", "memory", SANITIZED, 3), SANITIZED)
    whole(printed(program, "stream", "udp", SANITIZED // 5, 4), SANITIZED // 5)
    for seed in range(3):
        assert printed(program, "hostile", FRAMES, seed)["changed"] == 0
