# Variants and plan -> a run under data/runs, append-only; the declared output is a pointer to it.


def definition_file(wildcards):
    return lab.definition_file(wildcards.experiment)


def paper_files(wildcards):
    return lab.paper_files(wildcards.experiment)


def variant_files(wildcards):
    return lab.variant_files(wildcards.experiment)


rule measure:
    input:
        definition_file,
        paper_files,
        variants=variant_files,
    output:
        f"{lab.results}/{{experiment}}/current.json",
    params:
        settings=lab.measuring,
    threads: workflow.cores
    shell:
        # The measurer must not outlive the workflow: killed with it, from its first moment on.
        "exec setpriv --pdeathsig KILL python3 -m benchbook measure {wildcards.experiment}"
        " --parent $PPID --settings {params.settings:q} --output {output} {input.variants}"
