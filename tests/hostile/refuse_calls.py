"""Run a program to which the kernel refuses some system calls, as containers do (EPERM).

python refuse_calls.py NUMBER,NUMBER... COMMAND [ARGUMENT...]
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

# From linux/filter.h, linux/seccomp.h and linux/prctl.h.
LOAD_NUMBER, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050001
NO_NEW_PRIVILEGES, SECCOMP, FILTER = 38, 22, 2


class Program(ctypes.Structure):
    """struct sock_fprog"""

    _fields_ = (("length", ctypes.c_ushort), ("rules", ctypes.c_void_p))


def refuse(numbers: list[int]) -> None:
    """From now on these calls fail, for this process and all that it starts."""
    rules = [(LOAD_NUMBER, 0, 0, 0)]
    rules += [(IF_EQUAL, len(numbers) - at, 0, number) for at, number in enumerate(numbers)]
    rules += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
    program = Program(len(rules), ctypes.cast(code, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.prctl(
        SECCOMP, FILTER, ctypes.byref(program), 0, 0
    ):
        raise OSError(ctypes.get_errno(), "no filter of system calls can be set here")


if __name__ == "__main__":
    refuse([int(number) for number in sys.argv[1].split(",")])
    os.execvp(sys.argv[2], sys.argv[2:])
