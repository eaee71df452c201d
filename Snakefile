# Benchbook's table of contents: a number's way from source code to page, one stage a file.
# Names are found by wildcard and settings checked in benchbook/workflow.py.
import sys

sys.path.insert(0, workflow.basedir)
from benchbook.workflow import open_lab

lab = open_lab(workflow.basedir, config)


wildcard_constraints:
    experiment=lab.one_of(lab.experiments, ["probe"]),
    owner=lab.one_of(lab.experiments, lab.controls, ["probe"]),
    variant=r"[\w.+-]+",
    paper=lab.one_of(lab.papers),
    figure=r"[\w.+-]+",


include: "workflows/build.smk"
include: "workflows/measure.smk"
include: "workflows/evidence.smk"
include: "workflows/analyse.smk"
include: "workflows/report.smk"
include: "workflows/fleet.smk"


rule all:
    default_target: True
    input:
        lab.pages(),


onstart:
    # One workflow at a time in a checkout; the handle lives as long as this process.
    only_workflow = lab.hold()
    # Else each finished job makes Snakemake look once a second, for as long as anything waits for its
    # turn, at the size of every input: 12 s of CPU in 140 s of measuring.
    workflow.scheduler.job_rate_limiter = None


onsuccess:
    lab.make_hosts_page()


onerror:
    lab.make_hosts_page()
