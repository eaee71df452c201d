"""OpenCL: the loader, the platforms that it finds, and their devices as experiment hostdev counts
them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from benchbook.host import tools
from benchbook.host.capabilities.place import Capability, Place, able, first

NAMES = ("opencl",)
PROGRAMS = ("gcc",)
FILES = ("etc/OpenCL/vendors", "etc/ld.so.cache")
# Of both loaders that there are, and of PoCL, which may show several devices or none.
VARIABLES = (
    "LD_LIBRARY_PATH",
    "OCL_ICD_VENDORS",
    "OCL_ICD_FILENAMES",
    "OPENCL_VENDOR_PATH",
    "POCL_DEVICES",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
)
# A program of its own: a driver that crashes or hangs then hurts nobody.
_ASK = """
import ctypes, json, sys
for name in sys.argv[1:]:
    try:
        cl = ctypes.CDLL(name)
        break
    except OSError as error:
        print(json.dumps({"loader": None, "why": str(error)}))
else:
    sys.exit()
number = ctypes.c_uint(0)
code = cl.clGetPlatformIDs(0, None, ctypes.byref(number))
ids = (ctypes.c_void_p * number.value)()
cl.clGetPlatformIDs(number, ids, None)
names, devices = [], []
def device_info(device, what, kind):
    value = kind()
    cl.clGetDeviceInfo(
        ctypes.c_void_p(device), what, ctypes.sizeof(value), ctypes.byref(value), None
    )
    return value.value
for each in ids:
    text = ctypes.create_string_buffer(256)
    cl.clGetPlatformInfo(ctypes.c_void_p(each), 0x0902, ctypes.sizeof(text), text, None)
    names.append(text.value.decode(errors="replace"))
    count = ctypes.c_uint(0)
    own = (ctypes.c_void_p * 32)()
    every = ctypes.c_ulonglong(0xFFFFFFFF)
    if not hasattr(cl, "clGetDeviceIDs"):
        continue
    cl.clGetDeviceIDs(ctypes.c_void_p(each), every, 32, own, ctypes.byref(count))
    for device in own[: min(count.value, 32)]:
        host = device_info(device, 0x1000, ctypes.c_ulonglong) & 2
        host = host or device_info(device, 0x1035, ctypes.c_uint)
        title = device_info(device, 0x102B, ctypes.c_char * 256).decode(errors="replace")
        driver = device_info(device, 0x102D, ctypes.c_char * 256).decode(errors="replace")
        devices.append({"name": title, "is_host_memory": bool(host), "driver": driver})
print(json.dumps({"loader": name, "code": code, "names": names, "devices": devices}))
"""
_LIBRARY = "libOpenCL.so"
_NONE_FOUND = -1001  # CL_PLATFORM_NOT_FOUND_KHR


def told_device(number: int, device: dict[str, Any]) -> str:
    """`device 0: a name (host memory)`."""
    own = " (host memory)" if device["is_host_memory"] else ""
    return f"device {number}: {device['name']}{own}"


def look(place: Place) -> Iterator[Capability]:
    """The loader as programs find it, or where the compiler finds it (as under Nix)."""
    libraries = [f"{_LIBRARY}.1", _LIBRARY]
    if first(PROGRAMS):
        libraries.append(place.ask("gcc", f"-print-file-name={_LIBRARY}").out.strip())
    answer = place.ask(sys.executable, "-I", "-S", "-c", _ASK, *filter(None, libraries))
    try:
        answered: dict[str, Any] = json.loads(answer.out.splitlines()[-1])
    except (ValueError, IndexError):
        yield Capability("opencl", "absent", answer.why("asking OpenCL for its platforms"))
        return
    if answered["loader"] is None:
        reason = f"there is no OpenCL loader ({_LIBRARY}.1)"
        yield Capability("opencl", "absent", reason, tools.command("ocl-icd-libopencl1"))
    elif answered["names"]:
        count = len(answered["names"])
        sentence = f"{count} platform{'s' * (count > 1)}: {', '.join(answered['names'])}"
        sentence = "; ".join(
            [sentence, *map(told_device, range(len(answered["devices"])), answered["devices"])]
        )
        yield able("opencl", sentence, platforms=answered["names"], devices=answered["devices"])
    elif answered["code"] in (0, _NONE_FOUND):
        reason = "the OpenCL loader is there, and no platform (no driver is installed)"
        yield Capability("opencl", "absent", reason, tools.command("pocl-opencl-icd"))
    else:
        reason = f"the OpenCL loader says error {answered['code']}"
        yield Capability("opencl", "absent", reason)
