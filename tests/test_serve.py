"""benchbook serve udp-echo: what becomes the echo server, and what stays a sentence."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from benchbook import network
from benchbook.commands import app, serve
from benchbook.core.errors import BenchbookError

ROOT = Path(__file__).resolve().parents[1]


class BecameError(Exception):
    """Instead of the program that this process would have become."""


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the build stage answers; a test may change it."""
    record = {"state": "ok", "reason": "", "binary": {"file": "abc"}}

    def become(program: str, arguments: list[str]) -> None:
        raise BecameError(program, arguments)

    monkeypatch.setattr(serve, "build_variant", lambda *_: record)
    monkeypatch.setattr(os, "execv", become)
    monkeypatch.setattr(serve, "ROOT", ROOT)
    return record


def asked(*arguments: str) -> list[str]:
    """What a command line becomes."""
    done = CliRunner().invoke(app.app, ["serve", "udp-echo", *arguments])
    assert isinstance(done.exception, BecameError), done.output
    program, words = done.exception.args
    assert program == words[0] == str(ROOT / "build" / "serve" / "udp" / "abc")
    return words[1:]


def test_the_base_variant_serves_where_it_is_told_to(built: dict[str, Any]) -> None:
    assert asked("--bind", "10.0.0.1") == [
        "--serve",
        "--bind=10.0.0.1",
        f"--port={network.PEER_PORT}",
        "--wait=block",
    ]
    assert asked("--bind", "10.0.0.1", "--port", "99", "--wait", "spin")[2:] == [
        "--port=99",
        "--wait=spin",
    ]


@pytest.mark.parametrize("arguments", [[], ["--bind", "10.0.0.1", "--port", "65536"]])
def test_nothing_is_served_by_default_or_mistake(
    built: dict[str, Any], arguments: list[str]
) -> None:
    done = CliRunner().invoke(app.app, ["serve", "udp-echo", *arguments])
    assert (done.exit_code, type(done.exception)) == (2, SystemExit)


def test_a_server_that_cannot_be_built_says_why(built: dict[str, Any]) -> None:
    built |= {"state": "cannot_run", "reason": "compiler 'gcc' is not on PATH"}
    with pytest.raises(BenchbookError, match="cannot be built: compiler 'gcc' is not on PATH"):
        serve.udp_echo(ROOT, "10.0.0.1", None, "block")
