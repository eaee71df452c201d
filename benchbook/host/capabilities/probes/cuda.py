"""CUDA: the driver library, and its devices as experiment hostdev counts them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from benchbook.host.capabilities.place import Capability, Place, able
from benchbook.host.capabilities.probes.opencl import told_device

NAMES = ("cuda",)
PROGRAMS = ()
FILES = ("dev/nvidia0", "etc/ld.so.cache")
VARIABLES = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")
# A program of its own: a driver that crashes or hangs then hurts nobody.
_ASK = """
import ctypes, json, sys
try:
    cu = ctypes.CDLL(sys.argv[1])
except OSError as error:
    print(json.dumps({"library": None, "why": str(error)}))
    sys.exit()
code, count, devices = cu.cuInit(0), ctypes.c_int(0), []
if code == 0:
    cu.cuDeviceGetCount(ctypes.byref(count))
driver = ctypes.c_int(0)
if hasattr(cu, "cuDriverGetVersion"):
    cu.cuDriverGetVersion(ctypes.byref(driver))
for number in range(count.value):
    name, shared = ctypes.create_string_buffer(256), ctypes.c_int(0)
    cu.cuDeviceGetName(name, 256, number)
    cu.cuDeviceGetAttribute(ctypes.byref(shared), 18, number)
    title = name.value.decode(errors="replace")
    own = {"is_host_memory": bool(shared.value), "driver": str(driver.value)}
    devices.append({"name": title, **own})
print(json.dumps({"library": sys.argv[1], "code": code, "devices": devices}))
"""
_LIBRARY = "libcuda.so.1"


def look(place: Place) -> Iterator[Capability]:
    """The CUDA driver's devices, by the library as programs find it."""
    answer = place.ask(sys.executable, "-I", "-S", "-c", _ASK, _LIBRARY)
    try:
        answered: dict[str, Any] = json.loads(answer.out.splitlines()[-1])
    except (ValueError, IndexError):
        yield Capability("cuda", "absent", answer.why("asking CUDA for its devices"))
        return
    if answered["library"] is None:
        reason = f"there is no driver library of CUDA ({_LIBRARY})"
        yield Capability("cuda", "absent", reason)
    elif answered["devices"]:
        sentence = "; ".join(map(told_device, range(len(answered["devices"])), answered["devices"]))
        yield able("cuda", sentence, devices=answered["devices"])
    else:
        reason = f"the driver library of CUDA finds no device (cuInit says {answered['code']})"
        yield Capability("cuda", "absent", reason)
