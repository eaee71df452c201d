"""scripts/in-env and the Makefile: which door is taken, and what the command finds behind it."""

import json
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from setup_place import ROOT, Place

# Says a version, and reaches its pin; takes the command after -c, as `nix develop` does.
NIX = """
case "$*" in
  --version) echo "nix (Nix) VERSION"; exit ;;
  *" flake metadata "*) METADATA ;;
esac
while [ "$1" != -c ]; do shift; done; shift; exec "$@"
"""
REVISION = json.loads((ROOT / "flake.lock").read_text())["nodes"]["nixpkgs"]["locked"]["rev"]
TIMEOUT = shutil.which("timeout")
BYTES = '@nix {"action":"result","fields":[%d,43000000,0,0],"id":1,"type":105}'


def nix(metadata: str = "exit 0", version: str = "2.26.3") -> str:
    return NIX.replace("METADATA", metadata).replace("VERSION", version)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def locked(place: Place, revision: str = REVISION) -> None:
    """Put this checkout's lock in place, with another revision if one is given."""
    text = (ROOT / "flake.lock").read_text()
    (place.root / "flake.lock").write_text(text.replace(REVISION, revision))


def in_env(place: Place, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
    return place.run("scripts/in-env", *command, **more)


def test_the_host_door_has_the_venv_first_and_no_foreign_settings(place):
    foreign = {
        "MPLBACKEND": "agg",
        "PYTHONPATH": "/nowhere",
        "MAKEFLAGS": "n",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = in_env(place, "env", **foreign)
    assert done.returncode == 0, done.stderr
    seen = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert seen["BENCHBOOK_DOOR"] == "host"
    assert seen["PATH"].split(":")[0] == str(place.root / ".venv/bin")
    assert not foreign.keys() & seen.keys()


def test_the_command_takes_the_place_of_the_script(place):
    process = subprocess.Popen(
        ["scripts/in-env", "sh", "-c", "echo $$"],
        cwd=place.root,
        env=place.environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.communicate(timeout=300)[0] == f"{process.pid}\n"


def test_the_command_keeps_its_exit_status_and_arguments(place):
    done = in_env(place, "sh", "-c", 'echo "$1"; exit 77', "-", "two words")
    assert (done.stdout, done.returncode) == ("two words\n", 77)


def test_in_env_adds_the_tools_that_it_is_asked_for(place):
    assert in_env(place, "--with", "test", "env").returncode == 0
    assert any("-r requirements-test.lock" in call for call in place.calls("uv"))


def test_an_unknown_door_is_refused(place):
    done = in_env(place, "env", BENCHBOOK_ENV="conda")
    assert done.returncode == 1
    assert "BENCHBOOK_ENV=conda" in done.stderr and "host or nix" in done.stderr


def test_nix_forced_but_absent(place):
    done = in_env(place, "env", BENCHBOOK_ENV="nix")
    assert done.returncode == 1
    assert "nix is not on PATH" in done.stderr
    place.stand_in("nix", nix())
    done = in_env(place, "env", BENCHBOOK_ENV="nix")
    assert done.returncode == 1
    assert "no flake.lock" in done.stderr


def test_nix_is_taken_where_its_pin_can_be_reached_and_asked_once(place):
    locked(place)
    place.stand_in("nix", nix())
    done = in_env(place, "env")
    assert "BENCHBOOK_DOOR=nix" in done.stdout.splitlines()
    asked, *_ = [call for call in place.calls("nix") if "metadata" in call]
    assert asked.endswith(f"flake metadata github:NixOS/nixpkgs/{REVISION}")
    assert "BENCHBOOK_DOOR=nix" in in_env(place, "env").stdout.splitlines()
    (call,) = place.calls()
    assert call.endswith(f" develop .#default -c env -C {place.root} env")
    locked(place, "1" * 40)
    in_env(place, "env")
    assert any("metadata" in call for call in place.calls("nix")), "another pin is asked for"
    assert not (place.root / ".venv").exists()


def test_where_nix_cannot_the_host_does_and_says_so_in_one_line(place):
    locked(place)
    place.stand_in("nix", nix("exit 1"))
    for asked in [1, 0]:
        done = in_env(place, "env")
        assert "BENCHBOOK_DOOR=host" in done.stdout.splitlines()
        (line,) = [line for line in done.stderr.splitlines() if "nix" in line]
        assert f"cannot reach NixOS/nixpkgs/{REVISION} within 10 s" in line
        assert "the tools of this host are used" in line
        assert sum("metadata" in call for call in place.calls("nix")) == asked
    done = in_env(place, "env", BENCHBOOK_ENV="nix")
    assert done.returncode == 1
    assert "set BENCHBOOK_ENV=host" in done.stderr
    assert any("metadata" in call for call in place.calls("nix")), "forced, it is worth another try"
    place.stand_in("nix", nix())
    assert "BENCHBOOK_DOOR=nix" in in_env(place, "env", BENCHBOOK_ENV="nix").stdout.splitlines()


@pytest.mark.parametrize(("arrived", "door"), [(0, "host"), (4096, "nix")])
def test_the_limit_is_on_reaching_and_not_on_the_download(place, arrived: int, door: str):
    locked(place)
    place.stand_in("nix", nix(f"echo '{BYTES % arrived}' >&2; exec sleep 60"))
    place.stand_in("timeout", f'shift; exec {TIMEOUT} 0.5 "$@"')
    done = in_env(place, "env")
    assert f"BENCHBOOK_DOOR={door}" in done.stdout.splitlines()
    assert place.calls("timeout")[0].startswith("timeout 10 nix ")


@pytest.mark.parametrize(
    ("version", "door"), [("2.8.0", "host"), ("2.18.1", "nix"), ("2.92.0-dev", "nix"), ("", "nix")]
)
def test_a_nix_older_than_the_pin_takes_is_not_asked(place, version: str, door: str):
    locked(place)
    place.stand_in("nix", nix(version=version))
    done = in_env(place, "env")
    assert f"BENCHBOOK_DOOR={door}" in done.stdout.splitlines()
    if door == "host":
        assert "nix 2.8.0 is older than 2.18" in done.stderr
        assert not any("metadata" in call for call in place.calls("nix"))


def test_inside_of_the_shell_nothing_is_chosen(place):
    locked(place)
    place.stand_in("nix", nix())
    inside = {"BENCHBOOK_DOOR": "nix", "IN_NIX_SHELL": "impure"}
    done = in_env(place, "env", **inside)
    assert "BENCHBOOK_DOOR=nix" in done.stdout.splitlines()
    assert place.calls() == []
    done = in_env(place, "env", BENCHBOOK_ENV="host", **inside)
    assert "BENCHBOOK_DOOR=host" in done.stdout.splitlines()


@pytest.mark.parametrize(
    ("inside", "wanted", "entered"),
    [
        (None, "test", "test"),
        (None, "lab", "lab"),
        ("default", "test", "test"),
        ("test", "test", None),
        ("lab", "test", "test"),
    ],
)
def test_the_shell_of_nix_is_the_one_that_has_the_tools(
    place, inside: str | None, wanted: str, entered: str | None
):
    locked(place)
    place.stand_in("nix", nix())
    shell = {"BENCHBOOK_DOOR": "nix", "IN_NIX_SHELL": "impure", "BENCHBOOK_SHELL": inside}
    done = in_env(place, "--with", wanted, "env", **(shell if inside else {}))
    assert "BENCHBOOK_DOOR=nix" in done.stdout.splitlines(), done.stderr
    entries = [call for call in place.calls("nix") if " develop " in call]
    assert [re.search(r"\.#(\w+)", call)[1] for call in entries] == ([entered] if entered else [])


def test_the_host_door_can_be_forced(place):
    locked(place)
    place.stand_in("nix", nix())
    done = in_env(place, "env", BENCHBOOK_ENV="host")
    assert "BENCHBOOK_DOOR=host" in done.stdout.splitlines()
    assert place.calls("nix") == []


# --- make


def test_make_hands_only_what_was_given_to_snakemake(place):
    place.stand_in("snakemake")
    for words, arguments in {
        (): "",
        ("PRESET=tiny",): "--config preset=tiny",
        ("PAPER=p", "FIGURE=p/f"): "p --config figure=p/f",
    }.items():
        done = place.run("make", *words)
        assert done.returncode == 0, done.stderr
        assert place.calls("snakemake") == [f"snakemake {arguments}"]


@pytest.mark.parametrize("name", ["PAPER", "PRESET", "FIGURE"])
@pytest.mark.parametrize(
    "text", ["$(shell touch ran)", "x'; touch ran; '", "`touch ran`", "$$(touch ran)", "$HOME"]
)
def test_what_stands_in_an_argument_is_run_by_nobody(place, name, text):
    place.stand_in("snakemake")
    for words, environment in (((f"{name}={text}",), {}), ((), {name: text})):
        done = subprocess.run(
            ["make", *words],
            cwd=place.root,
            env=place.environment() | environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        (call,) = place.calls("snakemake")
        assert call.endswith(text)
        assert not (place.root / "ran").exists()


def test_a_killed_make_takes_the_workflow_with_it(place):
    place.stand_in("snakemake", f"echo $$ > '{place.root}/pid'; exec sleep 60")
    make = subprocess.Popen(["make"], cwd=place.root, env=place.environment())
    pid_file = place.root / "pid"
    assert wait_for(lambda: pid_file.exists() and pid_file.read_text().strip())
    pid = int(pid_file.read_text())
    make.kill()
    make.wait()
    assert wait_for(lambda: not runs(pid))


def wait_for(condition, seconds: float = 120) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def runs(pid: int) -> bool:
    try:
        # An orphan may stay a zombie where nobody collects it.
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_make_clean_keeps_what_was_measured(place):
    for folder in ["build", "results", "reports", "data/runs/host"]:
        (place.root / folder).mkdir(parents=True)
    assert place.run("make", "clean").returncode == 0
    assert not (place.root / "results").exists()
    assert (place.root / "data/runs/host").exists()


def test_make_help_lists_every_target(place):
    text = (place.root / "Makefile").read_text()
    targets = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)[1].split()
    done = place.run("make", "help")
    assert [line.split()[1] for line in done.stdout.splitlines()[1:]] == targets
