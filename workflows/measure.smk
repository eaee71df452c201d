# Variants and plan -> a run under data/runs, append-only; the declared output is a pointer to it.


rule measure:
    input:
        lab.definition_file,
        lab.paper_files,
        variants=lab.variant_files,
    output:
        f"{lab.results}/{{experiment}}/current.json",
    log:
        f"{lab.results}/{{experiment}}/measure.log",
    threads: workflow.cores
    params:
        settings=lab.measuring,
    shell:
        # The measurer must not outlive the workflow: killed with it, from its first moment on.
        "exec setpriv --pdeathsig KILL python3 -m benchbook --log {log} measure"
        " {wildcards.experiment} --parent $PPID --settings {params.settings:q} --output {output} {input.variants}"
