"""Loops that OpenMP outlines are counted where they were written, whichever compiler did it; what
single instructions read and write; where the data lies that a function names."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbook.build import disassembly, instructions
from kernels import KERNELS, compiled

LOOPS = KERNELS / "stream" / "loops.c"
CEILINGS = KERNELS / "stream" / "ceilings.c"
NOTHING, READS, WRITES, BOTH = (False, False), (True, False), (False, True), (True, True)
ACCESSES = {
    "mov    (%rdi,%rax,8),%rdx": READS,
    "mov    %rdx,(%rsi,%rax,8)": WRITES,
    "mov    %rdx,%rax": NOTHING,
    "movabs 0x1234,%eax": READS,
    "mov    %eax,%fs:0x28": WRITES,
    "mov    $0x28,%eax": NOTHING,
    "movsd  0x0(%rip),%xmm0        # 8 <timed_copy+0x8>": READS,
    "movslq (%rdi),%rax": READS,
    "vmovntpd %zmm0,(%rdi)": WRITES,
    "vmovupd %ymm0,0x20(%rdi,%rax,1){%k1}": WRITES,
    "vaddpd (%rdi,%rax,8),%zmm0,%zmm0": READS,
    "vfmadd213pd (%rdi),%ymm1,%ymm2": READS,
    "vextractf128 $0x1,%ymm0,(%rdi)": WRITES,
    "cvtsi2sdq 0x8(%rsp),%xmm0": READS,
    "add    %rax,(%rdi)": BOTH,
    "addq   $0x1,0x0(%rip)": BOTH,
    "incl   (%rdi)": BOTH,
    "cmp    %rax,(%rdi,%rcx,8)": READS,
    "cmpq   $0x0,-0x8(%rbp)": READS,
    "testb  $0x1,(%rdi)": READS,
    "ucomisd (%rdi),%xmm0": READS,
    "lock cmpxchg %rdx,(%rdi)": BOTH,
    "sete   (%rdi)": WRITES,
    "rep movsb %ds:(%rsi),%es:(%rdi)": BOTH,
    "rep stos %al,%es:(%rdi)": WRITES,
    "rep stos %rax,%es:(%rdi)": WRITES,
    "lea    0x8(%rdi,%rax,8),%rdx": NOTHING,
    "prefetcht0 (%rdi)": NOTHING,
    "data16 cs nopw 0x0(%rax,%rax,1)": NOTHING,
    "nopl   0x0(%rax)": NOTHING,
    "call   *0x8(%rax)": NOTHING,
    "notrack jmp *%rax": NOTHING,
    "ret": NOTHING,
    "ldp    x0, x1, [x2], #16": READS,
    "stnp   q0, q1, [x0]": WRITES,
    "ldadd  x0, x1, [x2]": BOTH,
}
STORES = {
    "movntdq %xmm0,(%rdi)": True,
    "movnti %rax,(%rdi)": True,
    "vmovntps %ymm0,(%rdi)": True,
    "maskmovdqu %xmm1,%xmm0": True,
    "stnp   q0, q1, [x0]": True,
    "vmovntdqa (%rdi),%ymm0": False,
    "vmaskmovpd %ymm0,%ymm1,(%rdi)": False,
    "movaps %xmm0,(%rdi)": False,
}


def instruction(text: str) -> instructions.Instruction:
    found = instructions.parse(f"  1f:\t{text}")
    assert found is not None
    return found


@pytest.mark.parametrize("text", ACCESSES)
def test_what_an_instruction_reads_and_writes(text: str) -> None:
    assert instruction(text).accesses() == ACCESSES[text]


@pytest.mark.parametrize("text", STORES)
def test_which_stores_go_past_the_caches(text: str) -> None:
    assert instruction(text).is_streamed == STORES[text]


def test_a_prefix_is_told_from_the_instruction() -> None:
    assert instruction("rep movsb %ds:(%rsi),%es:(%rdi)").name == "rep movsb"
    assert instruction("rep movsb %ds:(%rsi),%es:(%rdi)").is_repeated
    assert not instruction("repz ret").is_repeated
    assert instruction("notrack jmp *%rax").mnemonic == "jmp"
    assert instruction("movsd  (%rdi),%xmm0").prefix == ""
    assert instructions.parse("\t\t\t1: R_X86_64_PLT32\tmemcpy-0x4") is None
    assert instructions.parse("") is None


def test_loops_begin_where_jumps_go_back_to() -> None:
    text = """
0000000000000000 <helper>:
   0:\tmov    (%rdi),%rax
   3:\tret

0000000000000010 <timed_fill>:
  10:\tmov    %rax,(%rdi)
  13:\taddq   $0x1,(%rdi)
  17:\tjne    10 <timed_fill>
  19:\tmov    (%rsi),%rax
  1c:\tcall   0 <helper>
  21:\tjmp    0 <helper>
"""
    body = disassembly.parse(text)["timed_fill"]
    assert (body.loop_loads, body.loop_stores) == (1, 2)


def test_data_that_is_named_lies_in_a_section() -> None:
    table = """
SYMBOL TABLE:
0000000000000000 l    d  .bss\t0000000000000000 .bss
0000000000000000 l     O .data.rel.ro.local\t0000000000000020 table
0000000000000000 l       .rodata.cst8\t0000000000000000 .LC1
0000000000000000 g     O .data.first\t0000000000000020 begun
0000000028000000       O LARGE_COMMON\t0000000000000040 .hidden a
0000000028000000       O *COM*\t0000000000000040 b
0000000000000000         *UND*\t0000000000000000 elsewhere
"""
    names = (
        ".bss-0x4",
        "table",
        ".LC1-0x4",
        "begun+0x8",
        "a",
        "b",
        "elsewhere",
        "_GLOBAL_OFFSET_TABLE_",
    )
    code = "".join(
        f"   {place}:\tmov    0x0(%rip),%rax\n\t\t\t{place}: R_X86_64_PC32\t{name}\n"
        for place, name in enumerate(names)
    )
    text = f"{table}\n0000000000000000 <timed_copy>:\n{code}"
    sections = {".bss": ".bss", "begun": ".data", "a": ".lbss", "b": ".bss"}
    assert disassembly.data_sections(text) == sections
    assert disassembly.parse(text)["timed_copy"].sections == [".bss", ".data", ".lbss"]
    both = {**sections, "elsewhere": ".ldata"}
    assert disassembly.parse(text, both)["timed_copy"].sections[-1] == ".ldata"


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_arrays_of_another_file_are_found(compiler: str, tmp_path: Path) -> None:
    own, other = tmp_path / "own.c", tmp_path / "other.c"
    own.write_text(
        "extern double far[9]; double near[9] = {1};\n"
        "void timed_far(void); void timed_near(void); void timed_given(double *given);\n"
        "void timed_far(void) { far[2] = 1; }\n"
        "void timed_near(void) { near[2] += 1; }\n"
        "void timed_given(double *given) { given[2] = 1; }\n"
    )
    other.write_text("double far[9];\n")
    objects = [compiled(source, "-O1", compiler=compiler) for source in (own, other)]
    found = disassembly.timed_functions(objects)
    sections = {name: body.sections for name, body in found.items()}
    assert sections == {"timed_far": [".bss"], "timed_near": [".data"], "timed_given": []}
    assert disassembly.timed_functions(objects[:1])["timed_far"].sections == []


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_ways_past_the_caches_are_seen(compiler: str) -> None:
    found = disassembly.timed_functions([compiled(CEILINGS, "-O2", compiler=compiler)])
    if not any(name.startswith("timed_copy") for name in found):
        pytest.skip("written for x86-64 only")
    streamed = {name for name, body in found.items() if body.streamed}
    assert streamed == {name for name in found if "_nt_" in name}
    assert any(name.startswith("vmovntp") for name in found["timed_copy_nt_avx512"].streamed)
    repeated = {name: body.repeated for name, body in found.items() if body.repeated}
    assert repeated == {"timed_copy_movsb_x86_64": ["rep movsb"]}
    moves = found["timed_copy_movsb_x86_64"]
    assert (moves.loop_loads, moves.loop_stores) == (1, 1)
    assert found["timed_write_avx"].loop_loads == 0 < found["timed_write_avx"].loop_stores


def test_gcc_outlines_under_the_name_of_the_function() -> None:
    text = """
0000000000000000 <timed_sum._omp_fn.0>:
   0:\tcall   5 <timed_sum._omp_fn.0+0x5>
\t\t\t1: R_X86_64_PLT32\tomp_get_num_threads-0x4
   5:\tvaddpd (%rdi,%rax,8),%zmm0,%zmm0
   c:\tcmp    %rcx,%rax
   f:\tjne    5 <timed_sum._omp_fn.0+0x5>

0000000000000020 <timed_sum>:
  20:\tlea    -0x27(%rip),%rdi        # 0 <timed_sum._omp_fn.0>
  27:\tcall   2c <timed_sum+0xc>
\t\t\t28: R_X86_64_PLT32\tGOMP_parallel-0x4
  2c:\tret
"""
    found = disassembly.parse(text)
    assert list(found) == ["timed_sum"]
    assert found["timed_sum"].calls == ["omp_get_num_threads", "GOMP_parallel"]
    assert (found["timed_sum"].loop_loads, found["timed_sum"].loop_stores) == (1, 0)
    assert disassembly.isa(found) == ["AVX-512"]


@pytest.mark.parametrize(
    "handed_over",
    [
        "  27:\tlea    0x12(%rip),%rdx        # 40 <.omp_outlined..1>",
        "  27:\tmov    $0x0,%edx\n\t\t\t28: R_X86_64_32\t.text+0x40",
        "  27:\tmovabs $0x0,%rdx\n\t\t\t29: R_X86_64_GOTOFF64\t.text+0x40",
    ],
)
def test_clang_outlines_without_a_name(handed_over: str) -> None:
    text = f"""
0000000000000000 <timed_other>:
   0:\tret

0000000000000010 <.omp_outlined.>:
  10:\tmov    (%rdi,%rax,8),%rdx
  14:\tjne    10 <.omp_outlined.+0x0>

0000000000000020 <timed_copy>:
{handed_over}
  2c:\tcall   31 <timed_copy+0x11>
\t\t\t2d: R_X86_64_PLT32\t__kmpc_fork_call-0x4
  31:\tret

0000000000000040 <.omp_outlined..1>:
  40:\tjmp    45 <timed_copy+0x25>
\t\t\t41: R_X86_64_PLT32\tmemcpy-0x4
"""
    found = disassembly.parse(text)
    assert set(found) == {"timed_other", "timed_copy"}
    assert found["timed_other"].calls == []
    assert found["timed_copy"].calls == ["__kmpc_fork_call", "memcpy"]
    assert found["timed_copy"].loop_loads == 0  # that of the other loop is nobody's


def test_an_address_is_a_call_only_where_its_register_is_called() -> None:
    text = """
0000000000000000 <timed_copy>:
   0:\tmovabs $0x0,%rdi
\t\t\t2: R_X86_64_64\tarray
   a:\tmovabs $0x0,%rax
\t\t\tc: R_X86_64_64\tmemcpy
  14:\tjmp    *%rax
"""
    assert disassembly.parse(text)["timed_copy"].calls == ["memcpy"]


@pytest.mark.parametrize("flags", ["-O2", "-O2 -mcmodel=large", "-O2 -mcmodel=large -fno-pic"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_loops_of_the_stream_kernel_are_seen_through_openmp(compiler: str, flags: str) -> None:
    call = compiled(LOOPS, *flags.split(), "-fopenmp", compiler=compiler)
    found = disassembly.timed_functions([call])
    names = [f"timed_{method}" for method in ("copy", "scale", "add", "triad")]
    assert {name for name in found if name.startswith(tuple(names))} == {
        f"{name}_{memory}" for name in names for memory in ("static", "heap")
    }
    runtime = ("GOMP", "omp_", "__kmpc")
    for name in names:
        for memory in ("static", "heap"):
            body = found[f"{name}_{memory}"]
            assert any(call.startswith(runtime) for call in body.calls)
            others = [call for call in body.calls if not call.startswith(runtime)]
            if (name, memory) == ("timed_copy", "static"):
                assert (others, body.loop_loads, body.loop_stores) == (["memcpy"], 0, 0)
            else:
                assert (others, body.loop_loads > 0, body.loop_stores > 0) == ([], True, True)
            assert body.sections == ([".bss"] if memory == "static" else [])
            assert (body.streamed, body.repeated) == ([], [])
