"""Host facts, the stable id, and memory under cgroups of both versions."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import sysfs_trees as trees

from benchbook.host import facts as host_facts
from benchbook.host import memory
from benchbook.host.topology import read_topology

GIB = 1 << 30
UNLIMITED = 9223372036854771712


def facts_of(root: Path, **options: Any) -> dict[str, Any]:
    return host_facts.facts(root, read_topology(root, **options))


def test_recorded_guest(tmp_path: Path) -> None:
    facts = facts_of(trees.firecracker().write(tmp_path))
    expected = {
        "version": 1,
        "cpu_model": "Intel(R) Xeon(R) Processor",
        "cpu_vendor": "GenuineIntel",
        "cpu_family": "6",
        "cpu_model_number": "167",
        "cpu_stepping": "8",
        "isa_level": "x86-64-v3",
        "sockets": 1,
        "cores": 2,
        "threads": 2,
        "usable_cores": 2,
        "usable_cpus": [0, 1],
        "offline_cpus": [],
        "smt": False,
        "core_kinds": ["uniform"],
        "llc_bytes": 110100480,
        "numa_nodes": 1,
        "memory_total_bytes": 24684084 * 1024,
        "hypervisor": "kvm",
        "virtualisation": "virtual machine",
        "container": "none",
        "os": "Debian GNU/Linux 12 (bookworm)",
        "kernel_release": "6.18.44",
        "clocksource": "tsc",
        "thp": "madvise",
        "numa_balancing": 0,
        "perf_event_paranoid": 2,
        "frequency_readable": False,
    }
    assert {key: facts[key] for key in expected} == expected
    assert "avx512f" in facts["isa"]
    assert len(facts["caches"]) == 7
    absent = {"governor", "governors", "turbo", "max_khz", "architecture", "libc"}
    absent |= {"microcode", "mitigations", "boot_options"}
    assert set(facts["unknown"]) == absent
    assert all(facts[key] is None for key in absent)
    assert facts["unknown"]["governor"].endswith("scaling_governor is absent")


def test_two_sockets_on_bare_metal(tmp_path: Path) -> None:
    facts = facts_of(trees.epyc(2, 8, 2).write(tmp_path))
    assert (facts["sockets"], facts["cores"], facts["threads"]) == (2, 16, 32)
    assert facts["smt"] is True
    assert facts["llc_bytes"] == 64 << 20
    assert facts["max_khz"] == 3_529_052
    assert (facts["hypervisor"], facts["virtualisation"]) == ("none", "none")
    assert host_facts.host_id(facts).startswith("amd-epyc-7763-64-core-processor-16c-")


def test_arm_without_cache_files(tmp_path: Path) -> None:
    facts = facts_of(trees.arm().write(tmp_path))
    assert facts["cpu_model"] == "ARM implementer 0x41 part 0xd0c"
    assert facts["isa"] == ["asimd", "asimddp", "atomics", "lrcpc"]
    for key in ("caches", "llc_bytes", "isa_level", "hypervisor", "virtualisation"):
        assert facts[key] is None
        assert facts["unknown"][key]
    assert facts["smt"] is False
    assert host_facts.host_id(facts).startswith("arm-implementer-0x41-part-0xd0c-4c-")


@pytest.mark.parametrize(
    ("missing", "level"), [("avx2", "x86-64-v2"), ("ssse3", "x86-64-v1"), ("sse2", None)]
)
def test_a_level_needs_those_below(tmp_path: Path, missing: str, level: str | None) -> None:
    tree = trees.firecracker()
    tree.cpuinfo = tree.cpuinfo.replace(
        f" {missing} ", " avx512f avx512bw avx512cd avx512dq avx512vl "
    )
    assert facts_of(tree.write(tmp_path))["isa_level"] == level


def test_settings_are_read(tmp_path: Path) -> None:
    tree = trees.one_socket()
    tree.files = {
        f"{trees.CPU_DIR}/cpu0/cpufreq/scaling_governor": "powersave",
        f"{trees.CPU_DIR}/cpu1/cpufreq/scaling_governor": "performance",
        f"{trees.CPU_DIR}/cpu1/cpufreq/scaling_cur_freq": "3400000",
        f"{trees.CPU_DIR}/intel_pstate/no_turbo": "1",
    }
    facts = facts_of(tree.write(tmp_path))
    assert facts["governor"] == "performance,powersave"
    assert facts["turbo"] == "off"
    assert facts["frequency_readable"] is True
    assert host_facts.frequency_khz(1, tmp_path) == 3_400_000
    assert host_facts.frequency_khz(0, tmp_path) is None


@pytest.mark.parametrize(
    ("file", "text", "name"),
    [
        ("sys/class/dmi/id/sys_vendor", "QEMU", "kvm"),
        ("sys/class/dmi/id/product_name", "VMware7,1", "vmware"),
        ("sys/hypervisor/type", "xen", "xen"),
        ("nowhere", "", "unnamed"),
    ],
)
def test_hypervisors(tmp_path: Path, file: str, text: str, name: str) -> None:
    tree = trees.one_socket()
    tree.cpuinfo = tree.cpuinfo.replace("fpu", "fpu hypervisor")
    tree.files = {file: text, "run/systemd/container": "podman"}
    facts = facts_of(tree.write(tmp_path))
    assert facts["hypervisor"] == name
    assert facts["virtualisation"] == "container in a virtual machine"
    assert facts["container"] == "podman"


def test_id_is_a_readable_file_name(tmp_path: Path) -> None:
    name = host_facts.host_id(facts_of(trees.firecracker().write(tmp_path)))
    assert re.fullmatch(r"intel-xeon-processor-2c-[0-9a-f]{8}", name)
    model = {"cpu_model": "Intel(R) Core(TM) i5-7500 CPU @ 3.40GHz", "usable_cores": 4}
    assert host_facts.host_id(model).startswith("intel-core-i5-7500-4c-")
    assert host_facts.host_id({}).startswith("unknown-cpu-0c-")


def test_id_ignores_what_changes_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = trees.one_socket().write(tmp_path / "a")
    name = host_facts.host_id(facts_of(root))
    trees.meminfo(root, 16 * trees.GIB_KB - 3000, 1000)  # another kernel, memory nearly used up
    trees.put(root, "proc/sys/kernel/hostname", "elsewhere")
    trees.put(root, "etc/hostname", "elsewhere")
    trees.put(root, "proc/sys/kernel/osrelease", "7.0.0")
    trees.put(root, "proc/loadavg", "9.00 9.00 9.00 9/86 4464")
    trees.put(root, f"{trees.CPU_DIR}/cpu0/cpufreq/scaling_governor", "powersave")
    trees.put(root, f"{trees.CPU_DIR}/cpu0/cpufreq/cpuinfo_max_freq", 3_400_000)
    trees.put(root, "sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never")
    monkeypatch.chdir(tmp_path)
    facts = facts_of(root)
    assert host_facts.host_id(facts) == name
    assert host_facts.host_id(json.loads(json.dumps(facts))) == name
    assert host_facts.host_id(facts_of(trees.one_socket().write(tmp_path / "b"))) == name


def test_id_ignores_caches_that_only_libc_tells(tmp_path: Path) -> None:
    root = trees.arm().write(tmp_path)
    with_libc = facts_of(root, sysconf={"LEVEL3_CACHE_SIZE": 1 << 25}.get)
    assert with_libc["llc_bytes"] == 1 << 25
    assert host_facts.host_id(with_libc) == host_facts.host_id(facts_of(root))


def test_id_changes_with_the_host(tmp_path: Path) -> None:
    root = trees.epyc(1, 8, 2).write(tmp_path / "a")
    names = {host_facts.host_id(facts_of(root))}
    names.add(host_facts.host_id(facts_of(root, affinity=[0, 1])))
    names.add(host_facts.host_id(facts_of(root, affinity=[0, 2])))
    assert len({name.rpartition("-")[0] for name in names}) == 2  # 8 cores, 2 cores
    trees.meminfo(root, 64 * trees.GIB_KB, 1000)
    names.add(host_facts.host_id(facts_of(root)))
    for file in root.glob(f"{trees.CPU_DIR}/cpu*/cache/index3/size"):
        file.write_text("16384K\n")
    names.add(host_facts.host_id(facts_of(root)))
    info = root / "proc/cpuinfo"
    info.write_text(info.read_text().replace("fpu", "fpu hypervisor"))
    names.add(host_facts.host_id(facts_of(root)))
    assert len(names) == 6


def machine_with(root: Path, available_gib: int, cgroup: str, mounts: str = "") -> Path:
    trees.meminfo(root, 64 * trees.GIB_KB, available_gib * trees.GIB_KB)
    trees.put(root, "proc/self/cgroup", cgroup)
    if mounts:
        trees.put(root, "proc/self/mountinfo", mounts)
    return root


def limit(root: Path, folder: str, text: str | int, used: int, cache: int = 0) -> None:
    trees.put(root, f"sys/fs/cgroup/{folder}/memory.max", text)
    trees.put(root, f"sys/fs/cgroup/{folder}/memory.current", used)
    trees.put(root, f"sys/fs/cgroup/{folder}/memory.stat", f"anon 5\ninactive_file {cache}\nfile 9")


def test_memory_without_cgroups(tmp_path: Path) -> None:
    trees.meminfo(tmp_path, 64 * trees.GIB_KB, 40 * trees.GIB_KB)
    assert memory.memory_available_bytes(tmp_path) == memory.Available(
        40 * GIB, "proc/meminfo MemAvailable"
    )


def test_memory_of_nested_cgroups_v2(tmp_path: Path) -> None:
    root = machine_with(tmp_path, 40, "0::/a.slice/b.scope/c")
    limit(root, "a.slice/b.scope/c", "max", GIB)
    limit(root, "a.slice/b.scope", 8 * GIB, 3 * GIB, GIB)
    limit(root, "a.slice", 30 * GIB, 4 * GIB)
    limit(root, "other", 1, 0)
    found = memory.memory_available_bytes(root)
    assert found == memory.Available(6 * GIB, "sys/fs/cgroup/a.slice/b.scope/memory.max")
    trees.put(root, "sys/fs/cgroup/a.slice/memory.high", 5 * GIB)
    found = memory.memory_available_bytes(root)
    assert found == memory.Available(GIB, "sys/fs/cgroup/a.slice/memory.high")
    limit(root, "a.slice/b.scope/c", GIB, 2 * GIB)
    assert memory.memory_available_bytes(root).bytes == 0  # over its limit: nothing, not less


def test_memory_in_a_container_v2(tmp_path: Path) -> None:
    mounts = "31 23 0:28 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw,nsdelegate"
    root = machine_with(tmp_path, 40, "0::/", mounts)
    limit(root, "", 2 * GIB, GIB // 2)
    assert memory.memory_available_bytes(root).bytes == GIB * 3 // 2
    trees.put(root, "proc/self/cgroup", "0::/../../outside")
    trees.put(root, "sys/outside/memory.max", 1)  # not of this namespace
    assert memory.memory_available_bytes(root).bytes == GIB * 3 // 2


@pytest.mark.parametrize("namespaced", [True, False])
def test_memory_of_cgroup_v1(tmp_path: Path, namespaced: bool) -> None:
    top = "/" if namespaced else "/docker/abc"
    mounts = (
        f"35 31 0:32 {top} /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw"
    )
    lines = f"4:memory:{'' if namespaced else '/docker/abc'}/job\n3:cpuset:/\n0::/"
    root = machine_with(tmp_path, 40, lines, mounts)
    for folder, size, used, cache in (("job", UNLIMITED, 0, 0), ("", 4 * GIB, 3 * GIB, 2 * GIB)):
        base = f"sys/fs/cgroup/memory/{folder}"
        trees.put(root, f"{base}/memory.limit_in_bytes", size)
        trees.put(root, f"{base}/memory.usage_in_bytes", used)
        trees.put(root, f"{base}/memory.stat", f"inactive_file 1\ntotal_inactive_file {cache}")
    found = memory.memory_available_bytes(root)
    assert found == memory.Available(3 * GIB, "sys/fs/cgroup/memory/memory.limit_in_bytes")
    trees.put(root, "sys/fs/cgroup/memory/memory.limit_in_bytes", UNLIMITED)
    assert memory.memory_available_bytes(root).source == "proc/meminfo MemAvailable"
    trees.put(root, "sys/fs/cgroup/memory/job/memory.limit_in_bytes", GIB)
    assert memory.memory_available_bytes(root).bytes == GIB
    (root / "proc/meminfo").unlink()
    trees.put(root, "sys/fs/cgroup/memory/job/memory.limit_in_bytes", UNLIMITED)
    assert memory.memory_available_bytes(root).bytes is None  # unlimited is no amount


def test_memory_unknown(tmp_path: Path) -> None:
    found = memory.memory_available_bytes(tmp_path)
    assert found.bytes is None
    assert "cannot be read" in found.source


def test_moments(tmp_path: Path) -> None:
    trees.put(tmp_path, "proc/stat", "cpu  10 0 20 30 0 0 1 39 7 0\ncpu0 1 2 3 4 5 6 7 8")
    trees.put(tmp_path, "proc/loadavg", "1.25 0.50 0.01 3/86 4464")
    assert host_facts.cpu_ticks(tmp_path) == (39, 100)
    assert host_facts.steal_ticks(tmp_path) == 39
    assert host_facts.load(tmp_path) == host_facts.Load(1.25, 3)


@pytest.mark.parametrize("junk", [*trees.GARBAGE, None])
def test_garbled_files_are_unknown_with_a_reason(tmp_path: Path, junk: bytes | None) -> None:
    tree = trees.firecracker()
    tree.files |= {
        "proc/self/cgroup": "0::/a",
        "proc/self/mountinfo": "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup rw",
        "sys/fs/cgroup/a/memory.max": str(GIB),
        "sys/fs/cgroup/a/memory.current": "0",
        "sys/fs/cgroup/a/memory.stat": "inactive_file 0",
        f"{trees.CPU_DIR}/cpu0/cpufreq/scaling_cur_freq": "2000000",
    }
    root = tree.write(tmp_path)
    for file in trees.one_of_each_name(root):
        with trees.garbled(file, junk):
            facts = facts_of(root)
            for key, value in facts.items():
                assert (value is None) == (key in facts["unknown"]), (file, key)
            assert all(facts["unknown"].values())
            assert json.loads(json.dumps(facts)) == facts
            assert host_facts.host_id(facts)
            assert (memory.memory_available_bytes(root).bytes or 0) >= 0
            assert (host_facts.steal_ticks(root) or 0) >= 0
            assert (host_facts.frequency_khz(0, root) or 1) > 0
            host_facts.load(root)


def test_reasons_name_the_file(tmp_path: Path) -> None:
    root = trees.firecracker().write(tmp_path)
    paranoid = root / "proc/sys/kernel/perf_event_paranoid"
    for junk, reason in ((b"banana", "does not tell: 'banana'"), (b"", "is empty"), (None, "read")):
        with trees.garbled(paranoid, junk):
            assert reason in facts_of(root)["unknown"]["perf_event_paranoid"]


def test_this_machine() -> None:
    facts = host_facts.facts()
    assert facts["usable_cpus"]
    assert facts["kernel_release"]
    assert facts["architecture"]
    assert host_facts.host_id(facts) == host_facts.host_id(host_facts.facts())
    available = memory.memory_available_bytes()
    assert available.bytes is not None
    assert 0 < available.bytes <= facts["memory_total_bytes"]
    assert host_facts.load() is not None
    assert host_facts.steal_ticks() is not None


def test_the_revision_of_the_lock_is_told_and_is_not_of_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("BENCHBOOK_NIX_REVISION", raising=False)
    before = host_facts.facts()
    assert before["nix_revision"] == ""
    monkeypatch.setenv("BENCHBOOK_NIX_REVISION", "8fd9daa")
    assert host_facts.facts()["nix_revision"] == "8fd9daa"
    assert host_facts.host_id(host_facts.facts()) == host_facts.host_id(before)


def test_what_a_boot_may_change_is_kept(tmp_path: Path) -> None:
    """Microcode, mitigations and boot options: a step in a history may come from them. What names
    disks or networks is not kept."""
    trees.epyc(1, 2, 2).write(tmp_path)
    for path, text in {
        "proc/cpuinfo": "processor\t: 0\nmodel name\t: A CPU\nmicrocode\t: 0xa0011d1\n",
        "proc/cmdline": "BOOT_IMAGE=/vmlinuz root=UUID=77-ab ro mitigations=off isolcpus=2,3 "
        "ip=10.0.0.7 quiet transparent_hugepage=never -- --token idle=poll\n",
        "sys/devices/system/cpu/vulnerabilities/meltdown": "Not affected\n",
        "sys/devices/system/cpu/vulnerabilities/retbleed": "Mitigation: untrained return thunk\n",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
        "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "performance\n",
        "sys/devices/system/cpu/cpu2/cpufreq/scaling_governor": "powersave\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    facts = facts_of(tmp_path)
    assert facts["microcode"] == "0xa0011d1"
    options = ["mitigations=off", "isolcpus=2,3", "transparent_hugepage=never"]
    assert facts["boot_options"] == options
    assert facts["mitigations"] == {"retbleed": "Mitigation: untrained return thunk"}
    assert facts["governors"] == {"performance": "0-1", "powersave": "2"}


def test_commit_of_a_checkout(tmp_path: Path) -> None:
    assert host_facts.commit(tmp_path) == ""
    git = ("git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b")
    (tmp_path / "file").write_text("1")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        subprocess.run([*git, *words], check=True)
    assert re.fullmatch(r"[0-9a-f]{12}", host_facts.commit(tmp_path))
    (tmp_path / "file").write_text("2")
    assert host_facts.commit(tmp_path).endswith("+")
