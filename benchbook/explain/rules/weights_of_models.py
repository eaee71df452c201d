"""far-below-memory: how fast a model reads its weights, next to what the memory carries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchbook.explain.context.devices_of_models import is_of_models
from benchbook.explain.lazy_regex import late
from benchbook.explain.model import Report, Result
from benchbook.explain.rules import rule
from benchbook.explain.rules.common.devices import named_device, of_data_sheet
from benchbook.explain.rules.common.findings import finding
from benchbook.findings import Finding

_TEST = late(r"tg ?\d{1,6}")
_SIZE = late(r"(?P<value>\d{1,5}(?:\.\d{1,3})?) (?P<unit>[MG])iB")
_ON_GPU = late(r"(?i)\b(?:CUDA|ROCm|Vulkan|HIP|SYCL|OpenCL)")
# Models of which each token reads a part, by how they are called; of `?B` nobody knows.
_OF_EXPERTS = late(
    r"(?i)moe|\bA\d{1,3}(?:\.\d)?B\b|\d+x\d+B|\?B|oss|mixtral|deepseek|expert|maverick"
)
MOST, USUAL, LOW = 1.02, 0.55, 0.3  # of the peak
LEAST_BYTES = 2 * 2**30  # smaller models are held back by starting their kernels
ALL_LAYERS = 60  # -ngl: what people give for all of them is 99 or 999
SPREAD = 0.1  # of the mean: a rate that scatters by more is told elsewhere


@rule
def weights_of_models(report: Report) -> Iterator[Finding | str]:
    """Tokens a second times the size of the model: far below what the memory carries, or above it;
    a note where it is as usual.

    Decided by rows of llama-bench and the data sheet of the only device that the log names.
    """
    device = named_device(report)
    if report.tool != "table" or not device or not is_of_models(report):
        return
    peak = of_data_sheet(device, "memory")
    rows = [(own, size) for own in report.being("mean") if (size := _size(own))] if peak else []
    errors = {own.line: own for own in report.results if own.statistic in ("error", "stddev")}
    if not rows:
        return
    tokens, size = max(rows, key=lambda row: row[0].value * row[1])
    part = tokens.value * size / peak
    model = str(tokens.of["label_parts"]["model"])
    words: dict[str, Any] = {"tokens": tokens, "size": size, "rate": tokens.value * size}
    words |= {"peak": peak, "device": device, "part": part, "model": model}
    error = errors.get(tokens.line)
    is_steady = error is None or error.value <= SPREAD * tokens.value
    if part > MOST:
        yield finding("more-than-all-weights", words).explanation
    elif _OF_EXPERTS.search(model) or size < LEAST_BYTES or not is_steady:
        return
    elif part < LOW:
        yield finding("weights-read-slowly", words, about=[tokens])
    elif part >= USUAL:
        yield finding("weights-read-as-usual", words).explanation


def _size(own: Result) -> float:
    """The bytes of the model of a row that generates tokens on a GPU; 0 for other rows."""
    parts = own.of.get("label_parts")
    if not isinstance(parts, dict) or not _TEST.fullmatch(str(parts.get("test"))):
        return 0.0
    layers, size = str(parts.get("ngl", "99")), _SIZE.fullmatch(str(parts.get("size")))
    is_whole = layers.isdecimal() and int(layers) >= ALL_LAYERS
    if not is_whole or not _ON_GPU.match(str(parts.get("backend"))) or size is None:
        return 0.0
    return float(size["value"]) * (2**30 if size["unit"] == "G" else 2**20)
