"""Units that keys of JSON, YAML and logs name: `mean_ms`, `latencyUs`, `ops_per_sec`."""

from __future__ import annotations

from functools import lru_cache

from benchbook.explain.lazy_regex import late

_CAMEL = late(r"(?<=[a-z\d])(?=[A-Z])")
_KEY = late(
    r"(?:^|(?P<name>.*?)[_ .-])(?:"
    r"(?P<time>ns|nsecs?|nanos|nanoseconds|us|µs|usecs?|micros|microseconds|ms|msecs?|millis"
    r"|milliseconds|s|secs?|seconds)(?:[_ ]?per[_ ]?(?:op|iter(?:ation)?))?"
    r"|(?P<size>[kmgt]i?b)(?:[_ /]per[_ ]|[_ /]p?)?s(?:ec(?:onds?)?)?"
    r"|(?P<packed>[KMGT]i?B)ps"
    r"|(?P<bits>[kmgt])b(?:it)?(?:ps|[_ ]?(?:per[_ ])?s(?:ec)?)"
    r"|(?P<flops>[kmgt])flop(?:s|_s|/s)"
    r"|(?P<counted>[a-z]{2,20})(?:[_ ]per[_ ]|[/_])s(?:ec(?:onds?)?)?"
    r"|(?P<rate>iops|qps|tps|rps|fps))$"
)
_TIMES = {"n": "ns", "u": "us", "µ": "us", "m": "ms", "s": "s"}
_RATES = {
    "iops": "operations/s", "qps": "queries/s", "tps": "transactions/s", "rps": "requests/s",
    "fps": "frames/s",
}  # fmt: skip
_COUNTED = {
    "ops": "operations", "op": "operations", "operations": "operations", "requests": "requests",
    "reqs": "requests", "req": "requests", "queries": "queries", "transactions": "transactions",
    "tokens": "tokens", "tok": "tokens", "frames": "frames", "messages": "messages",
    "msgs": "messages", "packets": "packets", "events": "events", "rows": "rows",
    "records": "records", "items": "items", "samples": "samples", "images": "images",
    "iterations": "iterations", "iters": "iterations", "calls": "calls",
}  # fmt: skip
_OF_PLACE = late(r"(?i)(?P<behind>[/_ ](?:per[_ ])?(?P<place>device|gpu|chip|core|node|thread))$")
_LONGEST = 60  # characters of a key


@lru_cache(maxsize=4096)  # records of JSON have the same keys
def named_unit(key: str) -> tuple[str, str]:
    """A key without its unit, and the unit; the key itself and "" where it names none."""
    if len(key) > _LONGEST:
        return key, ""
    if place := _OF_PLACE.search(key):
        name, unit = named_unit(key.removesuffix(place["behind"]))
        return (f"{name} per {place['place'].lower()}".strip(), unit) if unit else (key, "")
    text = _CAMEL.sub("_", key)
    found = _KEY.match(text if text.endswith("Bps") else text.lower())
    unit = _unit(found.groupdict()) if found else ""
    if found is None or not unit:
        return key, ""
    return (found["name"] or "").strip("_ .-"), unit


def _unit(found: dict[str, str | None]) -> str:
    if time := found["time"]:
        is_micro = time.startswith(("us", "µs", "micro"))
        return "us" if is_micro else _TIMES[time[0]]
    if size := found["size"] or found["packed"]:
        letter, binary = size[0].upper(), "i" in size[1:].lower()
        return f"{letter}iB/s" if binary else f"{'k' if letter == 'K' else letter}B/s"
    if bits := found["bits"]:
        return f"{bits if bits == 'k' else bits.upper()}bit/s"
    if flops := found["flops"]:
        return f"{flops.upper() if flops != 'k' else flops}flop/s"
    if rate := found["rate"]:
        return _RATES[rate]
    counted = _COUNTED.get(found["counted"] or "", "")
    return f"{counted}/s" if counted else ""
