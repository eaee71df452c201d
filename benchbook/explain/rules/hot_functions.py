"""where-the-time-went: functions of a profile whose name alone says what a CPU does in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

TOOL, SHARE = "perf-record", "share of "
FEW = 200  # samples: of fewer a share says little
# By kind: the functions, and from which share of all samples on they are worth a word.
KINDS = (
    ("waits-in-barriers", 20.0, late(
        r"gomp_(?:team_|thread_)?barrier_wait|gomp_barrier_wait|__kmp_\w*(?:wait|barrier)"
        r"|kmp_flag_\d+.*wait|do_spin|do_wait$"
    )),
    ("waits-for-kernel-locks", 10.0, late(
        r"queued_spin_lock_slowpath|osq_lock|rwsem_spin|mutex_spin_on_owner|^do_raw_spin_lock$"
    )),
    ("zeroes-pages", 15.0, late(r"^clear_(?:huge_|user_)?page|clear_page_\w+")),
    ("is-idle", 30.0, late(
        r"^(?:intel_idle\w*|mwait_idle\w*|acpi_idle\w*|acpi_processor_ffh_cstate_enter|poll_idle"
        r"|cpuidle_enter\w*|default_idle\w*|native_safe_halt|pv_native_safe_halt|cpu_do_idle)$"
    )),
)  # fmt: skip


@rule
def hot_functions(reports: Sequence[Report]) -> Iterator[Finding]:
    """What has a large share of the samples and is no work of the program; each kind once."""
    lists = [
        [own for own in report.results if own.name.startswith(SHARE) and own.unit == "%"]
        for report in reports
        if report.tool == TOOL and _has_enough(report)
    ]
    for kind, least, functions in KINDS:
        several = [[own for own in shares if functions.search(_symbol(own))] for shares in lists]
        found = max(several, key=_whole, default=[])
        if found and least <= _whole(found) <= 100:
            most = max(found, key=lambda share: share.value)
            words = {"most": most, "symbol": _symbol(most), "whole": None, "count": None}
            if len(found) > 1:
                words |= {"whole": round(_whole(found), 2), "count": len(found)}
            yield finding(kind, words, about=[most])


def _whole(shares: Sequence[Result]) -> float:
    return sum(share.value for share in shares)


def _symbol(share: Result) -> str:
    return share.name.removeprefix(SHARE)


def _has_enough(report: Report) -> bool:
    samples = report.only("samples")
    return samples is None or samples.of.get("rounded") or samples.value >= FEW
