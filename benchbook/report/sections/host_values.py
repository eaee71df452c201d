"""What each host measured for one claim, on one axis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from benchbook.core import number_format
from benchbook.core.number_format import FIXED
from benchbook.report.chart import Chart, Row, chart
from benchbook.report.plots.palette import INK, PALETTE
from benchbook.report.sections import claims as claims_section
from benchbook.report.sections import first_screen, paper_panels
from benchbook.report.sections.claims import Claim

HOLDS = ("reproduced", "only", "resting")  # of claims_section.ORDER
COLUMNS = ("value (95 % interval)",)
MOST_OPEN, LEAST_OPEN = 6, 3  # pictures that are not folded: where hosts disagree, else the first


@dataclass
class ClaimRow:
    """A claim as each host judged it, by the host's name."""

    paper: str
    figure: str
    claim: str
    text: str
    claims: dict[str, Claim] = field(default_factory=dict)

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict on each host that judged it."""
        return {host: claims_section.verdict(claim) for host, claim in self.claims.items()}

    @property
    def differs(self) -> bool:
        """Whether it holds on one host and does not on another."""
        return len(set(map(_side, self.verdicts.values())) - {None}) > 1

    @property
    def summary(self) -> str:
        """`holds on 3 of 4`: of the hosts that decided, and how many did not."""
        counted = Counter(self.verdicts.values())
        holds = sum(counted[verdict] for verdict in HOLDS)
        decided = holds + counted["not_reproduced"]
        rest = number_format.plural(len(self.verdicts) - decided, "host")
        undecided = f"not decided on {rest}" if decided < len(self.verdicts) else ""
        parts = [f"holds on {holds} of {decided}" if decided else "", undecided]
        return ", ".join(filter(None, parts))


def _side(verdict: str) -> bool | None:
    """Whether a claim holds; None where that is not decided."""
    return True if verdict in HOLDS else False if verdict == "not_reproduced" else None


@dataclass(frozen=True)
class Values:
    """A claim with its picture, which is folded on a page with many."""

    row: ClaimRow
    chart: Chart
    folded: bool


def values(rows: Iterable[ClaimRow], own: str = "", least: int = 2) -> list[Values]:
    """The claims for which at least so many hosts have a value, those on which hosts disagree
    first; `own` is the host that is drawn in colour."""
    drawn = [
        (row, picture)
        for row in sorted(rows, key=lambda row: not row.differs)
        if sum(map(_has_value, row.claims.values())) >= least
        and (not own or own in row.claims)
        and (picture := of_claim(row.claims, own))
    ]
    shown = min(sum(row.differs for row, _ in drawn), MOST_OPEN) or LEAST_OPEN
    return [
        Values(row, picture, folded=place >= shown) for place, (row, picture) in enumerate(drawn)
    ]


def of_claim(claims: Mapping[str, Claim], own: str = "") -> Chart | None:
    """A row per host with value and interval, and shaded what counts as holding; None where no
    host has a value. The published values, of which there may be none, are the first row."""
    first = next(filter(_has_value, claims.values()), None)
    if first is None:
        return None
    bounds = (first["region"][0], first["region"][1])
    rows = [_host_row(host, claim, own) for host, claim in claims.items()]
    if first["published"]:
        there = first["published"][: paper_panels.MOST_MARKS]
        cells = (claims_section.published(first),)
        rows.insert(0, Row(label="published", published=there, bounds=bounds, cells=cells))
    return chart(
        f"{first['unit']}; shaded: what counts as holding ({claims_section.region(first)})",
        COLUMNS,
        rows,
        ratio=first["kind"] in (*claims_section.RATIOS, "beyond_host"),
        label="host",
    )


def _has_value(claim: Claim) -> bool:
    return claim.get("estimate") is not None


def _host_row(host: str, claim: Claim, own: str) -> Row:
    low, high = claim["interval"] or (None, None)
    here = claims_section.value(claim)
    return Row(
        label=f"{host} (this one)" if host == own else host,
        value=claim["estimate"],
        low=low,
        high=high,
        bounds=(claim["region"][0], claim["region"][1]),
        cells=(f"{here}{FIXED}{first_screen.SIGNS[claims_section.verdict(claim)]}",),
        colour=PALETTE[0] if host == own else INK,
        tip=f"{here}; counts as holding: {claims_section.region(claim)}",
    )
