"""The command line: a command is a file of this package, which is loaded when it is called.

A file has `command`, a function with typer's annotations, or a typer.Typer of several commands.
"""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

PACKAGE = "benchbook.commands"
# What people type; what the rules of the workflow call is not listed.
LISTED = (
    *(
        "plan",
        "doctor",
        "explain",
        "ab",
        "ci",
        "history",
        "compare",
        "hosts",
        "run",
        "record",
        "export",
        "verify",
        "keep-count",
        "import",
        "settle",
    ),
    *("control", "bench", "serve", "new"),
)
FILES = {"import": "import_file"}  # Python keeps the word for itself


class Commands(TyperGroup):
    """The commands, each out of its file."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The commands that --help lists."""
        del ctx
        return list(LISTED)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command with its help alone, for lists: read from its file, which is not loaded."""
        path = _path(cmd_name)
        text = _help(path) if path else None
        return None if text is None else TyperCommand(cmd_name, help=text)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called, loaded."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and load(str(name)), rest


def load(name: str) -> Any:
    """The command of this name, as click runs it."""
    command = importlib.import_module(f"{PACKAGE}.{module_of(name)}").command
    if not isinstance(command, typer.Typer):
        function, command = command, typer.Typer(add_completion=False)
        command.command(name)(function)
    return typer.main.get_command(command)


def module_of(name: str) -> str:
    """The module of this package that holds a command."""
    return FILES.get(name, name.replace("-", "_"))


def _path(name: str) -> Path | None:
    base = Path(__file__).parent / module_of(name)
    files = (base.with_suffix(".py"), base / "__init__.py")
    return next((file for file in files if module_of(name).isidentifier() and file.is_file()), None)


def _help(path: Path) -> str | None:
    """The docstring of `command`, of several commands that of their module; None without one."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "command":
            return ast.get_docstring(node)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "command":
            return ast.get_docstring(tree)
    return None


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Reruns published performance experiments and shows which numbers you can trust.",
)


@app.callback()
def common(
    context: typer.Context,
    log: Annotated[Path | None, typer.Option(help="also write all messages to this file")] = None,
) -> None:
    """Options before the command."""
    if log is not None:
        from benchbook.core import stage_times
        from benchbook.core.files import Tee

        stage_times.note_at_exit(context.invoked_subcommand or "")
        sys.stderr = Tee(sys.stderr, log)
