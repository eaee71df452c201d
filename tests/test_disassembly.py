"""Loops that OpenMP outlines are counted where they were written, whichever compiler did it."""

from __future__ import annotations

import pytest

from benchbook import disassembly
from kernels import KERNELS, compiled

LOOPS = KERNELS / "stream" / "loops.c"


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
    assert found["timed_sum"].loop_loads == 1
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
                assert (others, body.loop_loads) == (["memcpy"], 0)
            else:
                assert (others, body.loop_loads > 0) == ([], True)
