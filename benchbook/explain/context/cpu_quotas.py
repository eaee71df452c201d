"""The CPU time that a container may use, by its command or by what somebody says of its limit."""

from __future__ import annotations

from bisect import bisect_left

from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report
from benchbook.explain.printed_digits import LONGEST
from benchbook.explain.readers.common.command_lines import option

_CONTAINERS = tuple((program, "run") for program in ("docker", "podman", "nerdctl"))
_CPUS_ASKED = late(r"\d{0,4}\.\d{1,4}|0*[1-9]\d{0,3}")
_OF_MAX = late(r"^(?P<quota>\d{4,8}) (?P<period>100000)$")
# Who compares a container with something else limits only one of both.
_COMPARED = late(r"(?i)\b(?:native|bare[ -]?metal|on the host|without (?:limits?|docker|quota))\b")
_LIMITS = (
    late(r"--limits[= ]['\"]?(?:\S*,)?cpu=(?P<cpus>\d{1,3}(?:\.\d{1,3})?)(?P<milli>\d*m)?"),
    late(r"--cpu-quota[= ](?P<quota>\d{4,8})\b(?:.*--cpu-period[= ](?P<period>\d{4,8})\b)?"),
    late(
        r"(?i)(?:\bcpu (?:limit|quota)s?|\b(?:docker|container|pod|cgroup)\b.{0,40}?"
        r"(?:limit\w*|quota|restricted))(?: is| of| to|:)? (?P<cpus>\d{1,3}(?:\.\d{1,2})?) "
        r"(?:v?CPUs?|cores?)\b|docker.{0,10}\u5206\u914d ?(?P<cores>\d{1,3}) ?\u6838"
    ),
)
_LIMIT_WORDS = ("--limits", "--cpu-quota", " 100000", "limit", "Limit", "quota", "\u6838")


def tell(log: Log, reports: list[Report]) -> None:
    """The CPU time of the container that the last command above a run started, or that somebody
    names for the only limit of the log."""
    if quota := _quota_named(log):
        for report in reports:
            report.facts |= {"cpu_quota": quota[0], "cpu_quota_line": quota[1]}
    if not log.has("--cpus"):
        return
    started = [command for command in log.commands if command.words[:2] in _CONTAINERS]
    for report in reports:
        above = bisect_left(started, report.line, key=lambda command: command.number)
        asked = option(started[above - 1], "--cpus").strip("\"'") if above else ""
        if _CPUS_ASKED.fullmatch(asked):
            line = started[above - 1].number
            report.facts |= {"cpu_quota": float(asked), "cpu_quota_line": line}


def _quota_named(log: Log) -> tuple[float, int] | None:
    """The CPUs that the one limit of the log gives, and its line; None where it has none, or
    several that differ."""
    quotas: dict[float, int] = {}
    patterns = (*_LIMITS, _OF_MAX) if log.has("cpu.max") else _LIMITS
    for line in log.having(*_LIMIT_WORDS):
        text = line.text.strip()
        for pattern in patterns if len(text) < LONGEST else ():
            if found := pattern.search(text):
                own = found.groupdict()
                if own.get("quota"):
                    cpus = int(own["quota"]) / int(own.get("period") or 100000)
                elif (own.get("milli") or "").endswith("m"):
                    cpus = float(f"{own['cpus']}{own['milli'][:-1]}") / 1000
                else:
                    cpus = float(own.get("cpus") or own.get("cores") or 0)
                if cpus > 0:
                    quotas.setdefault(cpus, line.number)
                break
    is_one = len(quotas) == 1 and not _COMPARED.search(log.text)
    return next(iter(quotas.items())) if is_one else None
