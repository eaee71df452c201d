"""The hostdev kernel: every transfer is compared, and what goes wrong ends it with one sentence.

The libraries that lead to devices are stand-ins (tests/fake_devices.c), so that CUDA's way is
tested where there is no such device; PoCL is used where it is installed.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import kernels
from kernels import KERNELS, lines

SOURCES = sorted((KERNELS / "hostdev").glob("*.c"))
FAKE = Path(__file__).with_name("fake_devices.c")
BACKENDS = ["opencl", "cuda"]
MEMORIES = ["pageable", "pinned"]
LIBRARIES = {"opencl": "libOpenCL.so.1", "cuda": "libcuda.so.1"}
SUPPRESSIONS = FAKE.with_name("opencl.tsan")
SUPPRESSIONS_OF_LEAKS = FAKE.with_name("opencl.lsan")
SANITIZERS = ["address,undefined", "thread"]
WORDS = 1 << 13
ENOUGH = 8 * WORDS


def build(folder: Path, compiler: str = "gcc", *flags: str) -> Path:
    every = flags or ("-O2",)
    target = folder / f"hostdev-{compiler}"
    return kernels.build(target, *SOURCES, flags=every, common=every, compiler=compiler)


@pytest.fixture(scope="module")
def hostdev(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("hostdev"))


@pytest.fixture(scope="module")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both libraries."""
    folder = tmp_path_factory.mktemp("fakes")
    for backend, library in LIBRARIES.items():
        define = "-DFAKE_OPENCL" if backend == "opencl" else "-DFAKE_CUDA"
        command = ["gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", define]
        subprocess.run([*command, str(FAKE), "-o", str(folder / library)], check=True)
    return folder


def point(
    method: str, threads: int, submission: str = "blocking", data: str = "random", **more: Any
) -> str:
    given = {"method": method, "transfer_threads": threads, "submission": submission, "data": data}
    given |= {"bytes": ENOUGH, "samples": 3, "warmup": 1, "loops": 1, **more}
    return "--point=" + ",".join(f"{key}={value}" for key, value in given.items())


def start(
    program: Path,
    libraries: Path | None,
    *points: str,
    backend: str = "opencl",
    memory: str = "pageable",
    options: tuple[str, ...] = (),
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], **environment}
    if libraries is not None:
        env["LD_LIBRARY_PATH"] = str(libraries)
    words = [str(program), f"--backend={backend}", f"--memory={memory}", "--seed=7", *options]
    return subprocess.run(
        [*words, *points],
        capture_output=True,
        text=True,
        timeout=kernels.LIMIT_S,
        check=False,
        env=env,
    )


def observed(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr + done.stdout
    return [line["observations"] for line in lines(done.stdout) if line["kind"] == "point"]


EVERY = [
    point("to-device", 1),
    point("from-device", 1),
    point("both", 2),
    point("to-device", 4, "queued"),
    point("from-device", 16, data="zeros"),
    point("both", 64, data="zeros"),
    point("both", 8, "queued"),
    point("to-device", 0),
    point("from-device", 0, "queued"),
    point("both", 0, "queued"),
    point("to-device", 1, bytes=8),
    point("from-device", 0, bytes=8, data="zeros", warmup=0),
]


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_all_that_was_moved_arrived(hostdev: Path, fakes: Path, backend: str, memory: str) -> None:
    seen = observed(start(hostdev, fakes, *EVERY, backend=backend, memory=memory, FAKE_PCI="1"))
    assert len(seen) == len(EVERY)
    for values in seen:
        assert values["work_done_fraction"] == values["orders_done_fraction"] == 1
        assert values["device_is_host_memory"] == 0
        assert values["host_memory_is_pinned"] == (memory == "pinned")
        assert values["through_cuda"] == (backend == "cuda")
        assert values["device_name"].startswith("Fake")
        assert values["device_time_ns"] >= 0
    ways = [(values["bytes_to_device"], values["bytes_from_device"]) for values in seen]
    assert ways[:3] == [(ENOUGH, 0), (0, ENOUGH), (ENOUGH, ENOUGH)]
    orders = [values["orders_of_each_part"] for values in seen]
    assert orders == [1, 1, 1, 8, 1, 1, 8, 1, 8, 8, 1, 1]


@pytest.mark.parametrize("backend", BACKENDS)
def test_both_ways_declare_the_bytes_of_both(hostdev: Path, fakes: Path, backend: str) -> None:
    done = start(hostdev, fakes, point("to-device", 2), point("both", 2), backend=backend)
    assert [line["bytes_declared"] for line in kernels.points(done.stdout)] == [ENOUGH, 2 * ENOUGH]


# Calls that move data in a point of one thread and 5 transfers: 1 touches the device; then each
# transfer has its own, and one that reads back or fills; zeros that go to the device have a third,
# which puts something else there before.
COMPARED = {
    ("to-device", "random", "FAKE_CORRUPT"): range(2, 12),
    ("to-device", "random", "FAKE_LOSE"): range(2, 12),
    ("from-device", "random", "FAKE_CORRUPT"): range(2, 12),
    ("from-device", "random", "FAKE_LOSE"): range(2, 12),
    ("to-device", "zeros", "FAKE_CORRUPT"): [3, 4, 6, 7, 9, 10, 12, 13, 15, 16],
    ("to-device", "zeros", "FAKE_LOSE"): [3, 4, 6, 7, 9, 10, 12, 13, 15, 16],
    ("from-device", "zeros", "FAKE_CORRUPT"): range(2, 12),
    # Zeros that do not reach a device full of zeros are missed by nobody.
    ("from-device", "zeros", "FAKE_LOSE"): [3, 5, 7, 9, 11],
}


@pytest.mark.parametrize(("method", "data", "wrong"), COMPARED)
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_wrong_byte_is_found_wherever_it_falls(
    hostdev: Path, fakes: Path, backend: str, method: str, data: str, wrong: str
) -> None:
    found = []
    for number in range(1, 18):
        given = {wrong: str(number)}
        done = start(hostdev, fakes, point(method, 1, data=data), backend=backend, **given)
        (line,) = kernels.points(done.stdout)
        assert done.returncode == (line["status"] != "ok")
        if line["status"] != "ok":
            assert "that were moved are wrong" in line["reason"]
            assert line["observations"]["work_done_fraction"] < 1
            found.append(number)
    assert found == list(COMPARED[method, data, wrong])


FAILURES = {
    "opencl": {
        "-2": "the device is gone",
        "-4": "the device has no memory",
        "-6": "the host has no memory",
        "-36": "read the kernel's log",
    },
    "cuda": {"2": "has no memory", "46": "the device is gone or taken", "719": "the kernel's log"},
}


@pytest.mark.parametrize(
    ("backend", "code"), [(backend, code) for backend in FAILURES for code in FAILURES[backend]]
)
@pytest.mark.parametrize("threads", [0, 2, 8])
def test_a_transfer_that_fails_ends_all_with_one_sentence(
    hostdev: Path, fakes: Path, backend: str, code: str, threads: int
) -> None:
    for number in (9, 40):  # after the first of each part
        done = start(
            hostdev,
            fakes,
            point("both", threads, "queued"),
            backend=backend,
            FAKE_FAIL=str(number),
            FAKE_CODE=code,
        )
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert f"says {code}; " in done.stderr
        assert FAILURES[backend][code] in done.stderr


@pytest.mark.parametrize("backend", BACKENDS)
def test_pinned_memory_that_is_not_to_be_had(hostdev: Path, fakes: Path, backend: str) -> None:
    done = start(
        hostdev,
        fakes,
        point("to-device", 1),
        backend=backend,
        memory="pinned",
        FAKE_NO_HOST_MEMORY="1",
    )
    assert done.returncode == 1
    assert done.stderr.startswith("pinning host memory failed")
    assert done.stderr.count("\n") == 1
    assert "ask for fewer bytes" in done.stderr


@pytest.mark.parametrize("ahead", [1, -1])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_point_too_large_to_be_pinned_fails_alone(
    hostdev: Path, fakes: Path, backend: str, ahead: int
) -> None:
    sizes = [
        (point("to-device", 1), True),
        (point("to-device", 2, bytes=8 * ENOUGH), False),
        (point("from-device", 1, bytes=2 * ENOUGH), True),
        (point("both", 2, bytes=4 * ENOUGH), False),
        (point("from-device", 0, bytes=8 * ENOUGH), False),
        (point("both", 2, bytes=2 * ENOUGH), True),
    ][::ahead]
    done = start(
        hostdev,
        fakes,
        *(words for words, _ in sizes),
        backend=backend,
        memory="pinned",
        FAKE_PINNABLE=str(2 * ENOUGH),
    )
    assert (done.returncode, done.stderr) == (1, "")
    seen = kernels.points(done.stdout)
    assert [line["status"] == "ok" for line in seen] == [fits for _, fits in sizes]
    for line in seen:
        if line["status"] == "ok":
            assert line["observations"]["work_done_fraction"] == 1
        else:
            assert line["reason"].startswith("pinning host memory failed on Fake")
            assert line["reason"].endswith("ask for fewer bytes")


ROOM = 1 << 20
# Of a device with so much room; the last one fits only where nothing is left of those before it.
SIZES = [
    (point("to-device", 1), True),
    (point("both", 2, bytes=2 * ROOM), False),
    (point("from-device", 4, bytes=ROOM // 2), True),
    (point("to-device", 1, bytes=2 * ROOM), False),
    (point("from-device", 0), True),
    (point("both", 2, bytes=ROOM // 2), True),
    (point("to-device", 1, bytes=ROOM), True),
]


@pytest.mark.parametrize("ahead", [1, -1])
@pytest.mark.parametrize(("backend", "late"), [("opencl", "0"), ("opencl", "1"), ("cuda", "0")])
def test_a_point_without_room_on_the_device_fails_alone(
    hostdev: Path, fakes: Path, backend: str, late: str, ahead: int
) -> None:
    sizes = SIZES[::ahead]
    done = start(
        hostdev,
        fakes,
        *(words for words, _ in sizes),
        backend=backend,
        FAKE_DEVICE_MEMORY=str(ROOM),
        FAKE_LATE=late,
    )
    assert (done.returncode, done.stderr) == (1, "")
    seen = kernels.points(done.stdout)
    assert [line["status"] == "ok" for line in seen] == [fits for _, fits in sizes]
    for line in seen:
        if line["status"] == "ok":
            assert line["observations"]["work_done_fraction"] == 1
        else:
            assert line["reason"].startswith("taking memory of the device failed on Fake")
            assert line["reason"].endswith("ask for fewer bytes")


def test_a_device_that_fails_at_first_is_not_taken_for_a_small_one(
    hostdev: Path, fakes: Path
) -> None:
    done = start(hostdev, fakes, point("to-device", 1), FAKE_FAIL="1", FAKE_CODE="-36")
    assert (done.returncode, kernels.points(done.stdout)) == (1, [])
    assert "clEnqueueWriteBuffer says -36; read the kernel's log" in done.stderr


def test_ordinary_memory_that_is_not_to_be_had(hostdev: Path, fakes: Path) -> None:
    done = start(hostdev, fakes, point("to-device", 1, bytes=1 << 62))
    assert done.returncode == 1
    assert done.stderr == (
        f"the host has no memory for {1 << 62} bytes (Cannot allocate memory); ask for fewer\n"
    )


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", ["to-device", "from-device", "both"])
def test_what_nobody_waited_for_is_told(
    hostdev: Path, fakes: Path, backend: str, method: str
) -> None:
    threads = 0 if method == "to-device" else 2
    (values,) = observed(start(hostdev, fakes, point(method, threads, "unwaited"), backend=backend))
    assert values["orders_done_fraction"] == 0
    assert values["work_done_fraction"] == 1  # it was waited for before anybody looked


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_library_that_is_none(hostdev: Path, tmp_path: Path, backend: str) -> None:
    (tmp_path / LIBRARIES[backend]).write_text("no library")
    done = start(hostdev, tmp_path, point("to-device", 1), backend=backend)
    assert done.returncode == 77
    reason = lines(done.stdout)[-1]["reason"]
    assert reason.startswith(f"there is no {LIBRARIES[backend]} here that is one (")


def test_a_library_that_is_absent(hostdev: Path, tmp_path: Path) -> None:
    done = start(hostdev, tmp_path, point("to-device", 1), backend="cuda")
    if done.returncode == 0 or "finds no device" in done.stdout:
        pytest.skip("this machine has the driver")
    assert done.returncode == 77
    assert done.stderr == (
        "there is no libcuda.so.1 here; install the driver of an NVIDIA device\n"
    )


def test_a_library_of_another_kind(hostdev: Path, fakes: Path, tmp_path: Path) -> None:
    (tmp_path / "libcuda.so.1").symlink_to(fakes / "libOpenCL.so.1")
    done = start(hostdev, tmp_path, point("to-device", 1), backend="cuda")
    assert done.returncode == 77
    assert "libcuda.so.1 has no function cuInit" in done.stderr


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_device(hostdev: Path, fakes: Path, backend: str) -> None:
    done = start(hostdev, fakes, point("to-device", 1), backend=backend, FAKE_DEVICES="0")
    assert done.returncode == 77
    assert "finds no device" in lines(done.stdout)[-1]["reason"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_device_is_chosen_by_number_or_name(hostdev: Path, fakes: Path, backend: str) -> None:
    def chosen(*options: str) -> str:
        done = start(
            hostdev,
            fakes,
            point("to-device", 1),
            backend=backend,
            options=options,
            FAKE_DEVICES="3",
        )
        if done.returncode == 77:
            return lines(done.stdout)[-1]["reason"]
        return observed(done)[0]["device_name"]

    assert chosen().endswith(" 0")
    assert chosen("--device=2").endswith(" 2")
    assert chosen("--device=r 1" if backend == "opencl" else "--device=gpu 1").endswith(" 1")
    other = "cuda" if backend == "opencl" else "opencl"
    assert chosen("--device=9", f"--{backend}-device=1").endswith(" 1")
    assert chosen("--device=2", f"--{other}-device=9").endswith(" 2")
    for wrong in ("3", "radeon", "99999999999999999999"):
        said = chosen(f"--device={wrong}")
        assert f"has no device '{wrong}'; there is 0 (Fake" in said
        assert said.endswith("; give one of these")


# Of the made-up device, and of a bridge above it that has fewer lanes.
FAST, NARROW = ("16.0 GT/s PCIe", "16"), ("8.0 GT/s PCIe", "4")
DEVICE, BRIDGE = "0000:41:00.0", "0000:40:01.1"


def tree(
    folder: Path, *chain: tuple[str, tuple[str, str], tuple[str, str]], named: str = DEVICE
) -> Path:
    """/sys with a device below its bridges, from the root down: {address, link now, link at most};
    returns the device's folder."""
    place = folder / "devices/pci0000:40"
    for address, now, most in chain:
        place = place / address
        place.mkdir(parents=True)
        for which, link in (("current", now), ("max", most)):
            for name, text in zip(("speed", "width"), link, strict=True):
                (place / f"{which}_link_{name}").write_text(f"{text}\n")
        (place / "class").write_text("0x030200\n" if address == named else "0x060400\n")
    every = folder / "bus/pci/devices"
    every.mkdir(parents=True)
    for folder in (place, *place.parents):
        if (folder / "class").exists():
            (every / folder.name).symlink_to(folder)
    return place


def link_of(
    hostdev: Path, fakes: Path, folder: Path, backend: str, **environment: str
) -> dict[str, Any]:
    done = start(
        hostdev,
        fakes,
        point("both", 2),
        backend=backend,
        options=(f"--sys={folder}",),
        FAKE_PCI=str(0x41),
        **environment,
    )
    (values,) = observed(done)
    return {name[5:]: value for name, value in values.items() if name.startswith("link_")}


def link_facts(when: str, gt_per_s: float, width: int, at: str = DEVICE) -> dict[str, Any]:
    return {f"{when}_gt_per_s": gt_per_s, f"{when}_width": width, f"{when}_at": at}


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_link_is_read_before_the_library_wakes_it_and_under_load(
    hostdev: Path, fakes: Path, tmp_path: Path, backend: str
) -> None:
    place = tree(tmp_path, (DEVICE, ("2.5 GT/s PCIe", "8"), FAST))
    speed = place / "current_link_speed"
    seen = link_of(hostdev, fakes, tmp_path, backend, FAKE_WAKES=str(speed))
    assert seen == link_facts("idle", 2.5, 8) | link_facts("load", 16, 8) | link_facts(
        "most", 16, 16
    )
    speed.write_text("Unknown\n")
    (place / "max_link_width").unlink()
    assert set(link_of(hostdev, fakes, tmp_path, backend).values()) == {None}


def test_a_narrow_bridge_above_the_device_is_the_link(
    hostdev: Path, fakes: Path, tmp_path: Path
) -> None:
    root = ("0000:40:00.0", FAST, FAST)
    place = tree(tmp_path, root, (BRIDGE, NARROW, FAST), (DEVICE, FAST, FAST))
    most = link_facts("most", 16, 16)
    slow = link_facts("idle", 8, 4, BRIDGE) | link_facts("load", 8, 4, BRIDGE)
    assert link_of(hostdev, fakes, tmp_path, "cuda") == slow | most
    # Of equal ones it is the device's own, and one that tells nothing hides no other.
    for name, text in zip(("speed", "width"), FAST, strict=True):
        (place.parent / f"current_link_{name}").write_text(text)
    own = link_facts("idle", 16, 16) | link_facts("load", 16, 16)
    assert link_of(hostdev, fakes, tmp_path, "cuda") == own | most
    (place / "current_link_speed").write_text("Unknown")
    (place.parent / "current_link_width").write_text("0")
    root_only = link_facts("idle", 16, 16, root[0]) | link_facts("load", 16, 16, root[0])
    assert link_of(hostdev, fakes, tmp_path, "cuda") == root_only | most


def test_links_are_ranked_by_the_payload_that_they_carry(
    hostdev: Path, fakes: Path, tmp_path: Path
) -> None:
    """31.5 Gb/s of 8 GT/s on 4 lanes are less than 32 of 5 GT/s on 8, whose encoding takes more."""
    older = ("5.0 GT/s PCIe", "8")
    tree(tmp_path, (BRIDGE, older, older), (DEVICE, NARROW, NARROW))
    seen = link_of(hostdev, fakes, tmp_path, "opencl")
    assert seen["load_at"] == DEVICE


def test_a_device_without_a_place_on_the_bus_has_no_link(hostdev: Path, fakes: Path) -> None:
    (values,) = observed(start(hostdev, fakes, point("to-device", 1)))
    assert [value for name, value in values.items() if name.startswith("link_")] == [None] * 9


REFUSED = {
    point("to-device", 1, bytes=12): "bytes=12 is not a multiple of 8",
    point("both", 3): "transfer_threads=3 are more than 256, or an odd number",
    point("to-device", 257): "transfer_threads=257 are more than 256",
    point("to-device", 16, bytes=64): "bytes=64 is not a multiple of 128",
    point("to-device", 1, bytes=0): "bytes=0 is not a multiple of 8",
}


@pytest.mark.parametrize("wrong", REFUSED)
def test_points_that_are_refused(hostdev: Path, fakes: Path, wrong: str) -> None:
    done = start(hostdev, fakes, wrong)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(REFUSED[wrong])


def test_options_that_are_missing_or_wrong(hostdev: Path) -> None:
    for words, sentence in {
        ("--memory=pinned",): "--backend is missing",
        ("--backend=opencl",): "--memory is missing",
        ("--backend=vulkan",): "--backend 'vulkan' is neither",
        ("--memory=swapped",): "--memory 'swapped' is neither",
    }.items():
        done = kernels.run(hostdev, *words, point("to-device", 1))
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(sentence)


def sanitized(folder: Path, compiler: str, sanitizer: str) -> Path:
    flags = ("-O1", f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all")
    return build(folder, compiler, *flags)


@pytest.mark.parametrize("sanitizer", SANITIZERS)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_sanitizers_find_nothing(
    tmp_path: Path, fakes: Path, compiler: str, sanitizer: str
) -> None:
    program = sanitized(tmp_path, compiler, sanitizer)
    for backend in BACKENDS:
        done = start(program, fakes, *EVERY, backend=backend, memory="pinned", FAKE_PCI="1")
        assert "Sanitizer" not in done.stderr, done.stderr
        assert len(observed(done)) == len(EVERY)


def has_platform() -> bool:
    try:
        cl = ctypes.CDLL("libOpenCL.so.1")
    except OSError:
        return False
    count = ctypes.c_uint(0)
    return cl.clGetPlatformIDs(0, None, ctypes.byref(count)) == 0 and count.value > 0


@pytest.mark.skipif(not has_platform(), reason="no OpenCL platform; pocl-opencl-icd has one")
@pytest.mark.parametrize("sanitizer", SANITIZERS)
def test_through_a_real_library(tmp_path: Path, sanitizer: str) -> None:
    """Suppressions name libraries only: in our own frames nothing is found."""
    program = sanitized(tmp_path, "gcc", sanitizer)
    options = {
        "TSAN_OPTIONS": f"suppressions={SUPPRESSIONS}",
        "LSAN_OPTIONS": f"suppressions={SUPPRESSIONS_OF_LEAKS}",
    }
    for memory in MEMORIES:
        done = start(program, None, *EVERY, memory=memory, POCL_KERNEL_CACHE="0", **options)
        assert "Sanitizer" not in done.stderr, done.stderr
        seen = observed(done)
        assert all(values["work_done_fraction"] == 1 for values in seen)
        assert all(0 < values["device_time_ns"] <= values["device_wall_ns"] for values in seen)


def test_suppressions_name_the_library_only() -> None:
    for file in (SUPPRESSIONS, SUPPRESSIONS_OF_LEAKS):
        rules = [
            line for line in file.read_text().splitlines() if line and not line.startswith("#")
        ]
        assert rules
        for rule in rules:
            kind, _, library = rule.partition(":")
            assert kind in ("called_from_lib", "race", "leak", "deadlock")
            assert library.startswith(("libpocl", "libOpenCL"))


MANY_CPUS = """
#define _GNU_SOURCE
#include <sched.h>
int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set) {
    (void)pid;
    (void)bytes;
    CPU_ZERO(set);
    for (int cpu = 0; cpu < 128; cpu++) {
        CPU_SET(cpu, set);
    }
    return 0;
}
"""


def test_threads_that_wait_awake_move_the_same(hostdev: Path, fakes: Path, tmp_path: Path) -> None:
    """With CPUs enough the threads of the pool wait awake: here they believe that there are."""
    source, library = tmp_path / "cpus.c", tmp_path / "cpus.so"
    source.write_text(MANY_CPUS)
    subprocess.run(["gcc", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    several = [point("to-device", 2), point("from-device", 1), point("both", 2, "queued")]
    moved = observed(start(hostdev, fakes, *several, LD_PRELOAD=str(library)))
    assert [seen["work_done_fraction"] for seen in moved] == [1] * len(several)
