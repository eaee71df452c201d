"""YAML files: read, and parsed into the models of models.py; a refusal is one sentence."""

from __future__ import annotations

import math
import os
import pickle
import stat
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from benchbook.core.errors import BenchbookError
from benchbook.define.models import Model
from benchbook.define.refusals import sentence, shown

# What PyYAML raises, beside its own errors, for text that it cannot make a value of.
BROKEN = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
_LARGEST = 2**63
MOST_BYTES = 16 << 20  # of a file; the longest of ours has 0.1 MB
MOST_VALUES = 1_000_000
_DEEP = 10_000  # brackets and columns, more than any definition has
_TAGS = {
    "int": "a number",
    "float": "a number",
    "bool": "true or false",
    "null": "null",
    "timestamp": "a date",
}
AnyModel = TypeVar("AnyModel", bound=Model)


class _KeyRefused(yaml.YAMLError):
    """A key that is valid YAML and yet not what its writer meant."""


class _Keys:
    """Of a loader: refuses keys that YAML takes for something else than text, and keys given
    twice."""

    def get_single_node(self) -> yaml.Node | None:
        """The document; _KeyRefused for the first mapping whose keys are refused, or where anchors
        repeat each other to too much."""
        root: yaml.Node | None = super().get_single_node()  # type: ignore[misc]
        left, looked_at, repeats = [root], set[int](), False
        while left:
            node = left.pop()
            if id(node) in looked_at:  # an anchor that is used again
                repeats = True
                continue
            looked_at.add(id(node))
            if isinstance(node, yaml.MappingNode):
                self._look_at_keys(node)
                left += reversed([value for _, value in node.value])
            elif isinstance(node, yaml.SequenceNode):
                left += reversed(node.value)
        if root is not None and repeats and _written_out(root, {}) > MOST_VALUES:
            raise _KeyRefused(
                f"its anchors (&) repeat each other to more than {MOST_VALUES:,} values; "
                "write fewer"
            )
        return root

    def _look_at_keys(self, node: yaml.MappingNode) -> None:
        seen = set()
        for key, _ in node.value:
            tag, line = key.tag.rsplit(":", 1)[-1], key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise _KeyRefused(f"the key at line {line} is a list or mapping; write text")
            if tag not in ("str", "merge"):
                raise _KeyRefused(
                    f"key {key.value} at line {line} is {_TAGS.get(tag, 'no text')} to YAML, and "
                    f'keys are text; put it in quotes: "{key.value}"'
                )
            if key.value in seen and tag == "str":
                raise _KeyRefused(
                    f"key {key.value!r} at line {line} stands twice in one mapping; "
                    "remove or rename one"
                )
            seen.add(key.value)


def _written_out(node: yaml.Node, sizes: dict[int, int]) -> int:
    """How many values a node has, those of anchors as often as they are used. One that is inside
    itself counts once: it is refused later. `sizes` are those that were counted."""
    if id(node) not in sizes:
        sizes[id(node)] = 1
        inside: list[yaml.Node] = []
        if isinstance(node, yaml.MappingNode):
            inside = [part for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            inside = node.value
        sizes[id(node)] += sum(_written_out(part, sizes) for part in inside)
    return sizes[id(node)]


class _Loader(_Keys, yaml.SafeLoader):
    """Stops at what is nested too deeply for it."""


class _FastLoader(_Keys, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Ten times as fast, where PyYAML has it; what is nested too deeply ends the process."""


@lru_cache(maxsize=256)
def _parsed(text: str) -> Any:
    """What the text of a YAML file says; each is asked for by many stages. Not to be changed."""
    # What is nested is inside so many brackets, or indented so far.
    nested = text.count("[") + text.count("{") + max(map(len, text.split("\n")))
    return yaml.load(text, _FastLoader if nested < _DEEP else _Loader)  # both are SafeLoaders


def value_of(text: str, origin: str) -> Any:
    """The value that a short text of YAML means; BenchbookError, a sentence about `origin`."""
    try:
        value = _parsed(text)
    except _KeyRefused as error:
        raise BenchbookError(f"{origin}: {error}") from None
    except (yaml.YAMLError, *BROKEN):
        raise BenchbookError(
            f"{origin} is {shown(text)}, which is not valid YAML; mend it or put it in quotes"
        ) from None
    return pickle.loads(pickle.dumps(value))


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file; BenchbookError where it is missing, broken or no mapping."""
    # Each reader gets a copy. With copy.deepcopy a start of the workflow took 0.1 s of CPU more.
    copied: dict[str, Any] = pickle.loads(_pickled(path, _text(path)))
    return copied


@lru_cache(maxsize=256)
def _pickled(path: Path, text: str) -> bytes:
    return pickle.dumps(_mapping(path, text))


def _text(path: Path) -> str:
    try:
        # Whoever opens a pipe that nobody writes to would wait for ever.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(handle, "rb") as stream:  # noqa: PTH123 - of a handle
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise BenchbookError(f"{path}: is no plain file; write one, or remove it")
            content = stream.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise BenchbookError(f"{path}: has more than {MOST_BYTES >> 20} MiB; write a short one")
        return content.decode()
    except OSError as error:
        raise BenchbookError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise BenchbookError(f"{path}: is not valid YAML; mend the file") from None


@lru_cache(maxsize=256)
def _mapping(path: Path, text: str) -> dict[str, Any]:
    """What `read_yaml` copies: many stages read the same file. Not to be changed."""
    try:
        content = _parsed(text)
    except _KeyRefused as error:
        raise BenchbookError(f"{path}: {error}") from None
    except (yaml.YAMLError, *BROKEN) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark else ""
        raise BenchbookError(f"{path}: is not valid YAML{where}; mend the file") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise BenchbookError(f"{path}: must be a mapping of keys to values")
    refuse_odd(content, str(path))
    return content


def refuse_odd(content: Any, origin: str, *where: str) -> None:
    """Refuse keys that are not text and numbers that are not finite, which no schema sees."""
    if len(where) > 20:  # deeper than any definition; an anchor within itself has no end
        raise BenchbookError(f"{origin}: key {where[0]!r} is nested too deeply; mend it")
    if isinstance(content, dict):
        for key, value in content.items():
            if not isinstance(key, str):
                inside = f" in {'.'.join(where)!r}" if where else ""
                raise BenchbookError(f"{origin}: key {key!r}{inside} is not text; put it in quotes")
            refuse_odd(value, origin, *where, key)
    elif isinstance(content, list):
        for place, value in enumerate(content):
            refuse_odd(value, origin, *where, str(place))
    elif (isinstance(content, float) and not math.isfinite(content)) or (
        isinstance(content, int) and abs(content) >= _LARGEST
    ):
        raise BenchbookError(
            f"{origin}: key {'.'.join(where)!r} is not a finite number below 2^63; write one"
        )


def parse(content: dict[str, Any], model: type[AnyModel], origin: str) -> AnyModel:
    """`content` as a model; BenchbookError, a sentence about `origin`, where it does not fit."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise BenchbookError(sentence(error, content, origin)) from None


@lru_cache(maxsize=256)
def _parsed_text(text: str, model: type[AnyModel], origin: str) -> AnyModel:
    """The model in the text of a YAML file; many stages read the same file. Not to be changed."""
    return parse(_parsed(text) or {}, model, origin)  # of an empty file, as read_yaml has it


def read(path: Path, model: type[AnyModel]) -> AnyModel:
    """The model that a YAML file defines. All who read the file share it: do not change it."""
    text = _text(path)
    content = _mapping(path, text)
    if content.get("version") not in (1, None):
        raise BenchbookError(
            f"{path}: format version {content['version']!r} is unknown; "
            "this Benchbook reads version 1"
        )
    return _parsed_text(text, model, str(path))


def load(path: Path, model: type[Model]) -> dict[str, Any]:
    """What a YAML file says, as it is written, once its model has accepted it.

    For callers that still take mappings: the keys are those of the file, without defaults.
    """
    read(path, model)
    return read_yaml(path)
