"""MPI: a compiler, and a launcher that starts as many processes as it is told."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.host.capabilities.place import Capability, Place, able, first, missing

NAMES = ("mpi",)
# MPICH by its full names, which exist beside Open MPI's; plain names where there is just one.
COMPILERS = ("mpicc.mpich", "mpicc")
LAUNCHERS = ("mpiexec.mpich", "mpiexec.hydra", "mpiexec")
PROGRAMS = (*COMPILERS, *LAUNCHERS)
FILES = ()


def look(place: Place) -> Iterator[Capability]:
    """MPI: start two processes that say a word each."""
    compiler, launcher = first(COMPILERS), first(LAUNCHERS)
    if compiler is None or launcher is None:
        yield missing("mpi", (LAUNCHERS if compiler else COMPILERS)[0])
        return
    answer = place.ask(launcher, "-n", "2", "echo", "here")
    if answer.out.split() == ["here", "here"]:
        sentence = f"{compiler}; {launcher} starts two processes"
        yield able("mpi", sentence, compiler=compiler, launcher=launcher)
        return
    state = "denied" if answer.refused else "absent"
    yield Capability("mpi", state, answer.why(f"{launcher} -n 2 echo here"))
