"""The round trip of a path that somebody gives in words next to a test of it: `5 ms RTT`.

Rules only use it where other figures of the log fit it.
"""

from __future__ import annotations

from benchbook.explain.context.same_runs import lines_of_results
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report
from benchbook.explain.printed_digits import only

_TRIP = r"(?:RTT|rtt|[Rr]ound[- ]?trip(?: time| delay| latency)?|[Pp]ing(?: time)?|[Ll]atency)"
_NUMBER = r"(?P<{}>\d{{1,4}}(?:\.\d{{1,4}})?)"
_SAID = late(
    rf"(?<![\w.-]){_NUMBER.format('before')} ?(?:ms|msec|milliseconds?)\b"
    rf"(?: of| for)?(?: the)? {_TRIP}\b"
    rf"|\b{_TRIP}(?: (?:time|is|was|of|about|around|approximately|roughly|at))*(?: ?[:=~]+)? "
    rf"?~?{_NUMBER.format('behind')} ?(?:ms|msec|milliseconds?)\b"
)
_WORDS = ("RTT", "rtt", "ound trip", "ound-trip", "oundtrip", "ing ", "ing:", "atency")
_TOOLS = ("iperf", "iperf3", "netperf", "qperf")
_LONGEST, _MOST = 600, 500


def tell(log: Log, reports: list[Report]) -> None:
    """Give the transfers of the log a round trip that is said once, or always the same."""
    own = [report for report in reports if report.tool in _TOOLS]
    if not own:
        return
    taken = lines_of_results(reports)
    found: dict[float, int] = {}
    for line in log.having(*_WORDS)[:_MOST]:
        if line.number in taken or len(line.text) > _LONGEST:
            continue
        for match in _SAID.finditer(line.text):
            found.setdefault(float(match["before"] or match["behind"]), line.number)
    if (said := only(found)) and said > 0:
        for report in own:
            report.facts |= {"said_trip_s": said / 1e3, "said_trip_line": found[said]}
