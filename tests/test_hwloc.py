"""What lstopo prints, of machines that it makes up itself, of this one, and of none."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from benchbook.core.errors import BenchbookError
from benchbook.host import hwloc
from benchbook.host.cpu_sources import stated
from benchbook.host.topology import read_topology

MIB = 1 << 20


def made_up(words: str) -> dict[str, Any]:
    """A machine that lstopo makes up out of these words."""
    command = ("lstopo-no-graphics", "-i", words, "--of", "xml", "-")
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return hwloc.parse(done.stdout)


def test_two_sockets_with_threads() -> None:
    found = made_up(
        "package:2 [numa(memory=4GiB)] l3:2(size=33554432) l2:4(size=1048576) core:1 pu:2"
    )
    cpus = found["cpus"]
    assert [cpu["id"] for cpu in cpus] == list(range(32))
    assert {cpu["socket"] for cpu in cpus[:16]} == {0}
    assert {cpu["node"] for cpu in cpus[16:]} == {1}
    assert [cpu["core"] for cpu in cpus[:4]] == [0, 0, 2, 2]
    assert [len(cache["shared_cpus"]) for cache in found["caches"] if cache["level"] == 3] == [
        8
    ] * 4
    sizes = {(cache["level"], cache["kind"], cache["bytes"]) for cache in found["caches"]}
    assert sizes == {(3, "unified", 32 * MIB), (2, "unified", MIB)}
    assert set(found["nodes"]) == {"0", "1"}
    assert len(set(found["nodes"].values())) == 1


def test_no_cache_at_all() -> None:
    found = made_up("package:1 core:3 pu:1")
    assert found["caches"] == []
    assert [cpu["core"] for cpu in found["cpus"]] == [0, 1, 2]


def test_this_machine_has_the_cpus_that_the_kernel_names() -> None:
    found = stated()
    told = found["hwloc"]
    here = read_topology()
    assert [cpu["id"] for cpu in found["cpus"]] == [cpu.id for cpu in here.online]
    assert {cpu["id"] for cpu in told["cpus"]} == {cpu.id for cpu in here.online}
    assert {cache["source"] for cache in told["caches"]} <= {"hwloc"}
    assert told["version"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no XML"),
        ("<topology", "is no XML"),
        ("<other/>", "no topology of hwloc 2"),
        ('<topology version="2.0"/>', "no topology of hwloc 2"),
        ('<topology><object type="Machine"/></topology>', "no topology of hwloc 2"),
        ('<topology version="2.0"><object type="Machine"/></topology>', "names no CPU"),
    ],
)
def test_other_text_is_no_topology(text: str, said: str) -> None:
    with pytest.raises(BenchbookError, match=said):
        hwloc.parse(text)
    assert said in hwloc.read_hwloc(lambda: text)["reason"]


def test_unknown_sizes_stay_unknown() -> None:
    found = hwloc.parse(
        '<topology version="2.0"><object type="Machine"><object type="L2Cache" cache_size="0" '
        'depth="2" cache_linesize="0" cache_associativity="-1" cache_type="0">'
        '<object type="PU" os_index="5"/></object></object></topology>'
    )
    cache = found["caches"][0]
    assert (cache["bytes"], cache["ways"], cache["line_bytes"]) == (None, None, None)
    assert cache["shared_cpus"] == [5]
    assert found["cpus"][0] | {"id": 5, "core": 5, "socket": None, "node": None} == found["cpus"][0]


def test_where_there_is_no_lstopo_the_reason_names_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "hwloc-nox" in hwloc.read_hwloc()["reason"]
    program = tmp_path / hwloc.COMMAND[0]
    program.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    program.chmod(0o755)
    assert hwloc.read_hwloc() == {"reason": "lstopo-no-graphics failed: broken"}
