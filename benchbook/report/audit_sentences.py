"""The sentences of the audit: what a check says, and what the checks of one slip say together."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from benchbook.audit.slips import MORE
from benchbook.core import number_format
from benchbook.findings import filled

Check = dict[str, Any]
CATALOGUE = Path(__file__).with_name("audit.toml")


def in_words(checks: list[Check]) -> list[Check]:
    """The checks of a paper, as audit.json has them, each with its sentence as `words`, what its
    rule `asks`, and its slip with `title`, `brief` and `words`.

    What was written before version 2 has them already.
    """
    return [_in_words(checks, check) for check in checks]


def sentence(check: Check) -> str:
    """What a check says."""
    return _filled(_catalogue()[check["rule"]]["text"], _words(check))


def _in_words(checks: list[Check], check: Check) -> Check:
    if "words" in check:
        return check
    asks = _catalogue()[check["rule"]]["asks"]
    slip = check["slip"] and _slip(checks, check["slip"])
    return check | {"words": sentence(check), "asks": asks, "slip": slip}


@cache
def _catalogue() -> dict[str, Any]:
    return tomllib.loads(CATALOGUE.read_text(encoding="utf-8"))


def _filled(text: Any, words: dict[str, Any]) -> str:
    return filled((text,) if isinstance(text, str) else text, words)


def _words(check: Check) -> dict[str, Any]:
    """All that the texts of one check may name."""
    value = check["value"] or None
    return {
        **check,
        "value": value,
        "title": _title(check),
        "heading": check["column"],
        "bound": check["facts"].get("value"),
        "slack": None if check["consistent"] else _slack(check["tolerance"]),
        **{name: _fact(fact) for name, fact in check["facts"].items() if name != "value"},
        "cause": _fact(check["cause"]),
    }


def _fact(fact: Any) -> Any:
    """A fact, with the reasons in it as words."""
    if isinstance(fact, dict):
        parts = {name: _fact(part) for name, part in fact.items()}
        return _filled(_catalogue()["reasons"][fact["code"]], parts)
    return [_fact(part) for part in fact] if isinstance(fact, list) else fact


def _slack(tolerance: float | None) -> str:
    """`rounding allows ± 0.005`."""
    shown = float(f"{tolerance or 0:.1g}")
    return f"rounding allows ±{number_format.FIXED}{shown:,.12g}"


def _slip(checks: list[Check], slip: dict[str, Any]) -> dict[str, Any]:
    """The slip with its title, in few words (`brief`) and in full (`words`)."""
    lead = checks[slip["lead"]]
    partner = None if slip["exchanged"] is None else checks[slip["exchanged"]]
    if partner:
        title, brief, text = _exchanged(lead, partner, slip["causes"])
    else:
        title, brief, text = _lead(lead, slip["kind"])
    further = [_further(code, checks[k]) for code, k in slip["further"]]
    own = {"title": title, "brief": brief, "words": " ".join([text, *further])}
    return {"slip": slip["slip"], "kind": slip["kind"], **own}


def _lead(lead: Check, kind: str) -> tuple[str, str, str]:
    words, texts, text = _words(lead), _catalogue()["slips"], sentence(lead)
    if kind == "claim":
        title, brief = (_filled(texts[name], words) for name in ("stated-title", "stated-brief"))
        return title, brief, text
    if words["value"]:
        row = {"row": lead["label"] or None}
        return _title(lead), _filled(texts["printed-brief"], words | row), text
    first = text.partition(". ")[0]  # what follows it is evidence
    return _title(lead), first[:1].lower() + first[1:].rstrip("."), text


def _exchanged(lead: Check, partner: Check, causes: list[Any]) -> tuple[str, str, str]:
    """Title, brief and words of two numbers that are exchanged."""
    is_one_column = lead["cells"][0]["column"] == partner["cells"][0]["column"]
    words = {
        **_words(lead),
        **{f"partner_{name}": partner[name] for name in ("label", "printed", "value", "where")},
        "title": ", ".join(lead["titles"]),
        "is_one_column": is_one_column,
        "column": lead["column"] if is_one_column else None,
        "causes": _fact(causes),
    }
    texts = _catalogue()["slips"]
    names = ("exchanged-title", "exchanged-brief", "exchanged")
    title, brief, text = (_filled(texts[name], words) for name in names)
    return title, brief, text


def _further(code: str, check: Check) -> str:
    """What another check of the slip adds."""
    return sentence(check) if code == MORE else _filled(_catalogue()["slips"][code], _words(check))


def _title(check: Check) -> str:
    """Where a check is: in which table, as the source calls it."""
    titles = check["titles"]
    return f"{titles[0]}: {check['where']}" if len(titles) == 1 else str(check["where"])
