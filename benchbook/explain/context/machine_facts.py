"""What a log shows of its machine beside the benchmark: caches and CPUs by lscpu, nproc; the link
of a device by nvidia-smi, lspci; what its memory carries in theory, by what somebody or dmidecode
says; what its kernel counted, by netstat and nstat.

Only what is said once, or always the same: a log with two machines tells of neither.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from benchbook.explain.context import cores_in_words, devices_of_models, loops_of_commands
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Command, Line, Log, Report
from benchbook.explain.printed_digits import LONGEST, only
from benchbook.explain.readers.common.command_lines import option

_CACHE = late(
    r"^[ \t]*L(?P<level>[123])d?(?: cache|(?P<foreign> Cache| 缓存))?[:：] +"
    r"(?P<size>\d+(?:[.,]\d+)?) ?(?P<prefix>[KMG])(?P<summed>i?B)?(?: \(\d+ \w+\))?[ \t]*$",
    re.M,
)
# /proc/cpuinfo: of Intel the last cache of a socket, of others often an L2.
_CPUINFO = late(r"^[ \t]*cache size[ \t]*: (?P<kib>\d{4,7}) KB[ \t]*$", re.M)
_INTEL = late(r"\bIntel\(R\)|\bGenuineIntel\b")
_COUNT = late(r"0*[1-9]\d{0,4}")
_CPUS = late(r"^[ \t]*CPU\(s\): +(\d{1,5})[ \t]*$", re.M)
_SOCKETS = late(r"^[ \t]*Socket\(s\): +(\d{1,3})[ \t]*$", re.M)
_OF_SOCKET = late(r"^[ \t]*Core\(s\) per socket: +(\d{1,4})[ \t]*$", re.M)
_APPLE = late(r"(?i)^[ \t]*(?:Total Number of Cores|hw\.physicalcpu): +(\d{1,3})\b", re.M)
# nvidia-smi --query-gpu=pcie.link.gen.max,pcie.link.width.max --format=csv, and lspci -vv. What a
# link has at the moment is no ceiling: idle ones rest at the lowest generation.
_QUERIED = late(
    r"^[ \t]*(?:[a-z_.]{1,40}, ){0,4}pcie\.link\.gen\.max, pcie\.link\.width\.max[ \t]*$", re.M
)
_LINK = late(r"^[ \t]*(?:[^,\n]{1,80}, ){0,4}(?P<generation>[1-7]), (?P<lanes>\d{1,2})[ \t]*$")
# nvidia-smi -q, of each device.
_SHOWN = late(
    r"^[ \t]*PCIe Generation[ \t]*\n[ \t]*Max[ \t]*: (?P<generation>[1-7])[ \t]*\n"
    r"(?:[ \t]*[A-Z][A-Za-z ]{0,30}: [\w/]{1,8}[ \t]*\n){0,6}"
    r"[ \t]*Link Width[ \t]*\n[ \t]*Max[ \t]*: (?P<lanes>\d{1,2})x",
    re.M,
)
_CAPABLE = late(r"\bLnkCap:.{0,40} Speed (?P<rate>[\d.]+)GT/s.{0,20}, Width x(?P<lanes>\d+)")
# How the device of the log is connected, in words; a mere bridge in a list is not that.
_TUNNEL = late(r"\b(?:via|over|through|by) (?:an? |external )?Thunderbolt ?([345])\b", re.I)
_TUNNEL_BYTES_PER_S = {3: 5e9, 4: 5e9, 5: 15e9}  # 40, 40 and 120 Gbit/s
# One direction of one lane in MB/s, after the coding of bits.
_LANE_MB_PER_S = {1: 250, 2: 500, 3: 984.6, 4: 1969.2, 5: 3938.5, 6: 7563}
# The same of several runs, where somebody says that the device is attached so.
_CABLE = late(
    r"\b(?:connected|attached) (?:via|over|through|by) (?:an? )?Thunderbolt ?([345])\b", re.I
)
_GENERATION = {"2.5": 1, "5": 2, "8": 3, "16": 4, "32": 5, "64": 6}
# Of one channel, core or link of several, or of a cache, it is no ceiling. Data sheets have it
# without that word, in capitals; so has who measured it.
_THEORETICAL = late(
    r"^(?!.*\b(?:per|each|single|caches?|L[1-4]|LLC|PCIe?|link)\b)"
    r"(?=.*\b(?:[Mm]emory|D?RAM|DDR\d?|HBM\d?)\b)"
    r"(?:.*?\b[Tt]heoretical\b|(?!.*(?i:measured|achieved|attained|observed|STREAM|reached))"
    r".*?\bMax(?:imum|\.)?(?: Main)? Memory Bandwidth\b)\D{0,60}?\b"
    r"(?P<rate>\d{1,5}(?:\.\d{1,3})?) ?(?P<prefix>[GT])(?P<binary>i?)B/s"
)
_MEMORIES = ("emory", "RAM", "DDR", "HBM")  # one of which is in what that finds
# Who reckons it out of clock and channels: 2 x 2666 MT/s x 8 B = 42.7 GB/s.
_RECKONED = late(
    r"^(?!.*\b(?:per|each|single|caches?|L[1-4]|LLC|PCIe?|link)\b)"
    r"(?!.*(?i:measured|achieved|attained|observed|STREAM|reached|saw|got|triad|copy))"
    r"(?=.*\d ?(?:MT/s|M?Hz)\b)(?=.*\b[Pp]eak\b)(?!.*[GT]i?B/s.*[GT]i?B/s)"
    r".*[x×*·] ?\d.*= ?(?P<rate>\d{1,5}(?:\.\d{1,3})?) ?(?P<prefix>[GT])(?P<binary>i?)B/s"
)
# Who names channels and clock: dual-channel DDR4-3200. Of several sockets nobody knows how many.
_CHANNELS = {"single": 1, "dual": 2, "triple": 3, "quad": 4, "hexa": 6, "octa": 8}
_OF_CHANNELS = late(
    r"(?i)\b(?P<word>single|dual|triple|quad|hexa|octa|\d{1,2})[ -]?channels?\b.{0,40}?"
    r"(?<!LP)\bDDR(?P<kind>[2345])[ -](?P<clock>\d{3,4})\b(?! ?MHz)"
    r"|(?<!LP)\bDDR(?P<kind2>[2345])[ -](?P<clock2>\d{3,4})\b(?! ?MHz).{0,40}?"
    r"\b(?P<word2>single|dual|triple|quad|hexa|octa|\d{1,2})[ -]?channels?\b"
)
_SEVERAL = late(
    r"(?i)\bper\b|\beach\b|\bsockets\b|\b2S\b|\bdual[ -](?:socket|CPU|Xeon|EPYC)|2 ?[x×]"
)
_LEAST_CLOCK = {"2": 400, "3": 800, "4": 1333, "5": 3200}  # MT/s of each kind; a size is less
# dmidecode, of each module; all of them together carry no less than their channels.
_MODULE = late(r"^[ \t]*Locator: (\S.*?)[ \t]*$", re.M)
_WIDTH = late(r"^[ \t]*Data Width: (?:(\d{2,4}) bits|Unknown)[ \t]*$", re.M)
_CLOCK = late(
    r"^[ \t]*Configured (?:Memory|Clock) Speed: (?:(\d{3,5}) M(?:T/s|Hz)|Unknown)[ \t]*$", re.M
)
_TYPE = late(r"^[ \t]*Type: (DDR[345]|Unknown)[ \t]*$", re.M)  # all of them have 64 bits
_CPUS_OF_MODULE = 16  # more share one only where a virtual machine is told of one
_SIZES = {"K": 2**10, "M": 2**20, "G": 2**30}
# The last cache of a device: deviceQuery, clinfo.
_OF_DEVICE = late(
    r"^[ \t]*(?:L2 Cache Size:|Global Memory cache size) +(\d{4,12})(?: bytes| \(|$)", re.M
)
# Words of which each place that pins threads has one.
_PINNING = (
    "PROC_BIND", "OMP_PLACES", "AFFINITY", "affinity", "numactl", "taskset", "likwid-pin", "cpuset",
    "mpirun", "mpiexec", "srun", "bind-to", "hwloc-bind", "aprun", "jsrun",
)  # fmt: skip
_CACHES_OF_DEVICES = ("L2 Cache Size:", "Global Memory cache size")
_FORWARDERS = ("hostfwd=", "forwarder/expose", "port-forward", "port forward")
_FORWARDS = late(r"-\w*[LRD]")
# Over which interface MPI was told to send: Open MPI, libfabric, UCX.
_OVER_LOOPBACK = late(r"\b(?:btl_tcp_if_include|FI_TCP_IFACE|UCX_NET_DEVICES)[= ]lo\b")
_LAUNCHERS = ("mpirun", "mpiexec", "srun")
_ON_PURPOSE = late(
    r"\b(?:cached?|L[1234]|LLC)\b.{0,60}\b(?:on purpose|intention|deliberate)"
    r"|\b(?:on purpose|intention\w*|deliberate\w*)\b.{0,60}\b(?:cached?|L[1234]|LLC)\b",
    re.I,
)
_SIZE_ASKED = late(r"\blikwid-bench\b[^\n]{0,200}\s-w\s+\w+:\d{1,4} ?[kK]?i?B\b")
_MEMORY = late(r"\b(?:main |system )?memory\b|\bDRAM\b|\bRAM\b", re.I)
_OF_DEVICES = ("pcie_bytes_per_s", "device_cache_bytes")
# Datagrams for which a socket had no room: netstat -su, nstat, /proc/net/snmp.
_NO_ROOM = late(r"[ \t]*(\d{1,18}) receive buffer errors|UdpRcvbufErrors[ \t:=]+(\d{1,18})\b")
_SNMP = "RcvbufErrors"
_LISTED = late(
    r"-[rwxsStT-]{9}[.+@]?\s+\d+\s+\S+\s+\S+\s+(?P<size>\d{1,15}(?:\.\d{1,3})?)(?P<prefix>[KMG]?)"
    r"\s+\w+\s+\d+\s+[\d:]+\s+(?P<name>\S+)$"
)
_DEVICES = 16  # lines below such a head
_MOST_NAMES = 20  # of counters in a line
_NEAR_LINES = 3  # from a command to what it prints


def tell(log: Log, reports: list[Report]) -> None:
    """Give the reports the facts that they do not have themselves."""
    loops_of_commands.tell(log, reports)
    facts = {
        "llc_bytes": _llc_bytes(log),
        "cores": _cores(log),
        "physical_cores": _physical_cores(log),
        "machine_bytes": _machine_bytes(log),
        "memory_bytes_per_s": _memory(log),
    }
    linked = [report for report in reports if "direction" in report.columns.union(report.facts)]
    if linked:
        # Of several devices one may be in the host.
        link = (_tunnel(log) if len(linked) == 1 else None) or _pcie(log)
        cache = _said(_OF_DEVICE, log.text) if any(map(log.has, _CACHES_OF_DEVICES)) else None
        facts |= {"device_cache_bytes": cache, "pcie_bytes_per_s": link}
    for report in reports:
        for name, value in facts.items():
            if not value or report.facts.get(name) is not None:
                continue
            if name not in _OF_DEVICES or report.knowing("direction"):
                report.facts[name] = value
    if not any(map(log.has, _PINNING)):
        for report in reports:
            if "threads" in report.facts:
                report.facts["binding_unseen"] = True
                if log.commands and report.asked:
                    report.facts["unpinned"] = True
    _tell_tunnels(log, reports)
    _tell_loopback(log, reports)
    _tell_purpose(log, reports)
    _tell_no_room(log, reports)
    _tell_files(log, reports)
    _tell_nodes(reports)
    cores_in_words.tell(log, reports)
    devices_of_models.tell(log, reports)


def _tell_tunnels(log: Log, reports: list[Report]) -> None:
    """An address of this host may be the mouth of a tunnel to another, from its command on."""
    shown = [command.number for command in log.commands if _is_tunnel(command.words)]
    shown += [line.number for line in log.having(*_FORWARDERS)]
    begun = min(shown, default=None)
    if begun is not None:
        for report in reports:
            if report.line >= begun:
                report.facts["tunnelled"] = True


def _is_tunnel(words: tuple[str, ...]) -> bool:
    name = words[0].rpartition("/")[2]
    if name in ("ssh", "autossh"):
        return any(_FORWARDS.match(word) for word in words[1:])
    return (name == "kubectl" and "port-forward" in words) or name == "socat"


def _tell_loopback(log: Log, reports: list[Report]) -> None:
    """What MPI sends over lo stays on its host, however the interfaces of the log are called."""
    of_mpi = [report for report in reports if report.facts.get("pattern") == "point to point"]
    started = log.having(*_LAUNCHERS) if of_mpi else []
    begins = [line.number for line in started]
    for report in of_mpi:
        above = bisect_left(begins, report.line)
        if above and _OVER_LOOPBACK.search(started[above - 1].text):
            report.facts["device"] = "lo"


def _tell_purpose(log: Log, reports: list[Report]) -> None:
    """Who says above a run that it is one of the caches knows that it is; so does who asks
    likwid-bench for a size, if nobody calls the result one of memory."""
    if log.has("likwid-bench") and _SIZE_ASKED.search(log.text) and not _MEMORY.search(log.text):
        for report in reports:
            if report.tool == "likwid-bench":
                report.facts["cached_on_purpose"] = True
    if not any(log.has(word) for word in ("purpose", "ntention", "eliberate")):
        return
    purposes = [line.number for line, _ in log.matches(_ON_PURPOSE)]
    begins = [report.line for report in reports]
    for report in reports:
        above, before = bisect_left(purposes, report.line), bisect_left(begins, report.line)
        # What was said above an earlier run was said of that one.
        if above and not (before and purposes[above - 1] < begins[before - 1]):
            report.facts["cached_on_purpose"] = True


def _tell_no_room(log: Log, reports: list[Report]) -> None:
    """By how much that count grew around a run; what it was behind it, where none is above."""
    own = [report for report in reports if report.facts.get("protocol") == "udp"]
    seen = list(_no_room(log)) if own else []
    for report in own if seen else ():
        behind = bisect_right(seen, report.line, key=lambda pair: pair[0])
        if behind < len(seen):
            before = seen[behind - 1][1] if behind else 0
            report.facts["receive_buffer_errors"] = seen[behind][1] - before
            report.facts["receive_buffer_errors_in_line"] = seen[behind][0]


def _tell_files(log: Log, reports: list[Report]) -> None:
    """The size of a listed file that the timed command names."""
    files: dict[str, tuple[float, int]] = {}
    for line in log.having("-rw"):
        if listed := _LISTED.match(line.text.strip()):
            size = float(listed["size"]) * _SIZES.get(listed["prefix"], 1)
            files[listed["name"]] = size, line.number
    for report in reports if files else ():
        words = str(report.facts.get("command") or report.facts.get("program") or "").split()
        if named := [files[word] for word in words if word in files]:
            report.facts |= {"file_bytes": named[0][0], "file_line": named[0][1]}


def _tell_nodes(reports: list[Report]) -> None:
    """How many nodes srun was asked for."""
    for report in reports:
        if "srun" in report.asked:
            nodes = option(Command(report.line, report.asked), "-N", "--nodes")
            if _COUNT.fullmatch(nodes):
                report.facts["nodes"] = int(nodes)


def _no_room(log: Log) -> Iterator[tuple[int, int]]:
    """Each line that says it, with what was counted so far."""
    names: list[str] = []
    lite = False
    for line in log.having("receive buffer errors", _SNMP, "Udp"):
        words = line.text.split()[:_MOST_NAMES]
        lite = words[:1] == ["UdpLite:"] or (lite and words[:1] != ["Udp:"])
        if words[:1] == ["Udp:"] and _SNMP in words:
            names = words
        elif words[:1] == ["Udp:"] and len(words) == len(names):
            if (counter := words[names.index(_SNMP)]).isdecimal():
                yield line.number, int(counter[:18])
        elif not lite and (counted := _NO_ROOM.match(line.text)):
            yield line.number, int(counted[1] or counted[2])


def _llc_bytes(log: Log) -> int | None:
    """All last-level caches together. An L2 is the last one only where all levels are shown."""
    text = log.text
    if not any(log.has(word) for word in (" cache:", "L3:", " Cache:", " 缓存：")):
        return _of_socket(log)
    levels: dict[int, set[int]] = {}
    sockets = _said(_SOCKETS, text) or 1
    for cache in _CACHE.finditer(text):
        # Old versions tell one cache of each level, in K and without a B; how many sockets there
        # are is not read where they speak another language.
        if cache["foreign"] and not cache["summed"]:
            return None
        several = 1 if cache["summed"] else sockets
        size = float(cache["size"].replace(",", ".")) * _SIZES[cache["prefix"]] * several
        levels.setdefault(int(cache["level"]), set()).add(round(size))
    last = max(levels, default=0)
    whole = last == 3 or (last == 2 and 1 in levels)
    return only(levels[last]) if whole else None


def _of_socket(log: Log) -> int | None:
    """Those of one socket, which a machine has at least."""
    text = log.text
    if not log.has("cache size") or not _INTEL.search(text):
        return None
    return only({int(cpu["kib"]) * 2**10 for cpu in _CPUINFO.finditer(text)})


def _pcie(log: Log) -> float | None:
    """One direction of a device's link; None where the log shows links that differ."""
    links: set[tuple[int, int]] = set()
    if log.has("pcie.link.gen.max"):
        for line, _ in log.matches(_QUERIED):
            for below in _below(log, line.number, _DEVICES):
                if not (match := _LINK.match(below.text)):
                    break
                links.add((int(match["generation"]), int(match["lanes"])))
    if log.has("PCIe Generation"):
        links |= {(int(generation), int(lanes)) for generation, lanes in _SHOWN.findall(log.text)}
    cable = _said(_CABLE, log.text) if log.has("hunderbolt") else None
    if cable and not links:
        return _TUNNEL_BYTES_PER_S[cable]
    if log.has("LnkCap:"):
        links |= {(_GENERATION.get(rate, 0), int(n)) for rate, n in _CAPABLE.findall(log.text)}
    generation, lanes = only(links) or (0, 0)
    return _LANE_MB_PER_S[generation] * lanes * 1e6 if generation in _LANE_MB_PER_S else None


def _tunnel(log: Log) -> float | None:
    """One direction of the cable to a device in a box of its own."""
    if not log.has("underbolt") and not log.has("UNDERBOLT"):
        return None
    return _TUNNEL_BYTES_PER_S.get(_said(_TUNNEL, log.text) or 0)


def _memory(log: Log) -> float | None:
    """The most that its memory carries, as somebody says or its modules do; None where several
    differ."""
    rates = set()
    if len(channels := set(_channels(log))) == 1:
        rates |= channels
    for line in log.having("heoretical", "Memory Bandwidth", "peak", "Peak"):
        text = line.text
        if len(text) >= LONGEST:
            continue
        match = _THEORETICAL.match(text) if any(memory in text for memory in _MEMORIES) else None
        if match is None and "=" in text and ("Hz" in text or "MT/s" in text):
            match = _RECKONED.match(text)
        if match:
            size = 2**30 if match["binary"] else 10**9
            rates.add(float(match["rate"]) * size * (1000 if match["prefix"] == "T" else 1))
    if rates or not log.has("Locator: "):
        return only(rates)
    return _modules(log)


def _channels(log: Log) -> Iterator[float]:
    """What the channels carry that somebody counts next to the kind of the modules."""
    for line in log.having("hannel"):
        found = _OF_CHANNELS.search(line.text) if len(line.text) < LONGEST else None
        if found and not _SEVERAL.search(line.text) and not log.has("Socket(s):"):
            word = (found["word"] or found["word2"]).lower()
            clock = int(found["clock"] or found["clock2"])
            count = _CHANNELS.get(word) or int(word)
            if clock >= _LEAST_CLOCK[found["kind"] or found["kind2"]]:
                yield count * clock * 8e6


def _modules(log: Log) -> float | None:
    """What all modules together carry; None where one of them is not told whole, as where somebody
    shows one line of those that are alike."""
    places = set(_MODULE.findall(log.text))
    widths, clocks, types = (pattern.findall(log.text) for pattern in (_WIDTH, _CLOCK, _TYPE))
    widths = widths or ["64" if kind != "Unknown" else "" for kind in types]
    there = sum(map(bool, clocks))
    if not len(places) == len(widths) == len(clocks) or "Not Specified" in places:
        return None
    if (_cores(log) or 0) > _CPUS_OF_MODULE * there:
        return None
    modules = zip(clocks, widths, strict=True)
    return (
        sum(int(clock) * int(width) / 8 * 1e6 for clock, width in modules if clock and width)
        or None
    )


def _cores(log: Log) -> int | None:
    counts = set()
    for command in log.commands:
        if command.words == ("nproc",):
            # The first line below it that is not blank.
            below = [line.text.strip() for line in _below(log, command.number, _NEAR_LINES)]
            counts |= {int(text) for text in [*filter(None, below)][:1] if _COUNT.fullmatch(text)}
    if log.has("CPU(s):") and (cpus := _said(_CPUS, log.text)):
        counts.add(cpus)
    return only(counts)


def _physical_cores(log: Log) -> int | None:
    """Cores without their hardware threads."""
    if log.has("per socket:") and (each := _said(_OF_SOCKET, log.text)):
        sockets = _said(_SOCKETS, log.text)
        return each * sockets if sockets else None
    names = ("umber of Cores", "umber of cores", "hw.physicalcpu")
    return _said(_APPLE, log.text) if any(map(log.has, names)) else None


_TOTAL = late(r"^[ \t]*MemTotal: +(?P<kib>\d{4,12}) kB[ \t]*$", re.M)
_FREE = late(r"^[ \t]*Mem: +(?P<size>\d{1,6}(?:[.,]\d{1,2})?)(?P<prefix>[MGT])i\b", re.M)


def _machine_bytes(log: Log) -> int | None:
    """All memory of the machine: /proc/meminfo, or `free -h`, whose last digit may be rounded."""
    sizes = set()
    if log.has("MemTotal:"):
        sizes |= {int(found["kib"]) << 10 for found in _TOTAL.finditer(log.text)}
    elif log.has("Mem:"):
        powers = {"M": 20, "G": 30, "T": 40}
        for found in _FREE.finditer(log.text):
            size = float(found["size"].replace(",", "."))
            half = 0.05 if not float(size).is_integer() else 0.5
            sizes.add(round((size + half) * 2 ** powers[found["prefix"]]))
    return only(sizes)


def _below(log: Log, number: int, several: int) -> Sequence[Line]:
    """Lines that follow; a line of the file may be several here."""
    at = bisect_right(log.lines, number, key=lambda line: line.number)
    return log.lines[at : at + several]


def _said(pattern: re.Pattern[str], text: str) -> int | None:
    return only({int(match[1]) for match in pattern.finditer(text)})
