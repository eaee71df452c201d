"""The build stage with real compilers: a binary under its hash, and what the compiler made."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from conftest import ROOT, copy_checkout

from benchbook import disassembly
from benchbook.build import build_variant

COMPILERS = [
    pytest.param(
        name, marks=pytest.mark.skipif(shutil.which(name) is None, reason=f"{name} is absent")
    )
    for name in ("gcc", "clang")
]


def edited(tmp_path: Path, old: str, new: str) -> Path:
    checkout = copy_checkout(tmp_path / "checkout")
    definition = checkout / "kernels/mbw/experiment.yaml"
    assert old in definition.read_text()
    definition.write_text(definition.read_text().replace(old, new))
    return checkout


def build(root: Path, tmp_path: Path, variant: str) -> dict:
    output = tmp_path / "built" / variant / "variant.json"
    record = build_variant(root, "mbw", variant, output)
    assert json.loads(output.read_text()) == record
    return record


def test_binary_lies_under_its_hash_and_twice_is_the_same(tmp_path: Path) -> None:
    first = build(ROOT, tmp_path / "a", "gcc-O2")
    second = build(ROOT, tmp_path / "b", "gcc-O2")
    assert first == second
    assert first["state"] == "ok"
    assert first["binary"] != first["relinked"]
    kept = tmp_path / "a/built/gcc-O2" / first["binary"]["file"]
    assert kept.exists()
    assert first["binary"]["sha256"].startswith(kept.name)
    assert not list(kept.parent.glob("tmp*"))


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("flags", ["-O0", "-O2", "-O3", "-O2, -mcmodel=large"])
def test_library_calls_are_found(tmp_path: Path, compiler: str, flags: str) -> None:
    old = "gcc-O2: {compiler: gcc, flags: [-O2]}"
    root = edited(tmp_path, old, f"gcc-O2: {{compiler: {compiler}, flags: [{flags}]}}")
    record = build(root, tmp_path, "gcc-O2")
    assert record["state"] == "ok", record["reason"]
    calls = {name: body["library_calls"] for name, body in record["timed_functions"].items()}
    assert calls["timed_copy_memcpy"] == ["memcpy"]
    assert calls["timed_copy_mempcpy"] == ["mempcpy"]
    assert calls["timed_block_1_3_0_mempcpy"] == ["mempcpy"]
    assert record["timed_functions"]["timed_loop"]["loads_in_loop"] > 0
    for flag in flags.split(", "):
        assert flag in record["effective"]


def test_wrong_library_call_fails_the_variant(tmp_path: Path) -> None:
    root = edited(tmp_path, "flags: [-fno-builtin-mempcpy]", "flags: []")
    record = build(root, tmp_path, "gcc-O2")
    assert record["state"] == "failed"
    assert "timed_copy_mempcpy must call mempcpy" in record["reason"]
    assert "memcpy" in record["reason"].split("made it call")[1]


def test_missing_compiler_cannot_run_here(tmp_path: Path) -> None:
    root = edited(tmp_path, "compiler: clang", "compiler: no-such-cc")
    record = build(root, tmp_path, "clang-O2")
    assert record["state"] == "cannot_run"
    assert "'no-such-cc' is not on PATH" in record["reason"]


def test_unknown_flag_is_a_result_with_the_compilers_words(tmp_path: Path) -> None:
    root = edited(tmp_path, "flags: [-O3]", "flags: [-fno-such-flag]")
    record = build(root, tmp_path, "gcc-O3")
    assert record["state"] == "failed"
    assert "-fno-such-flag" in record["reason"]


def test_isa_is_what_the_code_uses(tmp_path: Path) -> None:
    root = edited(tmp_path, "flags: [-O3]", "flags: [-O3, -march=x86-64-v3]")
    if "x86_64" not in build(ROOT, tmp_path / "plain", "gcc-O2")["target"]:
        pytest.skip("x86-64 flags on another architecture")
    assert build(root, tmp_path, "gcc-O3")["isa"] == ["AVX"]
    assert build(ROOT, tmp_path / "O2", "gcc-O2")["isa"] == []


def test_tail_jump_counts_as_a_call() -> None:
    text = """
0000000000000000 <timed_x>:
   0:\tmov    (%rdi),%rsi
   3:\tjmp    8 <timed_x+0x8>
\t\t\t4: R_X86_64_PLT32\tmemcpy-0x4

0000000000000010 <other>:
  10:\tcall   15 <other+0x5>
\t\t\t11: R_X86_64_PLT32\tprintf-0x4
"""
    found = disassembly.parse(text)
    assert list(found) == ["timed_x"]
    assert found["timed_x"].calls == ["memcpy"]
    assert found["timed_x"].loop_loads == 0


def test_loads_in_a_backward_loop_are_counted() -> None:
    text = """
0000000000000000 <timed_sum>:
   0:\txor    %eax,%eax
   2:\tadd    (%rdi,%rax,8),%rdx
   6:\tmov    %rdx,(%rsi)
   9:\tadd    $0x1,%rax
   d:\tcmp    %rcx,%rax
  10:\tjne    2 <timed_sum+0x2>
  12:\tmov    (%rsp),%rdx
"""
    assert disassembly.parse(text)["timed_sum"].loop_loads == 1
