"""The Dockerfile's steps in a root made by debootstrap: no daemon and no registry are needed.

What this cannot show: that Docker builds the image and that the base image has what debootstrap's
smallest root has.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import NOT_COPIED, ROOT, without

pytestmark = pytest.mark.long

SUITE = "bookworm"
SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
NOBODY = 12345  # a user whom the image does not know
DOCKERFILE = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
# The machine's way to its package index, and what a certificate of it is called inside.
INDEX = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
CERTIFICATES = "/etc/index.pem"


def assigned(path: str) -> dict[str, str]:
    """The variables of all ENV lines."""
    lines = re.findall(r"(?m)^ENV (.*)", DOCKERFILE)
    variables = dict(word.split("=", 1) for line in lines for word in line.split())
    return {name: value.replace("$PATH", path) for name, value in variables.items()}


def inside(root: Path, script: str, *options: str, **more: str) -> str:
    """What a script prints in the root, in namespaces of its own."""
    mounts = "".join(
        f"mount {how} {root}/{name} && "
        for name, how in (
            ("proc", "-t proc proc"),
            ("dev", "--rbind /dev"),
            ("sys", "--rbind /sys"),
        )
    )
    variables = [f"{name}={value}" for name, value in more.items()]
    command = ["chroot", *options, str(root), "env", "-i", *variables, "sh", "-c", script]
    done = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "sh", "-c", f'{mounts} exec "$@"', "-", *command],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A root in which the steps of the Dockerfile were taken; 2 GB, removed afterwards."""
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        pytest.skip(
            "a root is made by root, with debootstrap (Debian: apt-get install debootstrap)"
        )
    targets = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(RELEASE) $(SITE)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    mirrors = re.findall(rf"(?m)^{SUITE} (\S+)", targets)
    if not mirrors:
        pytest.skip(f"apt's configuration names no mirror of {SUITE}")
    root = tmp_path_factory.mktemp("image") / "root"
    subprocess.run(
        ["debootstrap", "--variant=minbase", SUITE, root, mirrors[0]],
        check=True,
        capture_output=True,
    )
    for name in ("resolv.conf", "hosts"):
        shutil.copy(f"/etc/{name}", root / "etc")
    if certificates := INDEX.get("PIP_CERT"):
        shutil.copy(certificates, root / CERTIFICATES[1:])
        INDEX["PIP_CERT"] = CERTIFICATES
    shutil.copytree(ROOT, root / "benchbook", ignore=without(ROOT, *NOT_COPIED))
    (step,) = re.findall(r"(?m)^RUN (.*)", DOCKERFILE)
    before = {"PATH": SYSTEM, "HOME": "/root"}  # what the last ENV changes
    inside(root, f"cd /benchbook && {step}", **assigned(SYSTEM) | INDEX | before)
    yield root
    shutil.rmtree(root)


def test_a_user_without_rights_measures_a_checkout_of_his_own(image: Path) -> None:
    checkout = image / "work"
    shutil.copytree(ROOT, checkout, ignore=without(ROOT, *NOT_COPIED))
    subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", checkout], check=True)
    figure = "slocum2013-mbw/mbw-32"
    inside(
        image,
        f"cd /work && snakemake --config preset=tiny budget_s=30 figure={figure}",
        f"--userspec={NOBODY}:{NOBODY}",
        **assigned(SYSTEM),
    )
    assert (checkout / f"reports/figures/{figure}.html").stat().st_size > 2000
