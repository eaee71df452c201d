"""Graphics cards and accelerators on the PCI bus, and whether their link can be read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchbook.host.capabilities.place import Capability, Place, able
from benchbook.host.pcie import slowest
from benchbook.host.sysfs import read_text

NAMES = ("devices",)
PROGRAMS = ()
_BUS = "sys/bus/pci/devices"
FILES = (_BUS,)
_CLASSES = ("0x03", "0x12")  # display controllers, processing accelerators


def look(place: Place) -> Iterator[Capability]:
    """By their class; vendor and device are the numbers that lspci knows the names of."""
    folders = sorted((place.machine / _BUS).glob("*"))
    devices = [
        folder for folder in folders if (read_text(folder / "class") or "").startswith(_CLASSES)
    ]
    if devices:
        yield able("devices", "; ".join(map(_said, devices)))
    else:
        reason = "no graphics card and no accelerator on the PCI bus"
        yield Capability("devices", "absent", reason if folders else "no PCI bus is shown here")


def _said(folder: Path) -> str:
    vendor, device, speed, width = (
        read_text(folder / name)
        for name in ("vendor", "device", "current_link_speed", "current_link_width")
    )
    link = f"link {speed} x{width}" if speed and width else "its link is unknown"
    port = slowest(folder)
    if port and port.at != folder.resolve().name:
        link += f", below {port.gt_per_s:g} GT/s x{port.width} at {port.at}"
    return f"{folder.name} ({vendor}:{device}), {link}"
