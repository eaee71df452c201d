"""The build stage with real compilers: a binary under its hash, and what the compiler made."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from conftest import ROOT, copy_checkout

from benchbook.build import disassembly, objects
from benchbook.build.stage import build_variant, find_compiler, not_there
from benchbook.define import catalogue
from benchbook.host.compilers import program_of
from kernels import KERNELS, compiled

FLAGS = ["-O0", "-O2", "-O3", "-O2, -mcmodel=large"]
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


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:
    """Variant gcc-O2 as it is in the checkout: its folder and its record."""
    folder = tmp_path_factory.mktemp("first")
    record = build(ROOT, folder, "gcc-O2")
    return folder / "built/gcc-O2", record


def test_binary_lies_under_its_hash_and_twice_is_the_same(
    built: tuple[Path, dict], tmp_path: Path
) -> None:
    folder, first = built
    assert first == build(ROOT, tmp_path, "gcc-O2")
    assert first["state"] == "ok"
    assert first["binary"] != first["relinked"]
    kept = folder / first["binary"]["file"]
    assert kept.exists()
    assert first["binary"]["sha256"].startswith(kept.name)
    assert not list(folder.glob("tmp*"))


def test_what_variants_have_in_common_is_compiled_once(tmp_path: Path) -> None:
    root = copy_checkout(tmp_path / "checkout")

    def kept() -> set[str]:
        return {path.name for path in (root / "build/objects").iterdir()}

    first = build(root, tmp_path, "gcc-O2")
    once = kept()
    again = build(root, tmp_path, "gcc-O2-one-way")  # the same flags, another environment
    assert (again["binary"], kept()) == (first["binary"], once)
    build(root, tmp_path, "gcc-O3")
    with_other_flags = kept()
    assert len(with_other_flags - once) == len(once) - 1  # all but what only moves the layout
    header = root / "kernels/common/bench.h"
    header.write_text(header.read_text() + "/* changed */\n")
    build(root, tmp_path, "gcc-O2")
    assert len(kept() - with_other_flags) == len(once) - 1


@pytest.mark.parametrize(
    ("flags", "compiled_anew"),
    [
        (["-O2", "-O2"], set()),
        (["-O2", "-DTWICE"], {"asks.c", "asks_in_header.c"}),
        (["-O2", "-DTWICE=2"], {"asks.c", "asks_in_header.c"}),
        (["-O2", "-DNOBODY_ASKS"], {"asks.c", "asks_in_header.c", "is_plain.c"}),
        (["-O2", "-DNDEBUG"], {"asks.c", "asks_in_header.c", "is_plain.c"}),
        (["-O2", "-D_FORTIFY_SOURCE=2"], {"asks.c", "asks_in_header.c", "is_plain.c"}),
        (["-O3"], {"asks.c", "asks_in_header.c", "is_plain.c"}),
    ],
)
def test_a_macro_compiles_anew_what_asks_for_it(
    tmp_path: Path, flags: list[str], compiled_anew: set[str]
) -> None:
    """Not what neither asks nor includes a file that does."""
    root = tmp_path / "kernels"
    own, common, work = root / "own", root / "common", tmp_path / "work"
    for folder in (own, common, work):
        folder.mkdir(parents=True)
    (common / "twice.h").write_text(
        "#ifdef TWICE\n#define TIMES 2\n#else\n#define TIMES 1\n#endif\n"
    )
    (common / "through.h").write_text('#include "twice.h"\n')
    (own / "asks.c").write_text("#ifdef TWICE\nint asks;\n#endif\nint last;\n")
    (own / "asks_in_header.c").write_text('#include "through.h"\nint times = TIMES;\n')
    (own / "is_plain.c").write_text("int plain;\n")
    compiler = find_compiler("gcc")
    assert compiler is not None
    entering = [*own.iterdir(), *common.iterdir()]

    def is_compiled(source: str, given: list[str]) -> bool:
        before = set(kept.iterdir()) if kept.exists() else set()
        objects.shared_object(compiler, own / source, given, common, work, entering)
        return set(kept.iterdir()) != before

    kept = tmp_path / "build/objects"
    sources = ["asks.c", "asks_in_header.c", "is_plain.c"]
    assert all(is_compiled(source, ["-O2"]) for source in sources)
    assert {source for source in sources if is_compiled(source, flags)} == compiled_anew


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("flags", FLAGS)
def test_library_calls_are_found(compiler: str, flags: str) -> None:
    own = ["-fno-builtin-mempcpy", *flags.split(", ")]
    kernel = compiled(KERNELS / "mbw/mbw.c", *own, compiler=compiler)
    found = disassembly.timed_functions([kernel])
    assert found["timed_copy_memcpy"].calls == ["memcpy"]
    assert found["timed_copy_mempcpy"].calls == ["mempcpy"]
    assert found["timed_block_1_3_0_mempcpy"].calls == ["mempcpy"]
    assert found["timed_loop"].loop_loads > 0


@pytest.mark.parametrize("compiler", COMPILERS)
def test_compiler_and_flags_are_those_of_the_definition(tmp_path: Path, compiler: str) -> None:
    old = "gcc-O2: {compiler: gcc, flags: [-O2]}"
    root = edited(tmp_path, old, f"gcc-O2: {{compiler: {compiler}, flags: [{FLAGS[-1]}]}}")
    record = build(root, tmp_path, "gcc-O2")
    assert record["state"] == "ok", record["reason"]
    assert record["compiler"] == compiler
    assert compiler in " ".join([record["compiler_version"], record["effective"][0]])
    assert {"-O2", "-mcmodel=large"} <= set(record["effective"])
    assert record["timed_functions"]["timed_copy_memcpy"]["library_calls"] == ["memcpy"]
    assert record["timed_functions"]["timed_loop"]["loads_in_loop"] > 0


@pytest.mark.parametrize("experiment", catalogue.experiments(ROOT))
def test_the_base_of_every_experiment_is_built(tmp_path: Path, experiment: str) -> None:
    """And does what its definition says of it, or lacks a library that the reason names."""
    base = catalogue.definition(ROOT, experiment)["base"]
    record = build_variant(ROOT, experiment, base, tmp_path / base / "variant.json")
    assert record["state"] in ("ok", "cannot_run"), record["reason"]


def test_wrong_library_call_fails_the_variant(tmp_path: Path) -> None:
    root = edited(tmp_path, "timed_copy_memcpy: [memcpy]", "timed_copy_memcpy: [mempcpy]")
    record = build(root, tmp_path, "gcc-O2")
    assert record["state"] == "failed"
    assert "timed_copy_memcpy must call mempcpy" in record["reason"]
    assert "memcpy" in record["reason"].split("made it call")[1]


def test_hardened_headers_leave_mempcpy_what_it_is(tmp_path: Path) -> None:
    """Fortified, GCC makes a memcpy of a mempcpy whose result nobody takes."""
    record = build(ROOT, tmp_path, "gcc-debian")
    assert record["state"] == "ok", record["reason"]
    assert any("_FORTIFY_SOURCE" in flag for flag in record["flags"])
    for method in ("copy", "block_1_1_1", "block_1_2_2", "block_1_3_0"):
        calls = record["timed_functions"][f"timed_{method}_mempcpy"]["library_calls"]
        assert calls == ["mempcpy"], method


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


def test_isa_is_what_the_code_uses(built: tuple[Path, dict], tmp_path: Path) -> None:
    _, plain = built
    if "x86_64" not in plain["target"]:
        pytest.skip("x86-64 flags on another architecture")
    assert plain["isa"] == []
    root = edited(tmp_path, "flags: [-O3]", "flags: [-O3, -march=x86-64-v3]")
    assert build(root, tmp_path, "gcc-O3")["isa"] == ["AVX"]


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


# --- Names of compilers


def stand_in_compiler(folder: Path, name: str, version: str) -> str:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\necho {version}\n")
    path.chmod(0o755)
    return str(path)


BROKEN = {
    "hangs": ("sleep 60", "does not answer --version"),
    "is cut off": ("exit 1", "does not answer --version"),
    "prints random bytes": ("head -c 3000 /dev/urandom; exit 1", ""),
    "does nothing": ("echo gcc 12.0.0", "did not write"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_compiler_fails_its_variant_in_one_sentence(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, words = BROKEN[kind]
    gcc = Path(stand_in_compiler(tmp_path / "bin", "gcc", ""))
    gcc.write_text(f"#!/bin/sh\n{script}\n")
    monkeypatch.setenv("PATH", f"{gcc.parent}:{os.environ['PATH']}")
    monkeypatch.setattr("benchbook.core.processes.ANSWER_LIMIT_S", 1.0)
    record = build(ROOT, tmp_path, "gcc-O3")
    assert record["state"] == "failed"
    assert words in record["reason"]
    assert record["reason"].isprintable()
    assert "\n" not in record["reason"]


def test_the_other_gcc_is_the_newest_of_another_major(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bin"
    stand_in_compiler(folder, "gcc", "12.2.0")
    monkeypatch.setenv("PATH", str(folder))
    for name in ("gcc-12", "gcc-ar-13", "gcc-13.1", "x86-gcc-14"):
        stand_in_compiler(folder, name, "9")
    assert program_of("gcc-alt") is None
    older = stand_in_compiler(folder, "gcc-9", "9.5.0")
    assert program_of("gcc-alt") == older
    newer = stand_in_compiler(folder, "gcc-11", "11.3.0")
    assert program_of("gcc-alt") == newer
    (folder / "gcc-14").write_text("no program")
    assert program_of("gcc-alt") == newer
    own = stand_in_compiler(folder, "gcc-alt", "15")
    assert program_of("gcc-alt") == own
    assert program_of("clang") is None
    assert "gcc-11" in not_there("gcc-alt")


def test_a_full_disk_is_no_fault_of_the_variant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would still be called failed when there is room again."""
    gcc = Path(stand_in_compiler(tmp_path / "bin", "gcc", ""))
    full = "Fatal error: can't write a.o: No space left on device"
    gcc.write_text(f'#!/bin/sh\n[ $# = 1 ] && echo gcc 12.0.0 && exit\necho "{full}" >&2\nexit 1\n')
    monkeypatch.setenv("PATH", f"{gcc.parent}:{os.environ['PATH']}")
    with pytest.raises(OSError, match="No space left on device"):
        build(ROOT, tmp_path, "gcc-O2")
    assert not (tmp_path / "built/gcc-O2/variant.json").exists()
