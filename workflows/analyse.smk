# Runs -> tidy tables -> estimates, findings, verdicts.


rule analyse:
    # The table of samples too: a Python of its own took 0.6 s of CPU for each experiment.
    input:
        definition=lab.definition_file,
        pointer=f"{lab.results}/{{experiment}}/current.json",
        evidence=f"{lab.results}/{{experiment}}/evidence.json",
    output:
        samples=f"{lab.results}/{{experiment}}/samples.parquet",
        analysis=f"{lab.results}/{{experiment}}/analysis.json",
    log:
        f"{lab.results}/{{experiment}}/analyse.log",
    priority: lab.priority
    params:
        modules=lab.modules("analyse"),
    shell:
        "exec python3 -m benchbook --log {log} analyse {input.pointer} --evidence {input.evidence}"
        " --samples {output.samples} --output {output.analysis}"


rule recorded:
    # Once for all papers and presets. Measuring depends on none of it.
    input:
        lab.recorded_files,
        definition=lab.definition_file,
    output:
        "results/recorded/{machine}/{experiment}/{run}/recorded.json",
    log:
        "results/recorded/{machine}/{experiment}/{run}/recorded.log",
    wildcard_constraints:
        machine=r"[\w.+-]+",
        run=r"[\w.+-]+",
    params:
        modules=lab.modules("analyse-recorded"),
    shell:
        "exec python3 -m benchbook --log {log} analyse-recorded"
        " data/recorded/{wildcards.machine}/{wildcards.experiment}/{wildcards.run}"
        " --output {output}"


rule judge:
    input:
        lab.published,
        lab.settled,
        lab.imported,
        analyses=lab.analyses,
        recorded=lab.recorded,
    output:
        f"{lab.results}/{{paper}}/paper.json",
    log:
        f"{lab.results}/{{paper}}/judge.log",
    priority: lab.priority
    params:
        modules=lab.modules("judge"),
        figure=lab.settings.figure or "",
        preset=lab.settings.preset,
        host=lab.host,
        recorded=lab.recorded_options,
    shell:
        "exec python3 -m benchbook --log {log} judge {wildcards.paper} --figure={params.figure:q}"
        " --preset {params.preset} --host {params.host} --output {output}"
        " {params.recorded} {input.analyses}"


rule samples:
    input:
        samples=expand(f"{lab.results}/{{experiment}}/samples.parquet", experiment=lab.experiments),
    output:
        f"{lab.results}/samples.parquet",
    log:
        f"{lab.results}/samples.log",
    params:
        modules=lab.modules("merge-samples"),
    shell:
        "exec python3 -m benchbook --log {log} merge-samples --output {output} {input.samples}"


rule findings:
    input:
        analyses=expand(f"{lab.results}/{{experiment}}/analysis.json", experiment=lab.experiments),
    output:
        f"{lab.results}/findings.json",
    log:
        f"{lab.results}/findings.log",
    params:
        modules=lab.modules("merge-findings"),
    shell:
        "exec python3 -m benchbook --log {log} merge-findings --output {output} {input.analyses}"


rule verdicts:
    input:
        papers=expand(f"{lab.results}/{{paper}}/paper.json", paper=lab.papers),
    output:
        f"{lab.results}/verdicts.json",
    log:
        f"{lab.results}/verdicts.log",
    params:
        modules=lab.modules("merge-verdicts"),
    shell:
        "exec python3 -m benchbook --log {log} merge-verdicts --output {output} {input.papers}"


rule audit:
    input:
        lab.all_published(),
    output:
        "results/audit.json",
    log:
        "results/audit.log",
    params:
        modules=lab.modules("audit"),
    shell:
        "exec python3 -m benchbook --log {log} audit --output {output}"


rule judge_controls:
    input:
        lab.control_files(),
        analyses=expand(f"{lab.results}/{{control}}/analysis.json", control=lab.controls),
    output:
        f"{lab.results}/controls.json",
    log:
        f"{lab.results}/controls.log",
    params:
        modules=lab.modules("judge-controls"),
        replays=lab.replays(),
    shell:
        "exec python3 -m benchbook --log {log} judge-controls --output {output} {input.analyses}"
