"""Linux network namespaces without names: a file descriptor is all that holds one.

Nothing of them can be left behind: when the last process that has the descriptor ends, however it
ends, the kernel removes the namespace with its interfaces. Without root's rights they belong to a
user namespace of their own, in which this user has root's rights.
"""

from __future__ import annotations

import ctypes
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_ANSWER_BYTES = 200
_LIBC = ctypes.CDLL(None, use_errno=True)


class NotAllowedError(Exception):
    """The kernel made no namespace; says what was refused."""


def _call(what: str, status: int) -> None:
    if status != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def enter(net: int, user: int | None = None) -> None:
    """Move this process into namespaces, given as descriptors. OSError where that is refused."""
    if user is not None:
        _call("entering the user namespace", _LIBC.setns(user, _CLONE_NEWUSER))
    _call("entering the network namespace", _LIBC.setns(net, _CLONE_NEWNET))


@dataclass
class Namespaces:
    """Network namespaces by name, and the user namespace that owns them (None: the machine's)."""

    user: int | None = None
    net: dict[str, int] = field(default_factory=dict)

    def add(self, *names: str) -> None:
        """Make a namespace for each name. NotAllowedError where the kernel refuses."""
        for name in names:
            if not self.net and self.user is None:
                self._first(name)
            else:
                self.net[name] = self._made(owned=self.user is None)[-1]

    def _first(self, name: str) -> None:
        try:
            self.net[name] = self._made(owned=True)[-1]
        except NotAllowedError:  # not root, or root without its rights, as in a container
            self.user, self.net[name] = self._made(owned=False)

    def _made(self, *, owned: bool) -> list[int]:
        """Descriptors of what a child made and handed over: [user,] network."""
        new_user = not owned and self.user is None
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ids = os.geteuid(), os.getegid()
        child = os.fork()
        if child == 0:
            here.close()
            _make_in_child(there, ids, None if owned else self.user, new_user=new_user)
        there.close()
        with here:
            words, descriptors, _, _ = socket.recv_fds(here, _ANSWER_BYTES, 2)
        os.waitpid(child, 0)
        if not descriptors:
            raise NotAllowedError(words.decode() or "the namespace could not be made")
        return descriptors

    def entering(self, name: str) -> Callable[[], None]:
        """For Popen(preexec_fn=…): move into the namespace of that name."""
        user, net = self.user, self.net[name]
        return lambda: enter(net, user)

    def path(self, name: str) -> str:
        """The path at which a process that inherited the descriptors finds a namespace."""
        return f"/proc/self/fd/{self.net[name]}"

    def descriptors(self) -> tuple[int, ...]:
        """All descriptors, for a process that inherits them."""
        return (*(() if self.user is None else (self.user,)), *self.net.values())

    def close(self) -> None:
        """Close all descriptors; a namespace ends with the last process in it."""
        for descriptor in self.descriptors():
            with suppress(OSError):
                os.close(descriptor)
        self.user, self.net = None, {}


def _make_in_child(
    there: socket.socket, ids: tuple[int, int], user: int | None, *, new_user: bool
) -> None:
    """Make namespaces, send their descriptors or the reason, and end: it never returns."""
    try:
        try:
            if user is not None:
                _call("entering the user namespace", _LIBC.setns(user, _CLONE_NEWUSER))
            if new_user:
                _call("a user namespace", _LIBC.unshare(_CLONE_NEWUSER))
                _map_to_root(*ids)
            _call("a network namespace", _LIBC.unshare(_CLONE_NEWNET))
            names = ["user", "net"] if new_user else ["net"]
            made = [os.open(f"/proc/self/ns/{name}", os.O_RDONLY | os.O_CLOEXEC) for name in names]
            socket.send_fds(there, [b"made"], made)
        except OSError as error:
            there.send((error.strerror or str(error)).encode()[:_ANSWER_BYTES])
    finally:
        os._exit(0)


def _map_to_root(uid: int, gid: int) -> None:
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
    Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
