"""Ratios that a text prints next to their two sides, divided again."""

from __future__ import annotations

import re
from collections.abc import Iterator

NUMBER = r"(\d[\d,]*(?:\.\d+)?)"
UNIT = r"\s?((?:[GMk]i?B|MiB)/s|[nµm]?s|[GMK]iB|B)"
# What stands between the sides may hold no other number with a unit.
SIDES_AROUND = re.compile(
    rf"{NUMBER}{UNIT}(?P<between>[^.;:]{{0,60}}?)\b(?:is|are|,) {NUMBER} times "
    rf"[^.;]{{0,90}}?\({NUMBER}{UNIT}\)"
)
SIDES_BEFORE = re.compile(
    rf"(?:shows|takes) {NUMBER}{UNIT}[^.;:]{{0,60}}?, [^.;:]*? {NUMBER} "
    rf"\(medians of the runs\): {NUMBER} times"
)


def value(text: str) -> tuple[float, float]:
    """A printed number, and half of what its last digit stands for."""
    plain = text.replace(",", "")
    decimals = len(plain.partition(".")[2])
    zeros = len(plain) - len(plain.rstrip("0")) if not decimals else 0
    return float(plain), 0.5 * 10.0 ** (zeros - decimals)


def printed_ratios(text: str) -> Iterator[tuple[str, str, str, str]]:
    """(sentence, top, bottom, ratio) of each; sides in one unit."""
    for match in SIDES_AROUND.finditer(text):
        top, unit, _, ratio, bottom, same = match.groups()
        if unit == same:
            yield match[0], top, bottom, ratio
    for match in SIDES_BEFORE.finditer(text):
        top, _, bottom, ratio = match.groups()
        yield match[0], top, bottom, ratio


def not_closing(text: str) -> list[str]:
    """Sentences whose ratio cannot be had from their sides, whatever their digits leave open."""
    wrong = []
    for sentence, *numbers in printed_ratios(text):
        (top, of_top), (bottom, of_bottom), (ratio, of_ratio) = map(value, numbers)
        least = (top - of_top) / (bottom + of_bottom) - of_ratio
        most = (top + of_top) / (bottom - of_bottom) + of_ratio
        if not least <= ratio <= most:
            wrong.append(sentence)
    return wrong
