"""Settings and YAML files, read and checked with the standard library, yaml and jsonschema only.

Both the Snakefile (whose Python may lack everything else) and the command line load them here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from benchbook.errors import BenchbookError

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
SMALL = {"version"}  # keys nobody sets by hand


def read_yaml(path: Path) -> dict[str, Any]:
    """The mapping in a YAML file; BenchbookError where it is missing, broken or no mapping."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BenchbookError(f"{path}: cannot be read ({error.strerror})") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark else ""
        raise BenchbookError(f"{path}: is not valid YAML{where}; mend the file") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise BenchbookError(f"{path}: must be a mapping of keys to values")
    return content


def check(content: dict[str, Any], schema: str, origin: str) -> None:
    """Refuse `content` unless it fits schemas/<schema>.json; the sentence names key and remedy."""
    rules = json.loads((SCHEMAS / f"{schema}.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(rules)
    errors = sorted(validator.iter_errors(content), key=lambda error: error.path)
    if errors:
        raise BenchbookError(_sentence(_deepest(errors[0]), rules, origin))


def load(path: Path, schema: str) -> dict[str, Any]:
    """Read a YAML file and check it against a schema."""
    content = read_yaml(path)
    if content.get("version") not in (1, None):
        raise BenchbookError(
            f"{path}: format version {content['version']!r} is unknown; "
            "this Benchbook reads version 1"
        )
    check(content, schema, str(path))
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
    merged = _merge(merged, overrides)
    check(merged, "settings", "--config" if overrides else "config/default.yaml")
    return merged


def _merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        nested = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merge(merged[key], value) if nested else value
    return merged


def _deepest(error: jsonschema.ValidationError) -> jsonschema.ValidationError:
    """Behind an anyOf stand several complaints: keep the whole where none goes deeper."""
    deeper = [inner for inner in error.context or [] if len(inner.path)]
    return _deepest(deeper[0]) if deeper else error


def _allowed(error: jsonschema.ValidationError) -> str:
    limit = error.validator_value
    match error.validator:
        case "enum":
            return "allowed: " + ", ".join(map(str, limit))
        case "const":
            return f"allowed: {limit}"
        case "type":
            return f"it must be {_type(limit)}"
        case "minimum":
            return f"it must be at least {limit}"
        case "maximum":
            return f"it must be at most {limit}"
        case "exclusiveMinimum":
            return f"it must be above {limit}"
        case "exclusiveMaximum":
            return f"it must be below {limit}"
        case "pattern":
            return f"it must match {limit}"
        case "minItems":
            return f"it needs at least {limit} item"
        case "anyOf":
            return "allowed: " + " or ".join(_kind(option) for option in limit)
    return error.message


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
    if error.validator == "additionalProperties":
        known = sorted(set(error.schema.get("properties", {})) - SMALL)
        extra = sorted(set(error.instance) - set(error.schema.get("properties", {})))
        inside = f" in {where!r}" if where else ""
        return f"{origin}: key {extra[0]!r}{inside} is unknown; allowed: {', '.join(known)}"
    if error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        inside = f" in {where!r}" if where else ""
        return f"{origin}: key {missing[0]!r} is missing{inside}; add it"
    return f"{prefix} is {error.instance!r}; {_allowed(error)}"
