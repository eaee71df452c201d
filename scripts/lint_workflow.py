"""Run `snakemake --lint` and fail on everything but its wish for a conda environment in each rule.

The tools come from the Nix shell or the host: one door for the whole workflow, not one for a rule.
"""

import re
import subprocess
import sys

NOT_OURS = "Specify a conda environment or container for each rule"


def entries_of(report: str) -> list[str]:
    """Return the entries of Snakemake's report, each as "TITLE and text (in PLACE)".

    There is no JSON report on the command line (9.27 takes the word and prints text), so this reads
    the text: a line `Lints for PLACE:`, then entries that begin with `    * TITLE`.
    """
    found = []
    for section in re.split(r"^Lints for ", report, flags=re.MULTILINE)[1:]:
        place, *entries = re.split(r"^    \* ", section, flags=re.MULTILINE)
        found += [f"{entry.rstrip()}\n      (in {place.strip().rstrip(':')})" for entry in entries]
    return found


def main() -> int:
    """Return 0 when the workflow is clean, else 1 with the complaints on standard error."""
    done = subprocess.run(["snakemake", "--lint"], capture_output=True, text=True, check=False)
    report = done.stdout + done.stderr
    entries = entries_of(report)
    complaints = [entry for entry in entries if not entry.startswith(NOT_OURS)]
    # It ends with 1 for any entry, but also when it could not read the workflow at all.
    if done.returncode != 0 and not entries:
        complaints = [f"snakemake --lint ended with {done.returncode}:\n{report}"]
    if complaints:
        print("\n".join(complaints), file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
