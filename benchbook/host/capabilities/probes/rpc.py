"""Sun RPC: the program that makes stubs, and a library with which they make a program."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.host import link_libraries, tools
from benchbook.host.capabilities.place import Capability, Place, able, first, missing

NAMES = ("rpc",)
COMPILERS = ("gcc", "clang", "cc")
PROGRAMS = (link_libraries.RPCGEN, *COMPILERS)
HEADER, PACKAGE = "tirpc/rpc/rpc.h", "libtirpc-dev"
FILES = (f"usr/include/{HEADER}",)
# What is asked of both: a call that brings nothing.
_CALL = "program P { version V { void NOTHING(void) = 1; } = 1; } = 0x20000001;\n"
_USE = """#include "asked.h"
int main(void) {
    return nothing_1(NULL, NULL) == RPC_SUCCESS;
}
"""


def look(place: Place) -> Iterator[Capability]:
    """Make the stubs of a call, and build a program that makes it."""
    compiler = first(COMPILERS)
    if first((link_libraries.RPCGEN,)) is None or compiler is None:
        yield missing("rpc", link_libraries.RPCGEN if compiler else COMPILERS[0])
        return
    library = {"tirpc": {"header": "rpc/rpc.h", "below": "tirpc", "package": PACKAGE}}
    linked = link_libraries.find({"libraries": library}, [compiler])
    if linked.missing:
        yield Capability("rpc", "absent", linked.missing, tools.command(PACKAGE))
        return
    (place.folder / "asked.x").write_text(_CALL)
    (place.folder / "asked.c").write_text(_USE)
    for option, file in (("-h", "asked.h"), ("-l", "asked_clnt.c")):
        (place.folder / file).unlink(missing_ok=True)  # it overwrites nothing
        answer = place.ask(
            link_libraries.RPCGEN, *link_libraries.STYLE, option, "-o", file, "asked.x"
        )
        if not (place.folder / file).exists():
            yield Capability("rpc", "absent", answer.why(f"{link_libraries.RPCGEN} {option}"))
            return
    words = ["asked.c", "asked_clnt.c", link_libraries.UNWARNED, *linked.compile, *linked.link]
    answer = place.ask(compiler, *words, "-o", "asked")
    if answer.status == 0:
        yield able("rpc", f"{link_libraries.RPCGEN}; {compiler} links stubs with libtirpc")
        return
    yield Capability("rpc", "absent", answer.why(f"{compiler} with libtirpc"))
