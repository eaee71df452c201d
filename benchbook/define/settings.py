"""Settings and YAML files, read and checked with the standard library, yaml and jsonschema only.

Both the Snakefile (whose Python may lack everything else) and the command line load them here.
"""

from __future__ import annotations

import copy
import json
import math
import re
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from benchbook.core.errors import BenchbookError

SCHEMAS = Path(__file__).parent / "schemas"
PRESETS = ("tiny", "quick", "paper")
# These change what is measured, so they enter a run's fingerprint; the others may change freely.
MEASURING = (
    "budget_s",
    "target_half_width",
    "point_s",
    "samples_least",
    "samples_most",
    "sample_least_ns",
    "warmup",
    "time_limit_s",
    "anchor_every_s",
    "disturbed",
)
# What it is told beside them; a change of another setting measures nothing.
PLANNING = (
    "preset",
    "figure",
    "again",
    "memory_fraction",
    "controls_budget_s",
    "looks",
    "udp_peer",
    "hostdev_device",
)
SMALL = {"version"}  # keys nobody sets by hand
# What PyYAML raises, beside its own errors, for text that it cannot make a value of.
BROKEN = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
NAME = r"^[A-Za-z0-9][A-Za-z0-9._+-]*$"
_LARGEST = 2**63
_DEEP = 10_000  # brackets and columns, more than any definition has
_SHOWN = 80  # characters of a refused value
_TAGS = {
    "int": "a number",
    "float": "a number",
    "bool": "true or false",
    "null": "null",
    "timestamp": "a date",
}
# 8.0 is no whole number here: what counts in whole numbers would fail on it later.
_Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


class _KeyRefused(yaml.YAMLError):
    """A key that is valid YAML and yet not what its writer meant."""


class _Keys:
    """Of a loader: refuses keys that YAML takes for something else than text, and keys given
    twice."""

    def get_single_node(self) -> yaml.Node | None:
        """The document; _KeyRefused for the first mapping whose keys are refused."""
        root: yaml.Node | None = super().get_single_node()  # type: ignore[misc]
        left, looked_at = [root], set[int]()
        while left:
            node = left.pop()
            if id(node) in looked_at:  # an anchor that is used again
                continue
            looked_at.add(id(node))
            if isinstance(node, yaml.MappingNode):
                self._look_at_keys(node)
                left += reversed([value for _, value in node.value])
            elif isinstance(node, yaml.SequenceNode):
                left += reversed(node.value)
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


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file; BenchbookError where it is missing, broken or no mapping."""
    try:
        content = copy.deepcopy(_parsed(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise BenchbookError(f"{path}: cannot be read ({error.strerror})") from None
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
    _refuse_odd(content, str(path))
    return content


def _refuse_odd(content: Any, origin: str, *where: str) -> None:
    """Refuse keys that are not text and numbers that are not finite, which no schema sees."""
    if len(where) > 20:  # deeper than any definition; an anchor within itself has no end
        raise BenchbookError(f"{origin}: key {where[0]!r} is nested too deeply; mend it")
    if isinstance(content, dict):
        for key, value in content.items():
            if not isinstance(key, str):
                inside = f" in {'.'.join(where)!r}" if where else ""
                raise BenchbookError(f"{origin}: key {key!r}{inside} is not text; put it in quotes")
            _refuse_odd(value, origin, *where, key)
    elif isinstance(content, list):
        for place, value in enumerate(content):
            _refuse_odd(value, origin, *where, str(place))
    elif (isinstance(content, float) and not math.isfinite(content)) or (
        isinstance(content, int) and abs(content) >= _LARGEST
    ):
        raise BenchbookError(
            f"{origin}: key {'.'.join(where)!r} is not a finite number below 2^63; write one"
        )


def check(content: dict[str, Any], schema: str, origin: str) -> None:
    """Refuse `content` unless it fits schemas/<schema>.json; the sentence names key and remedy."""
    validator = _validator(schema)
    errors = sorted(
        validator.iter_errors(content), key=lambda error: [str(part) for part in error.path]
    )
    if errors:
        raise BenchbookError(_sentence(_deepest(errors[0]), validator.schema, origin))


@lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    return _Validator(json.loads((SCHEMAS / f"{schema}.json").read_text(encoding="utf-8")))


@lru_cache(maxsize=256)
def _checked(text: str, schema: str, origin: str) -> None:
    """`check` of the text of a YAML file; what was found good is not checked again."""
    check(_parsed(text) or {}, schema, origin)  # of an empty file, as read_yaml has it


def load(path: Path, schema: str) -> dict[str, Any]:
    """Read a YAML file and check it against a schema."""
    content = read_yaml(path)
    if content.get("version") not in (1, None):
        raise BenchbookError(
            f"{path}: format version {content['version']!r} is unknown; "
            "this Benchbook reads version 1"
        )
    _checked(path.read_text(encoding="utf-8"), schema, str(path))
    return content


def load_settings(root: Path, overrides: dict[str, Any]) -> dict[str, Any]:
    """Merged settings: default, preset, local.yaml, then `overrides` (--config)."""
    default = root / "config" / "default.yaml"
    local = root / "config" / "local.yaml"
    layers = [(default, read_yaml(default))]
    personal = read_yaml(local) if local.exists() else {}
    preset = {**layers[0][1], **personal, **overrides}.get("preset")
    preset_file = root / "config" / f"{preset}.yaml"
    if preset in PRESETS and preset_file.exists():
        layers.append((preset_file, read_yaml(preset_file)))
    layers.append((local, personal))
    merged: dict[str, Any] = {}
    for path, layer in layers:
        merged = _merge(merged, layer)
        if layer:
            # Judged as soon as it is laid on, so that the sentence names its file.
            check(merged, "settings", f"{path.parent.name}/{path.name}")
    _refuse_odd(overrides, "--config")
    merged = _merge(merged, overrides)
    check(merged, "settings", "--config" if overrides else "config/default.yaml")
    origins = [(f"{path.parent.name}/{path.name}", layer) for path, layer in layers]
    _check_together(merged, [*origins, ("--config", overrides)])
    return merged


def _check_together(merged: dict[str, Any], layers: list[tuple[str, dict[str, Any]]]) -> None:
    """Refuse settings that do not fit each other; the sentence names the last file to set one."""

    def origin(*keys: str) -> str:
        return [name for name, layer in layers if set(keys) & set(layer)][-1]

    least, most, looks = merged["samples_least"], merged["samples_most"], merged["looks"]
    if least > most:
        raise BenchbookError(
            f"{origin('samples_least', 'samples_most')}: key 'samples_least' is {least}, above "
            f"'samples_most' ({most}); lower the one or raise the other"
        )
    if any(later <= earlier for earlier, later in pairwise(looks)):
        raise BenchbookError(
            f"{origin('looks')}: key 'looks' is {looks}; its numbers must rise: "
            f"{sorted(set(looks))}"
        )


def _merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        nested = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merge(merged[key], value) if nested else value
    return merged


def _deepest(error: jsonschema.ValidationError) -> jsonschema.ValidationError:
    """Behind an anyOf stand several complaints: keep the whole where none goes deeper."""
    if "discriminator" in error.schema and isinstance(error.instance, dict):
        return _of_kind(error)
    deeper = [inner for inner in error.context or [] if len(inner.path)]
    return _deepest(deeper[0]) if deeper else error


def _of_kind(error: jsonschema.ValidationError) -> jsonschema.ValidationError:
    """Of several kinds of a thing only the complaint of the kind that it names."""
    key, kinds = (error.schema["discriminator"][one] for one in ("propertyName", "mapping"))
    if key not in error.instance:
        return jsonschema.ValidationError(
            "", validator="required", validator_value=[key], instance=error.instance, parent=error
        )
    named = error.instance[key]
    if not isinstance(named, str) or named not in kinds:
        return jsonschema.ValidationError(
            "",
            validator="enum",
            validator_value=sorted(kinds),
            instance=named,
            path=[key],
            parent=error,
        )
    branch = [one["$ref"] for one in error.schema["oneOf"]].index(kinds[named])
    own = [inner for inner in error.context or [] if inner.schema_path[0] == branch]
    return _deepest(own[0])


def _allowed(error: jsonschema.ValidationError) -> str:
    limit = error.validator_value
    match error.validator:
        case "enum":
            return "allowed: " + ", ".join(map(str, limit))
        case "const":
            return f"allowed: {limit}"
        case "type":
            quoted = limit == "string" and not isinstance(error.instance, dict | list)
            return f"it must be {_type(limit)}" + ("; put it in quotes" if quoted else "")
        case "minimum":
            return f"it must be at least {limit}"
        case "maximum":
            return f"it must be at most {limit}"
        case "exclusiveMinimum":
            return f"it must be above {limit}"
        case "exclusiveMaximum":
            return f"it must be below {limit}"
        case "pattern":
            return _pattern(limit)
        case "minItems":
            return f"it needs at least {limit} item{'s' if limit != 1 else ''}"
        case "maxItems":
            return f"it takes at most {limit} item{'s' if limit != 1 else ''}"
        case "minProperties":
            return "it needs at least one key"
        case "anyOf":
            return "allowed: " + " or ".join(_kind(option) for option in limit)
    return error.message


def _pattern(pattern: str) -> str:
    if pattern == NAME:
        return "allowed: letters, digits and . _ + -, the first a letter or a digit"
    return f"it must match {pattern}"


def _kind(option: dict[str, Any]) -> str:
    if "pattern" in option:
        return f"text that matches {option['pattern']}"
    if "enum" in option:
        return ", ".join(map(str, option["enum"]))
    return _type(option.get("type", option.get("$ref", "?").rsplit("/", 1)[-1]))


def _type(name: str | list[str]) -> str:
    names = {
        "integer": "a whole number",
        "number": "a number",
        "string": "text",
        "array": "a list",
        "object": "a mapping",
        "null": "null",
        "boolean": "true or false",
    }
    return " or ".join(names.get(one, one) for one in ([name] if isinstance(name, str) else name))


def _sentence(error: jsonschema.ValidationError, rules: dict[str, Any], origin: str) -> str:
    where = ".".join(str(part) for part in error.absolute_path)
    prefix = f"{origin}: key {where!r}" if where else f"{origin}:"
    inside = f" in {where!r}" if where else ""
    if error.validator == "additionalProperties":
        patterns = error.schema.get("patternProperties", {})
        known = sorted(set(error.schema.get("properties", {})) - SMALL)
        extra = sorted(
            key
            for key in set(error.instance) - set(error.schema.get("properties", {}))
            if not any(re.search(pattern, key) for pattern in patterns)
        )
        for pattern in patterns:
            return f"{origin}: key {_shown(extra[0])}{inside} is not a name; {_pattern(pattern)}"
        return f"{origin}: key {_shown(extra[0])}{inside} is unknown; allowed: {', '.join(known)}"
    if error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        return f"{origin}: key {missing[0]!r} is missing{inside}; add it"
    if "propertyNames" in error.absolute_schema_path:
        return f"{origin}: key {_shown(error.instance)}{inside} is unknown; {_allowed(error)}"
    return f"{prefix} is {_shown(error.instance)}; {_allowed(error)}"


def _shown(value: Any) -> str:
    text = repr(value) if isinstance(value, str | dict | list) else str(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
