"""What the kernel's check found at the destination, and what the operating system accounted."""

from __future__ import annotations

from statistics import median, median_low
from typing import Any

from benchbook.evidence.stage import Context, Row
from benchbook.records import journal

UNITS = {
    "minor_faults": "faults",
    "major_faults": "faults",
    "voluntary_switches": "switches",
    "involuntary_switches": "switches",
    "migrations": "migrations",
    "run_delay_ns": "ns",
    "on_cpu_ns": "ns",
    "wall_ns": "ns",
    "resident_bytes": "bytes",
    "buffers_bytes": "bytes",
    "buffers_resident_bytes": "bytes",
    "anonymous_bytes": "bytes",
    "anon_huge_bytes": "bytes",
    "steal_fraction": "1",
    "frequency_khz": "kHz",
    "work_done_fraction": "1",
    "destination_written_fraction": "1",
    "distinct_source_blocks": "blocks",
    "last_source_block": "block",
    "blocks_declared": "blocks",
    "transfers": "transfers",
    "bytes_sent": "bytes",
    "bytes_received": "bytes",
    "datagrams_sent": "datagrams",
    "datagrams_received": "datagrams",
    "receive_buffer_errors": "datagrams",
    "reference_cycles_per_ns": "cycles/ns",
    "timed_minor_faults": "faults",
    "minor_faults_per_call": "faults/call",
    "minor_faults_per_page": "faults/page",
    "pages_written": "pages",
    "socket_buffer_bytes": "bytes",
    "interface_packets_sent": "packets",
    "interface_packets_received": "packets",
    "device_mtu_bytes": "bytes",
    "delayed_acks": "acknowledgements",
    "tcp_retransmits": "segments",
    "round_trips": "round trips",
    "datagrams_lost": "datagrams",
    "sockets_opened": "sockets",
    "emulated_switches": "switches",
    "frames_dropped": "frames",
    "frames_resent": "frames",
    "frames_repeated": "frames",
    "ring_frames": "frames",
    "page_faults_caught": "faults",
    "pages_fetched": "pages",
    "twins": "pages",
    "diffs": "pages",
    "pages_written_by_several": "pages",
    "apart_bytes": "bytes",
    "far_polls": "polls",
    "far_serving_ns": "ns",
    "interrupt_delay_ns": "ns",
    "requests_sent": "requests",
    "sends_late": "requests",
    "lateness_ns": "ns",
    "bytes_to_device": "bytes",
    "bytes_from_device": "bytes",
    "orders_of_each_part": "orders",
    "orders_done_fraction": "1",
    "device_time_ns": "ns",
    "device_wall_ns": "ns",
    **{f"link_{when}_gt_per_s": "GT/s" for when in ("idle", "load", "most")},
    **{f"link_{when}_width": "lanes" for when in ("idle", "load", "most")},
    "processes": "processes",
    "start_skew_ns": "ns",
    "overlap_fraction": "1",
    "mean_relative_error": "1",
    "threads_used": "threads",
    "vector_bits": "bits",
}
# What it saw of its processes, and what the kernel told it.
OF_HARNESS = ("processes", "start_skew_ns", "overlap_fraction", "buffers_bytes")
# States of a link: between two of them lies none.
OF_LINK = ("gt_per_s", "width")
LINK = [f"link_{when}_{what}" for when in ("idle", "load", "most") for what in OF_LINK]
# Beside other work a transfer that nobody waited for may be over when somebody looks, in most
# starts: one start in which it was not tells what was timed.
AT_LEAST = ("orders_done_fraction",)
WHY_ABSENT = dict.fromkeys(
    LINK, "the device has no address on the PCI bus, or the kernel names no link of it"
)
OF_START = ("steal_fraction", "frequency_khz")  # of the whole start that a point was in


def rows(context: Context) -> list[Row]:
    """Per point and name the value over all invocations of complete blocks."""
    seen: dict[tuple[str, str, str], list[Any]] = {}
    complete = set(journal.progress(context.run).complete)
    for record in journal.read_lines(context.run / journal.JOURNAL):
        if record["kind"] != "invocation" or record["state"] != "ok":
            continue
        if record["block"] not in complete:
            continue
        for source, values in (
            ("destination check", record["observations"]),
            ("operating system", record["usage"]),
            ("operating system", {name: record["conditions"].get(name) for name in OF_START}),
        ):
            for name, value in values.items():
                origin = "harness" if name in OF_HARNESS else source
                seen.setdefault((record["point"], origin, name), []).append(value)
    return [
        {"experiment": context.experiment, "point": point, "name": name}
        | {**over_invocations(source, values, name), "unit": UNITS.get(name, "")}
        for (point, source, name), values in sorted(seen.items())
    ]


def over_invocations(source: str, values: list[Any], name: str = "") -> dict[str, Any]:
    """The median over invocations, of words all that were seen, the least of what is proved by any
    of them; `absent` where the system never gave a value, never 0."""
    observed = [value for value in values if value is not None]
    if not observed:
        reason = WHY_ABSENT.get(name, "this system does not account it")
        return {"value": None, "source": source, "state": "absent", "reason": reason}
    same = len(set(observed)) == 1
    reason = "the same in every invocation"
    if isinstance(observed[0], str):
        words = ", ".join(sorted(set(observed)))
        return {"value": words, "source": source, "state": "ok", "reason": reason * same}
    of_all = min if name in AT_LEAST else median_low if name in LINK else median
    if not same:
        what = "least" if name in AT_LEAST else "median"
        reason = f"{what} over invocations, from {min(observed)} to {max(observed)}"
    value = observed[0] if same else of_all(observed)
    return {"value": value, "source": source, "state": "ok", "reason": reason}
