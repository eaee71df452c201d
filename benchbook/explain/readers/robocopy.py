"""robocopy: the summary at its end, in English and German."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from benchbook.explain.lazy_regex import late
from benchbook.explain.readers.common.line_reader import LineReader, Reading, Run

TOOL = "robocopy"
_OPTIONS = late(r"^(?:Options|Optionen) ?: (?P<options>\S.{0,300})$")
_COUNTS = late(
    r"^(?P<what>Files|Dateien|Dirs|Verzeich\.) ?:\s+(?P<total>\d{1,12})\s+(?P<copied>\d{1,12})\s+"
    r"(?P<skipped>\d{1,12})\s+(?P<mismatch>\d{1,12})\s+(?P<failed>\d{1,12})\s+\d{1,12}$"
)
_BYTES = late(
    r"^Bytes ?:\s+(?P<total>\d+(?:\.\d+)?)(?: (?P<of_total>[kmgt]))?\s+"
    r"(?P<copied>\d+(?:\.\d+)?)(?: (?P<prefix>[kmgt]))?(?:\s+\S.*)?$"
)
_TIMES = late(
    r"^(?:Times|Zeiten) ?:\s+(?P<total>\d{1,4}:\d\d:\d\d)\s+(?P<copied>\d{1,4}:\d\d:\d\d)\b"
)
_SPEED = late(
    r"^(?:Speed|Geschwindigkeit) ?:\s+(?P<rate>[\d.,]{1,18}) (?P<unit>Bytes|Mega[Bb]ytes)"
    r"[/ ](?:sec|Sek|min|Min)\.?$"
)
_MOMENT = late(
    r"^(?P<what>Started|Gestartet|Ended|Beendet) ?: "
    r"(?P<text>\S.{5,60}?\d{1,2}:\d\d:\d\d(?: [AP]M)?)$"
)
_SIZES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_MONTHS = {
    "januar": "January", "februar": "February", "märz": "March", "mai": "May", "juni": "June",
    "juli": "July", "oktober": "October", "dezember": "December",
}  # fmt: skip
_FORMS = (
    "%A, %B %d, %Y %I:%M:%S %p", "%d %B %Y %H:%M:%S", "%A, %d %B %Y %H:%M:%S",
    "%A, %d. %B %Y %H:%M:%S", "%d. %B %Y %H:%M:%S",
)  # fmt: skip


@dataclass
class _Run(Run):
    """One start."""

    begun: datetime | None = None

    def finish(self) -> bool:
        """Whether it has a speed, or counts."""
        return any(own.name in ("throughput", "files") for own in self.results)


def _line(reading: Reading[_Run], text: str) -> None:
    run = reading.run
    if found := _MOMENT.match(text):
        moment = _moment(found["text"])
        if found["what"] in ("Started", "Gestartet"):
            run = reading.begin()
            run.begun = moment
        elif run.begun and moment and moment > run.begun:
            run.facts["elapsed_s"] = (moment - run.begun).total_seconds()
            run.facts["ended_in_line"] = reading.line.number
    elif found := _OPTIONS.match(text):
        run.facts["copy_options"] = found["options"]
    elif found := _COUNTS.match(text):
        if found["what"] in ("Files", "Dateien"):
            reading.show("files", float(found["copied"]), "files")
            if int(found["failed"]):
                reading.show("files that failed", float(found["failed"]), "files")
    elif found := _BYTES.match(text):
        moved = float(found["copied"]) * _SIZES[found["prefix"] or ""]
        run.facts["bytes_moved"] = moved
        reading.show("copied", moved / 1e9, "GB")
    elif found := _TIMES.match(text):
        reading.show("time of all threads", _seconds(found["total"]), "s")
        run.facts["copied_s"] = _seconds(found["copied"])
        reading.show("time of copying", _seconds(found["copied"]), "s")
    elif (found := _SPEED.match(text)) and found["unit"] == "Bytes":
        digits = found["rate"].replace(".", "").replace(",", "")
        reading.add("throughput", float(digits), "B/s", "mean")


def _seconds(text: str) -> float:
    hours, minutes, seconds = text.split(":")
    return int(hours) * 3600.0 + int(minutes) * 60 + int(seconds)


def _moment(text: str) -> datetime | None:
    """The moment that a line names, without its day of the week; None where nobody knows."""
    words = [_MONTHS.get(word.lower().strip(","), word) for word in text.split()]
    while words and not words[0][0].isdigit() and len(words) > 3 and words[0].endswith(","):
        words = words[1:]
    plain = " ".join(words)
    for form in (*_FORMS, "%B %d, %Y %I:%M:%S %p"):
        try:
            return datetime.strptime(plain, form)  # noqa: DTZ007 (both are of one clock)
        except ValueError:
            continue
    return None


read = LineReader(TOOL, _Run, _line)
