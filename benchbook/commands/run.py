"""List, check and remove the runs that are stored here."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from typing import Annotated

import typer

from benchbook.commands.options import ROOT, AsJson
from benchbook.core.errors import BenchbookError
from benchbook.core.number_format import plural
from benchbook.core.processes import measuring_lock
from benchbook.core.sizes import format_bytes
from benchbook.records import stored_runs
from benchbook.records.stored_runs import State
from benchbook.report import stored_runs_text

command = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__)
Id = Annotated[str, typer.Argument(metavar="ID", help="as `run list` prints it, or a folder")]
Ids = Annotated[list[str], typer.Argument(metavar="ID…", help="as `run list` prints them")]


@command.command("list")
def list_runs(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[HOST|EXPERIMENT]…", help="all where none is named"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print all runs: host, experiment, preset, time, samples, size, and which are complete."""
    runs = stored_runs.stored_runs(ROOT)
    for name in names or []:
        if not any(name in (run.host, run.experiment) for run in runs):
            raise BenchbookError(f"no run is of {name!r}; see `benchbook run list`")
    runs = [run for run in runs if not names or {run.host, run.experiment} & {*names}]
    content = stored_runs_text.as_json(runs)
    print(json.dumps(content, indent=1) if as_json else stored_runs_text.as_text(runs))


@command.command("show")
def show_run(name: Id, as_json: AsJson = False) -> None:
    """Print what is known of one run."""
    (run,) = stored_runs.chosen(ROOT, [name])
    content = stored_runs_text.one_as_json(run)
    print(json.dumps(content, indent=1) if as_json else stored_runs_text.one_as_text(run))


@command.command("verify")
def verify_runs(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]…", help="all runs where none is named")
    ] = None,
) -> None:
    """Compute all checksums anew; name each file that was changed since its run ended."""
    runs = stored_runs.chosen(ROOT, names) if names else stored_runs.stored_runs(ROOT)
    damaged = 0
    for run in runs:
        reasons = stored_runs.damage(ROOT, run)
        damaged += bool(reasons)
        for line in reasons or [stored_runs_text.sound(run, stored_runs.is_sealed(ROOT, run))]:
            print(f"{run.folder}: {line}")
    if damaged:
        raise BenchbookError(
            f"{damaged} of {plural(len(runs), 'run')} changed; restore the files that are named "
            "above from a copy, or remove the run by `benchbook run prune ID`"
        )


@command.command("prune")
def prune_runs(names: Ids) -> None:
    """Remove these runs, never the last complete one of an experiment on a host."""

    runs = stored_runs.chosen(ROOT, names)
    with ExitStack() as stack:
        if any(run.state is State.INCOMPLETE for run in runs):  # perhaps it is being measured
            stack.enter_context(measuring_lock("nothing: it removes runs", ROOT.absolute(), _say))
            runs = stored_runs.chosen(ROOT, names)
        stored_runs.prune(ROOT, runs)
    for run in runs:
        print(f"removed {run.folder}")
    print(f"{format_bytes(sum(run.size_bytes for run in runs))} are free again")


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr)
