"""The capability probes: stand-in programs on PATH, made-up trees, and this machine itself."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from sysfs_trees import CPU_DIR, epyc, firecracker, put

from benchbook.host import capabilities, tools
from benchbook.host.capabilities import known_loop
from benchbook.host.capabilities import place as places
from benchbook.host.capabilities.place import Capability, Place
from benchbook.host.capabilities.probes import (
    clock,
    cuda,
    devices,
    frequency,
    huge_pages,
    likwid,
    mpi,
    namespaces,
    opencl,
    perf,
    pinning,
    rpc,
    valgrind,
)

N = known_loop.INSTRUCTIONS
CONTRACT = {"likwid", "likwid markers", "perf", "perf software", "cachegrind", "valgrind"}
CONTRACT |= {
    "frequency",
    "huge pages",
    "namespaces",
    "clock",
    "pinning",
    "mpi",
    "opencl",
    "cuda",
    "rpc",
}
HYPERVISOR = "the hypervisor shows no counters"
Program = Callable[[str, str], Path]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """A stand-in on a PATH that holds nothing else; `program(name, script)`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("BENCHBOOK_DOOR", raising=False)

    def stand_in(name: str, script: str) -> Path:
        file = folder / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        return file

    return stand_in


@pytest.fixture
def guest(tmp_path: Path) -> Place:
    """A virtual machine of two CPUs without counters."""
    return made(tmp_path, firecracker().write(tmp_path / "guest"))


@pytest.fixture
def metal(tmp_path: Path) -> Place:
    """A machine of its own, with an msr device that can be opened."""
    root = epyc(1, 2, 1).write(tmp_path / "metal")
    put(root, likwid.MSR, "")
    put(root, f"{likwid.SOURCES}/cpu/type", 4)
    return made(tmp_path, root)


def made(tmp_path: Path, root: Path) -> Place:
    folder = tmp_path / "made"
    folder.mkdir(exist_ok=True)
    return Place(root, tmp_path, folder, known_loop.write(folder))


def answers(module: ModuleType, place: Place) -> dict[str, Capability]:
    """By name, after what holds for every answer was checked."""
    found = list(module.look(place))
    assert [ability.name for ability in found] == list(module.NAMES)
    for ability in found:
        assert ability.state in ("ok", "denied", "absent")
        assert (ability.state == "ok") == (not ability.reason)
        assert ability.sentence
        assert ability.reason == ability.reason.strip() and "\n" not in ability.reason
        can_be_pasted(ability.remedy)
    return {ability.name: ability for ability in found}


def can_be_pasted(remedy: str) -> None:
    done = subprocess.run(["/bin/bash", "-n", "-c", remedy], capture_output=True, check=False)
    assert done.returncode == 0, (remedy, done.stderr)
    words = remedy.removeprefix("sudo ").split() or ["echo"]
    assert words[0] in ("apt-get", "sysctl", "modprobe", "chmod", "echo")
    assert not set(remedy) & set("<>()`")


def command(remedy: str) -> str:
    return remedy.replace("sudo ", "")


def counted(counts: dict[str, object]) -> str:
    """A script that prints what perf 6 prints, and ends well."""
    lines = [
        f"""'{json.dumps({"counter-value": str(value), "unit": "", "event": name})}'"""
        for name, value in counts.items()
    ]
    return f"printf '%s\\n' '# started' {' '.join(lines)} >&2"


SOFTWARE = {"task-clock": "1.52", "page-faults": "2.000000"}


@pytest.mark.parametrize(
    ("counts", "state", "reason"),
    [
        ({"instructions:u": N + 3, "cycles:u": N / 2}, "ok", ""),
        (
            {"instructions:u": "<not supported>", "cycles:u": "<not supported>"},
            "absent",
            HYPERVISOR,
        ),
        ({"instructions:u": 0, "cycles:u": 0}, "absent", HYPERVISOR),
        ({"instructions:u": N * 1.2, "cycles:u": N}, "absent", "4,800,005 instructions"),
        ({"instructions:u": N, "cycles:u": 0}, "absent", "and 0 cycles"),
        ({"instructions:u": "nan", "cycles:u": "nan"}, "absent", HYPERVISOR),
        ({"instructions:u": "<not counted>", "cycles:u": "<not counted>"}, "absent", "are taken"),
        # Two kinds of core: the loop ran on one of them, or on both.
        (
            {
                "cpu_core/instructions:u/": N - 1000,
                "cpu_atom/instructions:u/": 1000,
                "cpu_core/cycles:u/": N,
                "cpu_atom/cycles:u/": "<not counted>",
            },
            "ok",
            "",
        ),
    ],
)
def test_counts_of_perf_are_believed_only_if_they_fit(
    program, guest, counts, state, reason
) -> None:
    program("perf", counted(counts | SOFTWARE))
    found = answers(perf, guest)
    assert found["perf"].state == state
    assert reason in found["perf"].reason
    assert found["perf software"].state == "ok"


def test_without_a_hypervisor_it_is_not_blamed(program, metal) -> None:
    program("perf", counted({"instructions:u": "<not supported>"} | SOFTWARE))
    assert "the kernel shows no counters" in answers(perf, metal)["perf"].reason


def test_a_watchdog_that_holds_a_counter_is_named(program, metal) -> None:
    put(metal.machine, perf.WATCHDOG, 1)
    program("perf", counted({"instructions:u": "<not counted>"} | SOFTWARE))
    one = answers(perf, metal)["perf"]
    assert "watchdog" in one.reason
    assert command(one.remedy) == "sysctl kernel.nmi_watchdog=0"


def test_software_events_that_cannot_be_are_refused(program, guest) -> None:
    program("perf", counted({"task-clock": "0.000000", "page-faults": "0"}))
    assert answers(perf, guest)["perf software"].state == "absent"


DENIED = "echo 'Error:\nAccess to performance monitoring is limited.\nNo permission.' >&2; exit 255"


@pytest.mark.parametrize("level", [3, 4])
def test_a_paranoid_kernel_is_told_with_its_value(program, metal, level) -> None:
    put(metal.machine, perf.PARANOID, level)
    program("perf", DENIED)
    for answer in answers(perf, metal).values():
        assert answer.state == "denied"
        assert f"kernel.perf_event_paranoid is {level}" in answer.reason
        assert command(answer.remedy) == "sysctl kernel.perf_event_paranoid=2"


def test_a_refusal_that_no_setting_explains_has_no_remedy(program, metal) -> None:
    put(metal.machine, perf.PARANOID, 2)
    program("perf", DENIED)
    for answer in answers(perf, metal).values():
        assert (answer.state, answer.remedy) == ("denied", "")
        assert "at 2" in answer.reason


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo 'unknown switch j' >&2; exit 129", "ended with status 129: unknown switch j"),
        ("echo '{\"event\": 7}' >&2", "ended with status 0"),
        ("kill -11 $$", "ended by signal 11"),
        ("/bin/sleep 60 & /bin/sleep 60", "no answer within 0.2 s"),
    ],
)
def test_a_perf_that_is_no_help_is_absent(program, guest, monkeypatch, script, reason) -> None:
    monkeypatch.setattr(places, "LIMIT_S", 0.2)
    program("perf", script)
    for answer in answers(perf, guest).values():
        assert answer.state == "absent"
        assert reason in answer.reason


def test_absent_programs_have_the_package_as_remedy(program, guest) -> None:
    """On a PATH that holds nothing."""
    packages = {
        perf: "linux-perf",
        likwid: "likwid",
        valgrind: "valgrind",
        mpi: "libmpich-dev mpich",
        namespaces: "util-linux",
    }
    for module, package in packages.items():
        one = next(iter(answers(module, guest).values()))
        assert one.state == "absent"
        assert one.reason.endswith("is not on PATH")
        assert command(one.remedy) == f"apt-get install {package}"


def test_under_nix_no_debian_package_is_named(program, guest, monkeypatch) -> None:
    monkeypatch.setenv("BENCHBOOK_DOOR", "nix")
    one = answers(perf, guest)["perf"]
    assert one.remedy == ""
    assert one.reason.endswith("add it to the shell of flake.nix")


def test_without_a_known_loop_no_counter_is_believed(program, guest) -> None:
    no_loop = known_loop.write(guest.folder, "vax")
    assert "vax" in no_loop
    for name in ("perf", "likwid-perfctr", "valgrind"):
        program(name, "exit 0")
    for module, name in ((perf, "perf"), (likwid, "likwid"), (valgrind, "cachegrind")):
        assert answers(module, replace(guest, no_loop=no_loop))[name].reason == no_loop


# --- likwid -------------------------------------------------------------------------------------

MODES = "-M <0|1> Set how MSR registers are accessed"


def likwid_that(script: str, help_text: str = MODES) -> str:
    """It notes its arguments in `calls`, beside the known loop."""
    return f'[ "$1" = -h ] && {{ echo "{help_text}"; exit; }}\necho "$*" >> calls\n{script}'


def table(count: object, event: str = "INSTR_RETIRED_ANY") -> str:
    return f"""echo 'TABLE,Group 1 Raw,BRANCH,4,,
Event,Counter,HWThread 0,
{event},FIXC0,{count},
{event} STAT,FIXC0,7,7,7,7'"""


@pytest.mark.parametrize("event", ["INSTR_RETIRED_ANY", "RETIRED_INSTRUCTIONS", "INST_RETIRED"])
def test_likwid_that_counts_is_ok(program, metal, event) -> None:
    program("likwid-perfctr", likwid_that(table(N + 90_000, event)))
    one = answers(likwid, metal)["likwid"]
    assert one.state == "ok"
    assert "-M 0" in one.sentence
    assert one.detail["access_mode"] == 0
    assert (metal.folder / "calls").read_text().startswith("-M 0 -C ")


@pytest.mark.parametrize("count", ["0", "nan", "-", "1.5e+15", "4"])
def test_what_likwid_counts_must_fit(program, metal, count) -> None:
    program("likwid-perfctr", likwid_that(table(count)))
    one = answers(likwid, metal)["likwid"]
    assert one.state == "absent"
    assert f"counts {count} instructions" in one.reason


def test_where_nothing_can_be_counted_likwid_is_not_started(program, guest) -> None:
    put(guest.machine, f"{likwid.SOURCES}/software/type", 1)
    program("likwid-perfctr", likwid_that("exit 0"))
    one = answers(likwid, guest)["likwid"]
    assert (one.state, one.remedy) == ("absent", "")
    assert one.reason.startswith(HYPERVISOR)
    assert not (guest.folder / "calls").exists()


NO_MSR = "echo 'Cannot access MSR device file' >&2; exit 1"


@pytest.fixture
def x86(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "uname", lambda: type("uname", (), {"machine": "x86_64"}))


@pytest.mark.usefixtures("x86")
def test_a_missing_msr_module_is_named(program, metal) -> None:
    (metal.machine / likwid.MSR).unlink()
    program("likwid-perfctr", likwid_that(NO_MSR))
    one = answers(likwid, metal)["likwid"]
    assert one.state == "absent"
    assert f"no /{likwid.MSR}" in one.reason
    assert command(one.remedy) == "modprobe msr"


def closed(place: Place) -> None:
    """A folder cannot be opened for writing, by root neither."""
    (place.machine / likwid.MSR).unlink()
    (place.machine / likwid.MSR).mkdir()


@pytest.mark.usefixtures("x86")
def test_an_msr_that_may_not_be_opened_is_denied(program, metal) -> None:
    closed(metal)
    program("likwid-perfctr", likwid_that(NO_MSR))
    one = answers(likwid, metal)["likwid"]
    assert (one.state, one.remedy) == ("denied", "")
    put(metal.machine, likwid.DAEMONS[0], "")
    one = answers(likwid, metal)["likwid"]
    assert one.state == "denied"
    assert command(one.remedy) == "chmod u+s /usr/sbin/likwid-accessD"


def test_the_daemon_is_asked_only_where_it_has_rights(program, metal) -> None:
    closed(metal)
    put(metal.machine, likwid.DAEMONS[0], "")
    program("likwid-perfctr", likwid_that(table(N)))
    assert likwid.access(metal) == ("-M", "0")
    (metal.machine / likwid.DAEMONS[0]).chmod(0o4755)
    assert likwid.access(metal) == ("-M", "1")
    assert "-M 1" in answers(likwid, metal)["likwid"].sentence


def test_likwid_on_perf_event_takes_no_mode_and_obeys_its_level(program, metal) -> None:
    program("likwid-perfctr", likwid_that(table(N), "perf_event specific options:"))
    assert answers(likwid, metal)["likwid"].detail["access_mode"] is None
    assert "-M" not in (metal.folder / "calls").read_text()
    put(metal.machine, perf.PARANOID, 4)
    refusal = "echo 'Cannot use performance monitoring with perf_event_paranoid = 4'; exit 1"
    program("likwid-perfctr", likwid_that(refusal, "perf_event specific options:"))
    one = answers(likwid, metal)["likwid"]
    assert one.state == "denied"
    assert command(one.remedy) == "sysctl kernel.perf_event_paranoid=2"


def test_a_daemon_that_does_not_answer_is_not_waited_for(program, metal, monkeypatch) -> None:
    monkeypatch.setattr(places, "LIMIT_S", 0.2)
    program("likwid-perfctr", likwid_that("/bin/sleep 60 & /bin/sleep 60"))
    one = answers(likwid, metal)["likwid"]
    assert one.state == "absent"
    assert "gave no answer within 0.2 s" in one.reason


def test_a_compiler_that_makes_nothing_gives_no_markers(program, guest) -> None:
    program("gcc", "exit 0")
    one = answers(likwid, guest)["likwid markers"]
    assert one.state == "absent"
    assert "liblikwid" in one.reason
    assert command(one.remedy) == "apt-get install likwid"


@pytest.mark.parametrize(
    ("script", "state", "reason"),
    [
        (f"summary: {N} 2 2", "ok", ""),
        ("summary: 0 0 0", "absent", "counts 0 instructions"),
        (f"summary: {N + 1} 2 2", "absent", "4,000,005"),
        ("events: Ir", "absent", "ended with status 0"),
    ],
)
def test_cachegrind_must_count_to_the_last_instruction(
    program, guest, script, state, reason
) -> None:
    answer = (
        f'case "$1" in --version) echo valgrind-9 ;; *) echo "{script}" > cachegrind.out ;; esac'
    )
    program("valgrind", answer)
    found = answers(valgrind, guest)
    assert (found["cachegrind"].state, found["valgrind"].sentence) == (state, "valgrind-9")
    assert reason in found["cachegrind"].reason


def test_frequency(guest, metal) -> None:
    assert "hypervisor" in answers(frequency, guest)["frequency"].reason
    one = answers(frequency, metal)["frequency"]
    assert command(one.remedy) == "modprobe acpi-cpufreq"
    for cpu, khz in ((0, 2_400_000), (1, 3_100_000)):
        put(metal.machine, f"{CPU_DIR}/cpu{cpu}/cpufreq/scaling_cur_freq", khz)
    assert answers(frequency, metal)["frequency"].sentence == "now 2.40 to 3.10 GHz"
    put(metal.machine, f"{CPU_DIR}/cpu1/cpufreq/scaling_cur_freq", "<unknown>")
    one = answers(frequency, metal)["frequency"]
    assert (one.state, one.remedy) == ("denied", "")
    assert "cpu1" in one.reason


def test_huge_pages(guest) -> None:
    root, name = guest.machine, "huge pages"
    thp = root / "sys/kernel/mm/transparent_hugepage/enabled"
    put(root, str(thp.relative_to(root)), "always madvise [never]")
    one = answers(huge_pages, guest)[name]
    assert one.state == "denied"
    assert command(one.remedy) == "echo madvise | tee /sys/kernel/mm/transparent_hugepage/enabled"
    thp.unlink()
    one = answers(huge_pages, guest)[name]
    assert (one.state, command(one.remedy)) == ("absent", "sysctl vm.nr_hugepages=64")
    put(root, "sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages", 0)
    put(root, "sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", 16)
    one = answers(huge_pages, guest)[name]
    assert one.sentence.endswith(
        "0 came as huge pages (transparent ones: none); reserved: 16 free of 2 MiB"
    )


def test_huge_pages_that_were_asked_for_and_did_not_come(guest, monkeypatch) -> None:
    monkeypatch.setattr(huge_pages, "_ASK", "print(0)")
    one = answers(huge_pages, guest)["huge pages"]
    assert (one.state, command(one.remedy)) == ("absent", "sysctl vm.compact_memory=1")
    monkeypatch.setattr(huge_pages, "_ASK", "raise SystemExit('no such file')")
    assert answers(huge_pages, guest)["huge pages"].reason.endswith("status 1: no such file")


OURS = str(Path("/proc/self/ns/net").readlink())


@pytest.mark.parametrize(
    ("file", "value", "setting"),
    [
        ("kernel/unprivileged_userns_clone", 0, "kernel.unprivileged_userns_clone=1"),
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            1,
            "kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        ("user/max_user_namespaces", 0, "user.max_user_namespaces=15000"),
    ],
)
def test_what_forbids_namespaces_is_named(program, guest, file, value, setting) -> None:
    program("unshare", "echo 'unshare: unshare failed: Operation not permitted' >&2; exit 1")
    one = answers(namespaces, guest)["namespaces"]
    assert (one.state, one.remedy) == ("denied", "")
    assert "Operation not permitted" in one.reason
    put(guest.machine, f"proc/sys/{file}", value)
    one = answers(namespaces, guest)["namespaces"]
    assert (one.state, command(one.remedy)) == ("denied", f"sysctl {setting}")
    assert one.reason.endswith(f"{file.replace('/', '.')} is {value}")
    assert ("AppArmor lets only root" in one.reason) == ("apparmor" in file)


@pytest.mark.parametrize("said", [OURS, "", "net:"])
def test_a_namespace_must_be_another_one(program, guest, said) -> None:
    program("unshare", f"echo '{said}'")
    assert answers(namespaces, guest)["namespaces"].state == "absent"
    program("unshare", "echo 'net:[1]'")
    assert answers(namespaces, guest)["namespaces"].state == "ok"


def test_rpc_is_tried_with_a_call_of_its_own(guest) -> None:
    """The real programs, where this host has them."""
    found = answers(rpc, guest)["rpc"]
    if found.state == "ok":
        assert found.sentence.startswith("rpcgen; ")
    else:
        assert "rpcgen" in found.reason or "tirpc" in found.reason


@pytest.mark.parametrize(
    ("rpcgen", "reason"),
    [
        ("exit 1", "rpcgen -h ended with status 1"),
        ("echo 'cannot find cpp' >&2; exit 1", "rpcgen -h ended with status 1: cannot find cpp"),
    ],
)
def test_an_rpcgen_that_makes_nothing_is_no_rpc(program, guest, rpcgen, reason) -> None:
    folder = guest.folder
    (folder / "tirpc/rpc").mkdir(parents=True)
    (folder / "tirpc/rpc/rpc.h").touch()
    program("gcc", f"echo '#include <...> search starts here:' >&2; echo ' {folder}' >&2")
    assert answers(rpc, guest)["rpc"].reason == "rpcgen is not on PATH"
    program("rpcgen", rpcgen)
    assert answers(rpc, guest)["rpc"].reason == reason


def test_without_its_library_there_is_no_rpc(program, guest) -> None:
    program("rpcgen", "exit 0")
    program("gcc", "exit 0")
    found = answers(rpc, guest)["rpc"]
    assert "tirpc/rpc/rpc.h is in none of the compiler's folders" in found.reason
    assert command(found.remedy) == "apt-get install libtirpc-dev"


@pytest.mark.parametrize(
    ("script", "state"),
    [
        ("echo here; echo here", "ok"),
        ("echo here", "absent"),
        ("echo 'mpiexec: permission denied for root'; exit 1", "denied"),
    ],
)
def test_mpi_starts_as_many_as_it_is_told(program, guest, script, state) -> None:
    program("mpicc", "exit 0")
    assert answers(mpi, guest)["mpi"].reason == "mpiexec.mpich is not on PATH"
    program("mpiexec", script)
    assert answers(mpi, guest)["mpi"].state == state
    program("mpiexec.mpich", "echo here; echo here")
    assert answers(mpi, guest)["mpi"].state == "ok"


LOADER = """
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int clGetPlatformIDs(unsigned room, void **ids, unsigned *number) {
    if (WHAT == 1) abort();
    if (WHAT == 2) pause();
    if (WHAT == 3) return -1001;
    if (WHAT == 4) return -6;
    if (number) *number = 1;
    if (room) ids[0] = &clGetPlatformIDs;
    return 0;
}
int clGetPlatformInfo(void *id, unsigned what, unsigned long room, char *text, void *size) {
    if (id == &clGetPlatformIDs && what == 0x0902) strncpy(text, "Made up", room);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        (0, ""),
        (1, "was ended by signal 6"),
        (2, "gave no answer"),
        (3, "no platform"),
        (4, "error -6"),
    ],
)
def test_a_broken_driver_of_opencl_hurts_nobody(guest, monkeypatch, tmp_path, what, reason) -> None:
    monkeypatch.setattr(places, "LIMIT_S", 0.5 if what == 2 else 10)
    command = ["gcc", "-w", "-shared", "-fPIC", f"-DWHAT={what}", "-x", "c", "-"]
    library = tmp_path / "libOpenCL.so.1"
    subprocess.run([*command, "-o", str(library)], input=LOADER, text=True, check=True)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    one = answers(opencl, guest)["opencl"]
    assert reason in one.reason
    assert (one.sentence == "1 platform: Made up") == (what == 0)


def test_without_a_loader_of_opencl_its_package_is_named(program, guest, monkeypatch) -> None:
    monkeypatch.setattr(opencl, "_LIBRARY", "libNoSuchThing.so")
    one = answers(opencl, guest)["opencl"]
    assert "no OpenCL loader" in one.reason
    assert command(one.remedy) == "apt-get install ocl-icd-libopencl1"


FAKES = Path(__file__).with_name("fake_devices.c")


def fake(folder: Path, library: str, define: str) -> None:
    command = ["gcc", "-w", "-shared", "-fPIC", define, str(FAKES), "-o", str(folder / library)]
    subprocess.run(command, check=True)


@pytest.mark.parametrize(
    ("module", "library", "name"),
    [
        (opencl, "libOpenCL.so.1", "Fake Accelerator"),
        (cuda, "libcuda.so.1", "Fake GPU"),
    ],
)
def test_devices_are_listed_as_the_kernel_counts_them(
    guest, monkeypatch, tmp_path, module, library, name
) -> None:
    fake(tmp_path, library, "-DFAKE_OPENCL" if module is opencl else "-DFAKE_CUDA")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    monkeypatch.setenv("FAKE_DEVICES", "2")
    (one,) = answers(module, guest).values()
    assert one.state == "ok"
    assert one.sentence.endswith(f"device 0: {name} 0; device 1: {name} 1")
    drivers = {one.detail["devices"][0]["driver"]}
    monkeypatch.setenv("FAKE_HOST", "1")
    monkeypatch.setenv("FAKE_DRIVER", "2")
    (one,) = answers(module, guest).values()
    drivers.add(one.detail["devices"][0]["driver"])
    assert drivers in ({"1", "2"}, {"1.0", "2.0"})
    assert one.sentence.endswith(f"device 1: {name} 1 (host memory)")
    monkeypatch.setenv("FAKE_DEVICES", "0")
    (one,) = answers(module, guest).values()
    assert "device" not in one.sentence or "finds no device" in one.reason


def test_without_a_driver_of_cuda_it_is_absent(guest, monkeypatch) -> None:
    monkeypatch.setattr(cuda, "_LIBRARY", "libNoSuchThing.so")
    one = answers(cuda, guest)["cuda"]
    assert one.reason == "there is no driver library of CUDA (libNoSuchThing.so)"


def test_devices(guest) -> None:
    assert answers(devices, guest)["devices"].reason == "no PCI bus is shown here"
    bus = "sys/bus/pci/devices"
    put(guest.machine, f"{bus}/0000:00:01.0/class", "0x020000")
    assert "no graphics card" in answers(devices, guest)["devices"].reason
    for file, text in (("class", "0x030200"), ("vendor", "0x10de"), ("device", "0x2335")):
        put(guest.machine, f"{bus}/0000:41:00.0/{file}", text)
    said = "0000:41:00.0 (0x10de:0x2335), "
    assert answers(devices, guest)["devices"].sentence == f"{said}its link is unknown"
    put(guest.machine, f"{bus}/0000:41:00.0/current_link_speed", "32.0 GT/s PCIe")
    put(guest.machine, f"{bus}/0000:41:00.0/current_link_width", 16)
    assert answers(devices, guest)["devices"].sentence == f"{said}link 32.0 GT/s PCIe x16"


def test_a_device_below_a_slower_bridge(guest) -> None:
    root = "sys/devices/pci0000:40"
    device = f"{root}/0000:40:01.1/0000:41:00.0"
    links = {device: ("16.0 GT/s PCIe", 16), str(Path(device).parent): ("8.0 GT/s PCIe", 4)}
    for folder, (speed, width) in links.items():
        put(guest.machine, f"{folder}/current_link_speed", speed)
        put(guest.machine, f"{folder}/current_link_width", width)
    for file, text in (("class", "0x030200"), ("vendor", "0x10de"), ("device", "0x2335")):
        put(guest.machine, f"{device}/{file}", text)
    every = guest.machine / "sys/bus/pci/devices"
    every.mkdir(parents=True)
    (every / "0000:41:00.0").symlink_to(guest.machine / device)
    said = answers(devices, guest)["devices"].sentence
    assert said.endswith("link 16.0 GT/s PCIe x16, below 8 GT/s x4 at 0000:40:01.1")
    put(guest.machine, f"{root}/0000:40:01.1/current_link_speed", "Unknown")
    assert answers(devices, guest)["devices"].sentence.endswith("link 16.0 GT/s PCIe x16")


def test_pinning_that_is_refused_or_ignored(guest, monkeypatch) -> None:
    before = os.sched_getaffinity(0)

    def refuse(_: int, cpus: list[int]) -> None:
        if len(cpus) < len(before) or len(before) == 1:
            raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "sched_getaffinity", lambda _: before | {4095})
    monkeypatch.setattr(os, "sched_setaffinity", lambda *_: None)
    one = answers(pinning, guest)["pinning"]
    assert one.state == "absent"
    assert "runs elsewhere" in one.reason
    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    assert answers(pinning, guest)["pinning"].state == "denied"


def test_a_slow_clock_is_told_with_the_faster_one(program, guest, monkeypatch) -> None:
    source = "sys/devices/system/clocksource/clocksource0/current_clocksource"
    put(guest.machine, source, "kvm-clock")
    assert "from Python (clock source kvm-clock)" in answers(clock, guest)["clock"].sentence
    monkeypatch.setattr(clock, "_harness", lambda _: (1.0, 900.0))
    one = answers(clock, guest)["clock"]
    assert (one.state, command(one.remedy)) == ("ok", f"echo tsc | tee /{source}")
    monkeypatch.setattr(clock, "_moves", lambda: False)
    assert answers(clock, guest)["clock"].state == "absent"


@pytest.fixture
def kept(program: Program, guest: Place) -> Callable[[], int]:
    """How often a look was taken so far, after one that may be answered from what is kept."""
    (guest.checkout / "build").mkdir()
    noted = guest.checkout / "noted"
    program("perf", f"echo one >> {noted}")
    put(guest.machine, "proc/sys/kernel/random/boot_id", "a")

    def looks() -> int:
        found = capabilities.all_capabilities(guest.checkout, guest.machine)
        assert {ability.name for ability in found} >= CONTRACT
        return len(noted.read_text().splitlines())

    return looks


def test_answers_are_kept_until_something_is_another(kept, program, guest, monkeypatch) -> None:
    file = guest.checkout / capabilities.CACHE
    assert kept() == kept() == 1
    assert not list(file.parent.glob("capabilities-*"))

    program("perf", (Path(os.environ["PATH"]) / "perf").read_text() + "# newer")
    assert kept() == kept() == 2
    put(guest.machine, perf.PARANOID, 1)
    assert kept() == kept() == 3
    put(guest.machine, "proc/sys/kernel/random/boot_id", "b")
    assert kept() == kept() == 4
    put(guest.machine, likwid.MSR, "")
    assert kept() == kept() == 5
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    assert kept() == kept() == 6
    for text in ("{", "[]", '{"version": 9}', '{"version": 1, "key": {}}'):
        file.write_text(text)
    content = json.loads(file.read_text())
    assert kept() == kept() == 7
    content = json.loads(file.read_text())
    file.write_text(json.dumps(content | {"items": [{"name": "perf", "colour": "blue"}]}))
    assert kept() == kept() == 8
    capabilities.all_capabilities(guest.checkout, guest.machine, fresh=True)
    assert kept() == 9


@pytest.mark.parametrize("name", ["OCL_ICD_VENDORS", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"])
def test_answers_are_of_the_variables_that_lead_to_devices(
    kept, monkeypatch, tmp_path, name
) -> None:
    folder = tmp_path / "drivers"
    folder.mkdir()
    monkeypatch.delenv(name, raising=False)
    assert kept() == kept() == 1
    monkeypatch.setenv(name, f"{folder}:{tmp_path / 'nowhere'}")
    assert kept() == kept() == 2
    (folder / "other.icd").write_text("libother.so")
    assert kept() == kept() == 3
    monkeypatch.delenv(name)
    assert kept() == kept() == 4


def test_outside_of_a_checkout_nothing_is_left(program, guest, tmp_path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    assert capabilities.all_capabilities(folder, guest.machine)
    assert not list(folder.iterdir())


def test_one_by_its_name(kept, guest) -> None:
    place = (guest.checkout, guest.machine)
    assert capabilities.capability("valgrind", *place).state == "absent"
    with pytest.raises(LookupError, match="'valgrimd'"):
        capabilities.capability("valgrimd", *place)
    row = next(row for row in capabilities.table(*place) if row["name"] == "valgrind")
    assert row | {"remedy": ""} == {
        "name": "valgrind",
        "state": "absent",
        "said": "valgrind is not on PATH",
        "remedy": "",
    }


def test_a_probe_that_fails_is_one_answer_less(program, guest, monkeypatch) -> None:
    def fail(_: Place) -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(devices, "look", fail)
    found = capabilities.all_capabilities(guest.checkout, guest.machine, fresh=True)
    reasons = {ability.name: ability.reason for ability in found}
    assert reasons["devices"] == "its probe failed: Too many open files"
    assert len(reasons) == len(found) == len(CONTRACT) + 1


def test_this_machine_item_by_item(tmp_path) -> None:
    """Each answer beside what another way of asking says."""
    found = {
        capability.name: capability
        for capability in capabilities.all_capabilities(tmp_path, fresh=True)
    }
    for module in (perf, likwid, valgrind, mpi, namespaces, opencl, huge_pages, frequency):
        for name in module.NAMES:
            can_be_pasted(found[name].remedy)
    for name, file in (("likwid", "likwid-perfctr"), ("perf", "perf"), ("valgrind", "valgrind")):
        lacking = re.fullmatch(f"{file} is not on PATH.*", found[name].reason) is not None
        assert lacking == (shutil.which(file) is None)

    sources = Path("/sys/bus/event_source/devices")
    cpu = any(entry.name.startswith(("cpu", "armv")) for entry in sources.glob("*"))
    if shutil.which("perf"):
        assert found["perf"].state != "ok" or cpu
        assert cpu or found["perf"].state in ("absent", "denied")
        assert found["perf software"].state in ("ok", "denied")
    if shutil.which("valgrind"):
        assert found["cachegrind"].sentence.count("4,000,004") == 2
    assert found["clock"].state == found["pinning"].state == "ok"
    frequency_file = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq")
    assert (found["frequency"].state == "absent") == (not frequency_file.exists())
    if not (shutil.which("mpicc") or shutil.which("mpicc.mpich")):
        assert found["mpi"].state == "absent"


def test_the_known_loop_runs(tmp_path) -> None:
    if known_loop.write(tmp_path):
        pytest.skip("no loop for this architecture")
    assert subprocess.run([str(tmp_path / known_loop.NAME)], check=False).returncode == 0
    assert known_loop.fits(N) and not known_loop.fits(N * 0.98) and not known_loop.fits(N * 1.02)


def test_every_program_that_is_asked_for_has_a_package() -> None:
    listed = {name for tool in tools.table() for name in tool.programs}
    asked = {name for module in capabilities._modules() for name in module.PROGRAMS}
    assert asked <= listed
    assert {name for module in capabilities._modules() for name in module.NAMES} >= CONTRACT
