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
    priority: lab.priority_of_measuring
    threads: workflow.cores
    params:
        settings=lab.measuring,
        devices=lab.devices,  # named nowhere below: another one is a reason to look again
    shell:
        # The measurer must not outlive the workflow: killed with it, from its first moment on.
        "exec setpriv --pdeathsig KILL python3 -m benchbook --log {log} measure"
        " {wildcards.experiment} --parent $PPID --settings {params.settings:q} --output {output} {input.variants}"


# One job for all of them: each takes a second, and starting Python as long again for each stage.
rule play_controls:
    input:
        lab.control_files(),
        lab.controls_limits(),
        variants=lab.controls_variants(),
    output:
        # The last stage's alone: Snakemake sums all inputs up for each output, 16 ms for one.
        expand(f"{lab.results}/{{control}}/analysis.json", control=lab.controls),
    log:
        f"{lab.results}/controls/play.log",
    threads: workflow.cores
    params:
        modules=lab.modules("play-controls"),
        settings=lab.measuring,
        controls=lab.controls,
        results=lab.results_folder,
    shell:
        "exec setpriv --pdeathsig KILL python3 -m benchbook --log {log} play-controls"
        " {params.controls} --parent $PPID --settings {params.settings:q}"
        " --results {params.results}"


rule measured:
    # All that must run on the host itself.
    input:
        lab.measured(),
