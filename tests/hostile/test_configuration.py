"""Settings and definitions that are no settings."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import ROOT

from benchbook.commands.config_option import overrides
from benchbook.core.errors import BenchbookError
from benchbook.define.settings import load_settings
from benchbook.define.yaml_files import MOST_BYTES, read_yaml

LIMIT_S = 5
LAUGHS = "\n".join(
    [
        "a: &a [1, 2]",
        *(f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]" for n in range(24)),
    ]
)
MERGES = "\n".join(
    [
        "a: &a {k: 1}",
        *(
            f"{chr(98 + n)}: &{chr(98 + n)} {{<<: [{', '.join([f'*{chr(97 + n)}'] * 9)}]}}"
            for n in range(9)
        ),
    ]
)


@pytest.fixture(autouse=True)
def in_time() -> Iterator[None]:
    """No file of settings takes longer than this, whatever is in it."""

    def late(*_: object) -> None:
        pytest.fail(f"it was not refused within {LIMIT_S} s")

    before = signal.signal(signal.SIGALRM, late)
    timer = signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
    yield
    signal.setitimer(signal.ITIMER_REAL, *timer)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def local(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "config", tmp_path / "config")
    (tmp_path / "config/local.yaml").unlink(missing_ok=True)
    return tmp_path / "config/local.yaml"


def refusal(local: Path) -> str:
    with pytest.raises(BenchbookError) as refused:
        load_settings(local.parent.parent, {})
    text = str(refused.value)
    assert "local.yaml" in text
    assert "\n" not in text
    assert len(text) < 500
    return text


@pytest.mark.parametrize("text", [LAUGHS, MERGES], ids=["lists", "merged keys"])
def test_anchors_that_repeat_each_other(local: Path, text: str) -> None:
    """A thousand bytes of YAML mean a million values (billion laughs): refused at once."""
    local.write_text(text)
    assert "anchors (&) repeat each other" in refusal(local)


@pytest.mark.parametrize("kind", ["fifo", "folder", "link to nothing", "link to itself", "device"])
def test_settings_that_are_no_file(local: Path, kind: str) -> None:
    """config/local.yaml is a FIFO, a folder, a device or a link that leads nowhere: refused by
    name, and nothing waits."""
    made: dict[str, Callable[[], None]] = {
        "fifo": lambda: os.mkfifo(local),
        "folder": local.mkdir,
        "link to nothing": lambda: local.symlink_to("nothing"),
        "link to itself": lambda: local.symlink_to(local.name),
        "device": lambda: local.symlink_to("/dev/zero"),
    }
    made[kind]()
    assert "is no plain file" in refusal(local) or "cannot be read" in refusal(local)


def test_settings_without_end(local: Path) -> None:
    """A file of settings of a terabyte: refused by name after its first 16 MiB."""
    with local.open("wb") as stream:
        stream.truncate(1 << 40)
    assert f"more than {MOST_BYTES >> 20} MiB" in refusal(local)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("udp_peer: 999.1.1.1", "it must be an IPv4 address such as 192.0.2.1"),
        ("udp_peer: 010.1.1.1", "it must be an IPv4 address"),
        ("udp_peer: 1.2.3", "it must be an IPv4 address"),
        ("udp_peer: '192.0.2.1:99999'", "with or without :PORT from 1 to 65535"),
        ("udp_peer: '192.0.2.1:0'", "with or without :PORT from 1 to 65535"),
        ("udp_peer: '192.0.2.1:'", "with or without :PORT from 1 to 65535"),
        ("udp_peer: '192.0.2.1:٣'", "with or without :PORT from 1 to 65535"),
        ("budget_s: 1e308", "YAML takes that for text; it must be a number, like 1.0e+4"),
        ("again: 1e3", "YAML takes that for text; it must be a whole number, like 10000"),
        ("budget_s: 1.0e+308", "it must be at most 2678400"),
        ("time_limit_s: 1.0e+10", "it must be at most 2678400"),
        ("budget_s: -1", "it must be above 0"),
    ],
)
def test_values_that_are_none(local: Path, line: str, words: str) -> None:
    """An address, a port, a number or a time that there cannot be: refused by file and key, with
    what is allowed."""
    local.write_text(line)
    assert words in refusal(local)


@pytest.mark.parametrize("value", ["{", "[" * 100_000, "&a [*a, *a", "\x00", "!!python/name:os"])
def test_words_of_the_command_line(value: str) -> None:
    """--config KEY=VALUE with brackets, tags of Python or a NUL: one sentence, and nothing is
    run."""
    with pytest.raises(BenchbookError) as refused:
        overrides([f"looks={value}"])
    assert "looks" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300


def test_tags_run_nothing(tmp_path: Path) -> None:
    """YAML tags that call Python functions: refused, and nothing is called."""
    path = tmp_path / "experiment.yaml"
    path.write_text("a: !!python/object/apply:os.mkdir [called]\n")
    before = time.monotonic()
    with pytest.raises(BenchbookError, match="is not valid YAML"):
        read_yaml(path)
    assert not (Path.cwd() / "called").exists()
    assert time.monotonic() - before < LIMIT_S
