"""The speed of a link that somebody names in words next to a test of it: `a 25Gb NIC`, `10GbE`.

Rules only compare with it: what else is on the way, the log may not say.
"""

from __future__ import annotations

from benchbook.explain.context.same_runs import lines_of_results
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Log, Report
from benchbook.explain.printed_digits import only

_THING = (
    r"(?:NICs?|links?|networks?|LAN|switch(?:es)?|ethernet|interfaces?|ports?|uplinks?|adapters?|"
    r"fib(?:er|re)|network cards?|cards?|Mellanox|ConnectX\S*)"
)
_SAID = late(
    r"(?i)(?<![\w.,-])(?:(?P<speed>\d{1,3}(?:\.\d)?)[ -]?(?P<prefix>[GM])(?:"
    rf"b(?:it)?(?:/s|ps)?(?: |-)(?:\w[\w-]{{0,14}} ){{0,2}}{_THING}\b|bE\b)"
    rf"|(?P<giga>gigabit)(?: |-)(?:\w[\w-]{{0,14}} ){{0,1}}{_THING}\b)"
)
_WORDS = ("G", "g", "M")
_TOOLS = ("iperf", "iperf3", "netperf", "nuttcp", "ntttcp", "qperf", "text")
_LONGEST, _MOST = 600, 500
_NO_LINK = late(r"(?i)\b(?:expect\w*|should|want\w*|up to|instead|not|isn't|without|if)\b")


def tell(log: Log, reports: list[Report]) -> None:
    """Give the transfers of the log the speed of the one link that it names."""
    own = [report for report in reports if report.tool in _TOOLS]
    if not own:
        return
    taken = lines_of_results([report for report in reports if report.tool != "text"])
    found: dict[float, int] = {}
    for line in log.having(*_WORDS)[:_MOST]:
        if line.number in taken or len(line.text) > _LONGEST:
            continue
        for match in _SAID.finditer(line.text):
            if _NO_LINK.search(line.text[max(0, match.start() - 25) : match.start()]):
                continue
            scale = 1e9 if match["giga"] or match["prefix"] in "Gg" else 1e6
            found.setdefault(float(match["speed"] or 1) * scale, line.number)
    if (said := only(found)) and said > 0:
        for report in own:
            report.facts |= {"said_link_bits_per_s": said, "said_link_line": found[said]}
