"""The kernel of messages through a pipe: each of them arrives, whole, from the buffer it was in."""

from __future__ import annotations

from pathlib import Path

import pytest

import kernels
from kernels import KERNELS, outcome, run

PIPE = KERNELS / "controls" / "buffer-reuse" / "pipe.c"
COUNTS = "samples=7,warmup=3,loops=4"
SANITIZERS = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def point(payload_bytes: int, rotation_bytes: int) -> str:
    own = f"payload_bytes={payload_bytes},rotation_bytes={rotation_bytes}"
    return f"--point=method=to-itself,{own},{COUNTS}"


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("flags", [("-O0",), ("-O3",), SANITIZERS])
def test_every_message_arrives_from_its_buffer(
    compiler: str, flags: tuple[str, ...], tmp_path: Path
) -> None:
    program = kernels.build(tmp_path / "pipe", PIPE, flags=flags, compiler=compiler)
    for payload, rotation, buffers in ((64, 0, 2), (1 << 20, 0, 2), (65536, 1 << 20, 16)):
        only = outcome(program, point(payload, rotation), "--seed=3")
        assert (only["status"], only["reason"]) == ("ok", "")
        assert only["observations"] == {
            "messages": 40,
            "messages_looked_at": 10,
            "messages_in_window": 1,
            "message_directions": 1,
            "message_buffers": buffers,
            "message_buffers_bytes": buffers * payload,
            "sent_before_received": 1,
        }


def test_a_message_from_elsewhere_or_a_part_of_one_is_caught(tmp_path: Path) -> None:
    honest = PIPE.read_text(encoding="utf-8")
    told = {
        "slots_next(&sent), payload_bytes": ("slots_next(&received), payload_bytes", "looked at"),
        "slots_next(&sent), payload_bytes)": ("slots_next(&sent), payload_bytes - 8)", "in parts"),
    }
    for number, (written, (instead, why)) in enumerate(told.items()):
        source = tmp_path / f"wrong{number}.c"
        source.write_text(honest.replace(written, instead), encoding="utf-8")
        assert source.read_text(encoding="utf-8") != honest
        program = kernels.build(tmp_path / f"wrong{number}", source)
        only = outcome(program, point(4096, 1 << 20))
        assert only["status"] == "fail"
        assert why in only["reason"]


@pytest.mark.parametrize(
    ("payload", "rotation", "words"),
    [
        (0, 0, "payload_bytes=0 is not from 1 to 1048576"),
        ((1 << 20) + 1, 0, "give such a size"),
        (64, (8 << 30) + 1, "give fewer"),
    ],
)
def test_what_cannot_be_sent_is_refused(
    payload: int, rotation: int, words: str, tmp_path: Path
) -> None:
    done = run(kernels.build(tmp_path / "pipe", PIPE), point(payload, rotation))
    assert done.returncode == 1
    assert words in done.stderr
