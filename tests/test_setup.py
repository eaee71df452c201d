"""scripts/setup: what it installs, names, repeats and leaves alone; all programs are stand-ins."""

import hashlib
import re
import signal
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from setup_place import BRINGS_UV, PYTHON, RPC_HEADER, UV, Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


# --- Debian packages


def installations(place: Place) -> list[str]:
    """Return the packages of each recorded call of apt-get that installs."""
    calls = place.calls("apt-get")
    return [call.split(" install ")[1] for call in calls if " install " in call]


def test_all_that_is_absent_is_installed_by_one_call(place):
    place.remove("gcc", "rpcgen", "chromium")
    (place.vendors / "made-up.icd").unlink()
    place.installs("gcc", "rpcgen", "chromium")
    done = place.set_up("test")
    assert done.returncode == 0, done.stderr
    driver = "ocl-icd-libopencl1 pocl-opencl-icd"
    assert installations(place) == [f"gcc libc6-dev {driver} rpcsvc-proto chromium"]


def test_packages_are_installed_while_the_venv_is_made(place):
    place.remove("objdump")
    stamp = ".venv/benchbook-run.stamp"
    wait = f"timeout 60 sh -c 'until [ -e {stamp} ]; do sleep 0.1; done' || exit 100"
    place.installs("objdump", condition=wait)
    done = place.set_up()
    assert done.returncode == 0, done.stderr
    assert installations(place) == ["binutils"]


def test_only_what_is_required_is_installed_before_a_python(place):
    script = place.root / "scripts/setup"
    script.write_text(script.read_text().replace(" /usr/bin/python3", ""))
    python = (place.bin / "python3").rename(place.root.parent / "python3")
    place.remove("objdump", "rpcgen")
    place.installs(
        "objdump",
        condition=f'cat "{python}" > "{place.bin}/python3"; chmod +x "{place.bin}/python3"',
    )
    done = place.set_up()
    assert done.returncode == 0, done.stderr
    assert installations(place) == ["binutils python3 python3-venv", "rpcsvc-proto"]


def test_what_cannot_be_installed_takes_nothing_required_with_it(place):
    place.remove("gcc", "rpcgen")
    place.installs("gcc", condition='case "$*" in *rpcsvc-proto*) exit 100 ;; esac')
    done = place.set_up()
    assert done.returncode == 0, done.stderr
    assert installations(place)[-2:] == ["gcc libc6-dev", "rpcsvc-proto"]
    assert "not installed: rpcgen" in done.stderr
    assert (place.root / "build/no-points").exists()


def test_an_absent_program_is_named_before_it_is_installed(place):
    place.remove("gcc")
    place.installs("gcc")
    done = place.set_up()
    assert done.returncode == 0, done.stderr
    named = done.stderr.index("missing here: gcc (compiles the kernels)")
    assert named < done.stderr.index("installing by apt-get: gcc libc6-dev")
    (call,) = place.calls("apt-get", "sudo")
    assert call.endswith("install gcc libc6-dev")


def test_nothing_absent_means_no_apt_get(place):
    assert place.set_up().returncode == 0
    assert place.calls("apt-get") == []


def test_package_lists_are_fetched_when_the_first_try_fails(place):
    place.remove("objdump")
    marker = place.root / "lists"
    place.installs(
        "objdump",
        condition=f'case "$*" in *update) > "{marker}" ;; esac; [ -f "{marker}" ] || exit 100',
    )
    done = place.set_up()
    assert done.returncode == 0, done.stderr
    verbs = [re.search(r"install|update", c.split("Timeout")[1])[0] for c in place.calls("apt-get")]
    assert verbs == ["install", "update", "install"]


def test_sudo_when_not_root(place):
    place.remove("gcc")
    place.installs("gcc")
    place.stand_in("id", "echo 1000")
    place.stand_in("sudo", 'exec "$@"')
    done = place.set_up()
    assert done.returncode == 0, done.stderr
    assert "installing by sudo apt-get: gcc libc6-dev" in done.stderr
    assert any(call.startswith("sudo env DEBIAN_FRONTEND") for call in place.calls("sudo"))


def test_neither_root_nor_sudo_names_the_command(place):
    place.remove("gcc")
    place.stand_in("id", "echo 1000")
    done = place.set_up()
    assert done.returncode == 1
    assert "gcc (compiles the kernels)" in done.stderr
    assert "as root: apt-get install -y gcc libc6-dev" in done.stderr
    assert place.calls("apt-get", "uv") == []
    assert not (place.root / ".venv").exists()


def test_without_apt_get_the_absent_ones_are_named(place):
    place.remove("gcc", "objdump", "apt-get")
    done = place.set_up()
    assert done.returncode == 1
    assert "gcc (compiles the kernels), objdump" in done.stderr
    assert "no apt-get" in done.stderr


def test_what_is_required_and_cannot_be_installed_ends_the_set_up(place):
    place.remove("gcc")
    place.stand_in("apt-get", "echo no such package >&2; exit 100")
    done = place.set_up()
    assert done.returncode == 1
    assert "no such package" in done.stderr
    assert "cannot install gcc (compiles the kernels)" in done.stderr
    assert "ready" not in done.stderr


def test_an_installation_that_changes_nothing_is_an_error(place):
    place.remove("objdump")
    done = place.set_up()
    assert done.returncode == 1
    assert "still missing after the installation: objdump" in done.stderr


def test_an_old_python_is_not_taken(place):
    place.stand_in("python3", 'case "$2" in *version_info*) echo ;; esac')
    place.stand_in("python3.12", PYTHON)
    assert place.set_up().returncode == 0
    assert [call.split()[0] for call in place.calls() if "-m venv" in call] == ["python3.12"]


def test_test_tools_are_installed_for_the_tests_only(place):
    tools = ("chromium", "clang", "valgrind", "mbw", "likwid-bench")
    place.remove(*tools)
    assert place.set_up().returncode == 0
    assert place.calls("apt-get") == []
    place.installs(*tools)
    assert place.set_up("test").returncode == 0
    (call,) = place.calls("apt-get")
    ours = "clang libclang-rt-dev libomp-dev chromium valgrind"
    assert call.endswith(f"install {ours} mbw likwid")


def test_without_a_driver_of_opencl_one_in_host_memory_is_installed(place):
    (place.vendors / "made-up.icd").unlink()
    done = place.set_up()
    assert done.returncode == 0, done.stderr
    assert "missing here: OpenCL (a device for transfers, in host memory)" in done.stderr
    (call,) = place.calls("apt-get")
    assert call.endswith("install ocl-icd-libopencl1 pocl-opencl-icd")


def test_the_driver_of_opencl_does_not_depend_on_what_the_tests_want(place):
    (place.vendors / "made-up.icd").unlink()
    place.remove("chromium")
    place.stand_in("apt-get", 'case "$*" in *chromium*) exit 100 ;; esac')
    done = place.set_up("test")
    assert done.returncode == 0, done.stderr
    assert "as root: apt-get install -y chromium)" in done.stderr
    driver, browser = "ocl-icd-libopencl1 pocl-opencl-icd", "chromium"
    assert installations(place) == [f"{driver} {browser}", f"{driver} {browser}", driver, browser]
    assert not (place.root / "build/no-opencl").exists()


@pytest.mark.parametrize(
    ("says", "again"),
    [
        ("E: Failed to fetch a package  Temporary failure resolving the host", True),
        ("E: Unable to locate package pocl-opencl-icd", False),
    ],
)
def test_a_driver_is_tried_again_only_where_the_network_failed(place, says, again):
    (place.vendors / "made-up.icd").unlink()
    place.stand_in("apt-get", f'echo "{says}" >&2; exit 100')
    assert place.set_up().returncode == 0
    place.calls()
    assert place.set_up().returncode == 0
    assert bool(place.calls("apt-get")) == again


def test_the_variable_of_opencl_may_name_one_driver(place):
    driver = place.vendors / "made-up.icd"
    place.set_up(OCL_ICD_VENDORS=str(driver))
    assert place.calls("apt-get") == []
    driver.unlink()
    place.set_up(OCL_ICD_VENDORS=str(driver))
    assert place.calls("apt-get")


def test_without_rights_nothing_fails_for_want_of_a_device(place):
    (place.vendors / "made-up.icd").unlink()
    place.stand_in("id", "echo 1000")
    done = place.set_up()
    assert done.returncode == 0, done.stderr
    assert "not installed: OpenCL" in done.stderr
    assert "Measurements that need it are skipped" in done.stderr
    assert place.set_up().stderr == ""  # it is not asked for again and again


def test_without_rights_the_tests_go_on_without_a_browser(place):
    place.remove("chromium")
    place.stand_in("id", "echo 1000")
    done = place.set_up("test")
    assert done.returncode == 0, done.stderr
    assert "chromium (looks at the pages)" in done.stderr
    assert "as root: apt-get install -y chromium" in done.stderr


# --- What some experiments are built with


def test_what_some_experiments_are_built_with_is_installed(place):
    place.remove("rpcgen")
    (place.headers / RPC_HEADER).unlink()
    done = place.set_up()
    assert done.returncode == 0, done.stderr
    assert "rpcgen (makes the stubs of remote procedure calls)" in done.stderr
    assert "tirpc/rpc/rpc.h (an experiment includes it)" in done.stderr
    (call,) = place.calls("apt-get")
    assert call.endswith("install rpcsvc-proto libtirpc-dev")


def test_without_rights_nothing_fails_for_want_of_it(place):
    (place.headers / RPC_HEADER).unlink()
    place.stand_in("id", "echo 1000")
    done = place.set_up()
    assert done.returncode == 0, done.stderr
    assert "as root: apt-get install -y libtirpc-dev" in done.stderr
    assert place.set_up().stderr == ""  # it is not asked for again and again


# --- .venv


def new_venvs(place: Place) -> list[str]:
    """Return the recorded calls that make a .venv."""
    return [call for call in place.calls() if "-m venv" in call]


def test_a_uv_on_the_path_is_used_and_everything_has_hashes(place):
    assert place.set_up().returncode == 0
    calls = place.calls()
    installs = [call for call in calls if "install" in call]
    assert all(call.startswith("uv pip install") for call in installs)
    wanted = ["-r requirements-build.lock", "-r requirements.lock", "--no-index -e ."]
    assert len(installs) == len(wanted)
    for call, want in zip(installs, wanted, strict=True):
        assert want in call
        assert "--require-hashes" in call or "--no-index" in call
        assert "--no-build-isolation" in call


@pytest.mark.parametrize("present", ["none", "too old", "a launcher without a program"])
def test_pip_brings_uv_where_none_is_of_use(place, present):
    scripts = {"too old": "echo uv 0.4.30", "a launcher without a program": "exit 127"}
    place.remove("uv")
    if present in scripts:
        place.stand_in("uv", scripts[present])
    place.stand_in("python3", PYTHON + BRINGS_UV)
    done = place.set_up()
    assert done.returncode == 0, done.stderr
    by_pip, *by_uv = [call for call in place.calls("python3") if "pip install" in call]
    assert "/nowhere/pip.whl/pip install" in by_pip
    assert "--require-hashes -r requirements-uv.lock" in by_pip
    assert len(by_uv) == 3
    assert all(call.startswith("python3 uv-of-venv pip install") for call in by_uv)
    place.calls()
    assert place.set_up("test").returncode == 0  # fetched once
    assert not any("requirements-uv.lock" in call for call in place.calls())


def test_pip_where_uv_cannot_be_fetched(place):
    place.remove("uv")
    done = place.set_up("test")
    assert done.returncode == 0, done.stderr
    assert "uv is not available; using pip" in done.stderr
    installs = [call for call in place.calls("python3") if "-m pip install" in call]
    assert [re.search(r"-r (\S+)|-e \.", call)[0] for call in installs] == [
        "-r requirements-build.lock",
        "-r requirements.lock",
        "-e .",
        "-r requirements-test.lock",
    ]


def test_pip_where_uv_fails(place):
    place.stand_in("uv", UV + '[ "$1" != pip ] || exit 2')
    done = place.set_up()
    assert done.returncode == 0, done.stderr
    assert "uv failed" in done.stderr
    assert any("-m pip install" in call for call in place.calls("python3"))


def test_pip_brings_itself_into_a_venv_that_uv_filled(place):
    place.set_up()
    place.remove("uv")
    place.calls()
    done = place.set_up("test")
    assert done.returncode == 0, done.stderr
    ensured, installed = [c for c in place.calls("python3") if " -m " in c]
    assert ensured.endswith("-m ensurepip --default-pip")
    assert "-r requirements-test.lock" in installed


# What uv finds in its environment, as lines of the file `calls`.
SHOWS = (
    UV
    + """
for name in UV_DEFAULT_INDEX UV_INDEX UV_FIND_LINKS SSL_CERT_FILE ALL_PROXY; do
  eval "value=\\${$name-}"; [ -z "$value" ] || echo "$name=$value" >> CALLS
done
"""
)


def settings_of_uv(place: Place, pip_config: str, **environment: str) -> set[str]:
    """Return NAME=value of the settings that uv gets where pip's configuration is this text."""
    (place.bin / "pip.settings").write_text(pip_config)
    listing = f'case "$*" in *" config list") cat "{place.bin}/pip.settings" ;; esac'
    place.stand_in("python3", PYTHON + listing)
    place.stand_in("uv", SHOWS.replace("CALLS", f'"{place.calls_file}"'))
    assert place.set_up(**environment).returncode == 0
    return {call for call in place.calls() if re.match("[A-Z_]+=", call)}


def test_uv_gets_what_pip_reaches_its_index_by(place):
    config = r"""
:env:.find-links='/wheels /more'
global.cert='/certificates.pem'
global.extra-index-url='\nhttps://a.invalid/simple\nhttps://b.invalid/simple'
global.index-url='https://global.invalid/simple'
global.proxy='http://proxy.invalid:3128'
install.index-url='https://install.invalid/simple'
"""
    assert settings_of_uv(place, config) == {
        "UV_DEFAULT_INDEX=https://install.invalid/simple",
        "UV_INDEX=https://a.invalid/simple https://b.invalid/simple",
        "UV_FIND_LINKS=/wheels,/more",
        "SSL_CERT_FILE=/certificates.pem",
        "ALL_PROXY=http://proxy.invalid:3128",
    }
    secret = "https://global.invalid/simple"
    assert secret not in (place.root / "build/setup.log").read_text()


def test_settings_of_uv_go_before_those_of_pip(place):
    config = "global.index-url='https://pip.invalid/simple'"
    own = "https://uv.invalid/simple"
    assert settings_of_uv(place, config, UV_DEFAULT_INDEX=own) == {f"UV_DEFAULT_INDEX={own}"}


def test_a_configuration_file_of_uv_goes_before_the_settings_of_pip(place):
    file = place.root.parent / ".config/uv/uv.toml"
    file.parent.mkdir(parents=True)
    file.touch()
    assert settings_of_uv(place, "global.index-url='https://pip.invalid/simple'") == set()


def wheel_of_uv(place: Place) -> str:
    """Make a wheel of the locked version of uv, whose program is `UV`; return its sha256."""
    version = re.search(r"(?m)^uv==(\S+)", (place.root / "requirements-uv.lock").read_text())[1]
    name = f"uv-{version}"
    files = {
        f"{name}.data/scripts/uv": f'#!/bin/sh\necho "uv $*" >> "{place.calls_file}"\n{UV}',
        f"{name}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: uv\nVersion: {version}\n",
        f"{name}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    path = place.root.parent / f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for file, text in files.items():
            entry = zipfile.ZipInfo(file)
            entry.external_attr = 0o100755 << 16
            wheel.writestr(entry, text)
        wheel.writestr(f"{name}.dist-info/RECORD", "".join(f"{file},,\n" for file in files))
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.skipif(not find_spec("ensurepip"), reason="ensurepip is absent (Debian: python3-venv)")
@pytest.mark.parametrize("locked", [True, False])
def test_pip_itself_refuses_a_uv_whose_hash_is_not_locked(place, locked):
    place.remove("uv", "python3")
    (place.bin / "python3").symlink_to(sys.executable)
    sha256 = wheel_of_uv(place)
    if locked:
        lock = place.root / "requirements-uv.lock"
        text = re.sub("sha256:[0-9a-f]+", f"sha256:{sha256}", lock.read_text(), count=1)
        lock.write_text(text)
    done = place.set_up(PIP_NO_INDEX="1", PIP_FIND_LINKS=str(place.root.parent))
    log = (place.root / "build/setup.log").read_text()
    if locked:
        assert done.returncode == 0, log
        assert any("requirements.lock" in call for call in place.calls("uv"))
    else:
        assert done.returncode == 1  # pip has no index, either
        assert "uv is not available" in done.stderr
        assert "DO NOT MATCH THE HASHES" in log
        assert place.calls("uv") == []


def test_no_network_is_one_sentence_and_no_stamp(place):
    place.remove("uv")
    place.stand_in("python3", PYTHON + '[ "$2" != pip ] || { echo "no route to host"; exit 1; }')
    done = place.set_up()
    assert done.returncode == 1
    assert "no route to host" in done.stderr
    assert "run this again when it can be reached" in done.stderr
    assert not list((place.root / ".venv").glob("*.stamp"))


def test_the_second_set_up_runs_nothing(place):
    assert place.set_up("test", "lab").returncode == 0
    for name in ["uv", "python3", "apt-get", "gcc"]:
        place.stand_in(name, "exit 1")
    place.calls()
    for words in [(), ("test",), ("lab", "test")]:
        done = place.set_up(*words)
        assert (done.returncode, done.stderr) == (0, "")
    assert place.calls() == []


def test_a_changed_lock_is_installed_into_the_same_venv(place):
    place.set_up()
    place.calls()
    with (place.root / "requirements.lock").open("a") as lock:
        lock.write("# changed\n")
    assert place.set_up().returncode == 0
    calls = place.calls()
    assert any("-r requirements.lock" in call for call in calls)
    assert not any("-m venv" in call or "-e ." in call for call in calls)


def test_a_copied_checkout_makes_its_own_venv(place):
    place.set_up()
    place.calls()
    moved = place.root.with_name("moved")
    place.root.rename(moved)
    place.root = moved
    assert place.set_up().returncode == 0
    assert new_venvs(place)


def test_a_killed_set_up_is_made_anew(place):
    place.stand_in("uv", UV + 'case "$*" in *requirements.lock*) kill -9 $PPID ;; esac')
    assert place.set_up().returncode == -signal.SIGKILL
    (place.root / ".venv/half a package").touch()
    place.stand_in("uv", UV)
    assert place.set_up().returncode == 0
    assert not (place.root / ".venv/half a package").exists()


def test_a_killed_addition_is_made_anew_by_every_later_set_up(place):
    place.set_up()
    place.stand_in("uv", UV + 'case "$*" in *-test.lock*) kill -9 $PPID ;; esac')
    assert place.set_up("test").returncode == -signal.SIGKILL
    place.stand_in("uv", UV)
    place.calls()
    assert place.set_up().returncode == 0
    assert new_venvs(place)


def test_two_at_once_make_one_venv(place):
    place.stand_in("uv", UV + "sleep 0.2")
    both = [
        subprocess.Popen(
            ["scripts/setup"],
            cwd=place.root,
            env=place.environment(),
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    messages = [process.communicate(timeout=300)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], messages
    assert len(new_venvs(place)) == 1
    assert sum("waiting for it" in message for message in messages) == 1


def test_an_unknown_word_is_refused(place):
    done = place.set_up("tets")
    assert done.returncode == 1
    assert "'tets'" in done.stderr and "test, lab, history, slurm and crate" in done.stderr
