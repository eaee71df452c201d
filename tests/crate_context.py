"""The profile's own validator, without network: the context that it wants comes from rocrate.

Run as a program: `python crate_context.py CRATE SEVERITY` prints the failed checks, one a line.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import rocrate
from rocrate_validator import services
from rocrate_validator.models import Severity, ValidationSettings
from rocrate_validator.utils.http import HttpRequester

# rocrate ships the context of RO-Crate 1.3; of what our archives use, these were named otherwise in
# 1.1, the version that the profile extends.
BIOSCHEMAS = "https" + "://bioschemas.org/"
OF_1_1 = {
    "ComputationalWorkflow": f"{BIOSCHEMAS}ComputationalWorkflow",
    "FormalParameter": f"{BIOSCHEMAS}FormalParameter",
    "input": f"{BIOSCHEMAS}ComputationalWorkflow#input",
    "output": f"{BIOSCHEMAS}ComputationalWorkflow#output",
}
ADDRESS = "https" + "://w3id.org/ro/crate/1.1/context"


def answer(address: str, **_: Any) -> Any:
    """What the network would answer."""
    if address != ADDRESS:
        raise ConnectionError(f"{address}: nothing is fetched in a test")
    content = json.loads((Path(rocrate.__file__).parent / "data/ro-crate.jsonld").read_text())
    content["@context"] |= OF_1_1
    headers = {"Content-Type": "application/ld+json"}
    return SimpleNamespace(
        status_code=200,
        headers=headers,
        json=lambda: content,
        text=json.dumps(content),
        url=address,
    )


def failed(crate: Path, severity: str) -> list[str]:
    """The checks of this severity or a higher one that a crate fails."""
    HttpRequester.get = staticmethod(answer)
    settings = ValidationSettings(
        rocrate_uri=str(crate),
        profile_identifier="workflow-run-crate-0.5",
        requirement_severity=Severity[severity],
    )
    result = services.validate(settings)
    return [
        f"{issue.severity.name} {issue.check.identifier}: {issue.message}"
        for issue in result.get_issues()
    ]


if __name__ == "__main__":
    print(*failed(Path(sys.argv[1]), sys.argv[2]), sep="\n")
