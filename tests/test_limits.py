"""The sizes at which static arrays no longer link: found exactly, with the words said there."""

from __future__ import annotations

import platform
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from conftest import ROOT

from benchbook.build import link_limits
from benchbook.core.files import read_json
from benchbook.define.settings import load_settings
from benchbook.evidence.collectors import limits as of_limits
from benchbook.evidence.stage import Context
from benchbook.workflow import Lab

MIB = 2**20
NOTHING = {"status": None, "message": "", "fails_bytes": None}
MAIN = "int kernel(void);\nint main(void) { return kernel(); }\n"
KERNEL = """
#define WORDS (CAPACITY / 8)
#if defined MOST && CAPACITY > MOST
#error this compiler takes no more
#endif
static double a[WORDS], b[WORDS], c[WORDS];
int kernel(void) {
    for (unsigned long i = 0; i < WORDS; i++) {
        a[i] = b[i] = c[i] = 1;
        __asm__ volatile("" : : "r"(a), "r"(b), "r"(c) : "memory");
    }
    return c[1] > 1;
}
"""


def found(root: Path, **variants: list[str]) -> dict[str, dict[str, Any]]:
    """The limits of a made-up kernel by variant; `variants` gives compiler and flags of each."""
    for name, text in {"common/main.c": MAIN, "big/big.c": KERNEL}.items():
        path = root / "kernels" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    definition = {
        "version": 1,
        "question": "How large?",
        "sources": ["big.c"],
        "flags": ["-O1"],
        "factors": {"bytes": {"unit": "bytes", "text": "size"}, "method": {"text": "function"}},
        "starts": ["bytes"],
        "definitions": {"copy": "it is copied"},
        "buffers": 3,
        "base": next(iter(variants)),
        "variants": {
            name: {"compiler": compiler, "flags": flags}
            for name, (compiler, *flags) in variants.items()
        },
        "paper_samples": 1,
        "points": {"tiny": [{"bytes": 64, "method": "copy"}]},
        "limits": {"define": "CAPACITY", "arrays": 3, "variants": list(variants)},
    }
    (root / "kernels/big/experiment.yaml").write_text(yaml.safe_dump(definition))
    output = root / "build/big/limits.json"
    record = link_limits.find_limits(root, "big", output)
    assert record == read_json(output)
    assert [path.name for path in output.parent.iterdir()] == ["limits.json"]
    return {item["variant"]: item for item in record["items"]}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="code models of x86-64")
def test_limit_is_where_the_linker_stops(tmp_path: Path) -> None:
    items = found(
        tmp_path,
        small=["gcc", "-mcmodel=small"],
        large=["gcc", "-mcmodel=large"],
        no_pic=["gcc", "-fno-pic", "-pie"],
        no_pic_large=["gcc", "-fno-pic", "-mcmodel=large"],
    )
    small = items["small"]
    assert small["outcome"] == "limited"
    assert small["fails_bytes"] == small["links_bytes"] + MIB
    assert small["status"] == 1
    assert re.search(r"relocation truncated to fit: R_X86_64_\w+ against `\.bss'", small["message"])
    assert small["message"] in small["reason"]
    assert links(tmp_path, small["links_bytes"])
    assert not links(tmp_path, small["fails_bytes"])
    for name in ("large", "no_pic_large"):
        assert items[name]["outcome"] == "every_size"
        assert items[name]["links_bytes"] == 2**40
        assert items[name] == items[name] | NOTHING
    never = items["no_pic"]
    assert (never["outcome"], never["links_bytes"], never["fails_bytes"]) == ("no_size", None, MIB)
    assert "can not be used when making a PIE object" in never["message"]
    assert str(tmp_path) not in never["message"]


def links(root: Path, size: int) -> bool:
    """Whether arrays of that size link, in one command of our own."""
    sources = [str(root / "kernels" / name) for name in ("big/big.c", "common/main.c")]
    command = ["gcc", "-O1", "-mcmodel=small", f"-DCAPACITY={size}", *sources]
    done = subprocess.run([*command, "-o", str(root / "program")], capture_output=True, check=False)
    return done.returncode == 0


def test_compiler_that_refuses_is_quoted_and_one_that_is_missing_named(tmp_path: Path) -> None:
    items = found(
        tmp_path,
        some=["gcc", f"-DMOST={37 * MIB}ul"],
        flag=["gcc", "-fno-such-flag"],
        gone=["no-such-cc"],
    )
    some = items["some"]
    assert (some["links_bytes"], some["fails_bytes"]) == (37 * MIB, 38 * MIB)
    assert "big/big.c:" in some["message"]
    assert "error: #error this compiler takes no more" in some["message"]
    assert str(tmp_path) not in some["message"]
    assert some["flags"] == ["-O1", f"-DMOST={37 * MIB}ul"]
    # Wrong flags are no limit of the arrays.
    assert items["flag"]["outcome"] == "cannot_run"
    assert "-fno-such-flag" in items["flag"]["reason"]
    gone = items["gone"]
    assert gone == gone | NOTHING | {"outcome": "cannot_run", "compiler_version": None}
    assert "'no-such-cc' is not on PATH" in gone["reason"]


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5, 37, 682, 1023, 1024, 2**20 - 1])
@pytest.mark.parametrize("hints", [[], [682, 683], [7, 5]])
def test_search_is_exact_and_short(most: int, hints: list[int]) -> None:
    tried = []

    class Linker:
        def refused(self, steps: int) -> tuple[int, str] | None:
            tried.append(steps)
            return (1, f"{steps} are too large") if steps > most else None

    item = link_limits._search(Linker(), hints)
    assert (item["links_bytes"], item["fails_bytes"]) == (most * MIB, (most + 1) * MIB)
    assert item["message"] == f"{most + 1} are too large"
    assert len(tried) == len(set(tried)) <= 28
    if most in hints and most + 1 in hints:
        assert len(tried) == 4


def test_rows_of_evidence_say_what_was_found(tmp_path: Path) -> None:
    found(tmp_path, some=["gcc", f"-DMOST={5 * MIB}ul"], gone=["no-such-cc"])
    path = tmp_path / "build/big/limits.json"
    some, gone = of_limits.rows(Context({"experiment": "big"}, tmp_path, {}, {}, {}, [path]))
    assert (some["state"], some["value"], some["unit"]) == ("ok", 5 * MIB, "bytes")
    assert (some["arrays"], some["variant"], some["point"]) == (3, "some", "")
    assert (gone["state"], gone["value"]) == ("absent", None)


def test_workflow_searches_where_limits_are_declared_but_not_in_tiny() -> None:
    def files(preset: str, experiment: str) -> list[str]:
        lab = Lab(ROOT, load_settings(ROOT, {"preset": preset}), "host")
        return lab.limit_files(SimpleNamespace(experiment=experiment))

    assert files("quick", "stream") == ["build/stream/limits.json"]
    assert files("tiny", "stream") == files("quick", "mbw") == []
    assert files("quick", "controls/source-not-advanced") == []


def test_change_of_flags_or_macro_searches_again(tmp_path: Path) -> None:
    def facts(define: str, *flags: str) -> str:
        found(tmp_path, some=["no-such-cc", *flags])
        path = tmp_path / "kernels/big/experiment.yaml"
        path.write_text(path.read_text().replace("CAPACITY", define))
        return Lab(tmp_path, {}, "host").limited(SimpleNamespace(owner="big"))

    assert facts("N") == facts("N")
    assert len({facts("N"), facts("M"), facts("N", "-O2")}) == 3
