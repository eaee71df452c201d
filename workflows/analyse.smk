# Runs -> tidy tables -> estimates, findings, verdicts.


rule tables:
    input:
        lab.modules("tables"),
        pointer=f"{lab.results}/{{experiment}}/current.json",
    output:
        f"{lab.results}/{{experiment}}/samples.parquet",
    log:
        f"{lab.results}/{{experiment}}/tables.log",
    priority: lab.priority
    shell:
        "exec python3 -m benchbook --log {log} tables {input.pointer} --output {output}"


rule analyse:
    input:
        lab.modules("analyse"),
        definition=lab.definition_file,
        pointer=f"{lab.results}/{{experiment}}/current.json",
        samples=f"{lab.results}/{{experiment}}/samples.parquet",
        evidence=f"{lab.results}/{{experiment}}/evidence.json",
    output:
        f"{lab.results}/{{experiment}}/analysis.json",
    log:
        f"{lab.results}/{{experiment}}/analyse.log",
    priority: lab.priority
    shell:
        "exec python3 -m benchbook --log {log} analyse {input.pointer} --samples {input.samples}"
        " --evidence {input.evidence} --output {output}"


rule recorded:
    # Once for all papers and presets. Measuring depends on none of it.
    input:
        lab.modules("analyse-recorded"),
        lab.recorded_files,
        definition=lab.definition_file,
    output:
        "results/recorded/{machine}/{experiment}/{run}/recorded.json",
    log:
        "results/recorded/{machine}/{experiment}/{run}/recorded.log",
    wildcard_constraints:
        machine=r"[\w.+-]+",
        run=r"[\w.+-]+",
    shell:
        "exec python3 -m benchbook --log {log} analyse-recorded"
        " data/recorded/{wildcards.machine}/{wildcards.experiment}/{wildcards.run}"
        " --output {output}"


rule judge:
    input:
        lab.modules("judge"),
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
        lab.modules("merge-samples"),
        samples=expand(f"{lab.results}/{{experiment}}/samples.parquet", experiment=lab.experiments),
    output:
        f"{lab.results}/samples.parquet",
    log:
        f"{lab.results}/samples.log",
    shell:
        "exec python3 -m benchbook --log {log} merge-samples --output {output} {input.samples}"


rule findings:
    input:
        lab.modules("merge-findings"),
        analyses=expand(f"{lab.results}/{{experiment}}/analysis.json", experiment=lab.experiments),
    output:
        f"{lab.results}/findings.json",
    log:
        f"{lab.results}/findings.log",
    shell:
        "exec python3 -m benchbook --log {log} merge-findings --output {output} {input.analyses}"


rule verdicts:
    input:
        lab.modules("merge-verdicts"),
        papers=expand(f"{lab.results}/{{paper}}/paper.json", paper=lab.papers),
    output:
        f"{lab.results}/verdicts.json",
    log:
        f"{lab.results}/verdicts.log",
    shell:
        "exec python3 -m benchbook --log {log} merge-verdicts --output {output} {input.papers}"


rule audit:
    input:
        lab.modules("audit"),
        lab.all_published(),
    output:
        "results/audit.json",
    log:
        "results/audit.log",
    shell:
        "exec python3 -m benchbook --log {log} audit --output {output}"


rule judge_controls:
    input:
        lab.modules("judge-controls"),
        lab.replays(),
        lab.control_files(),
        analyses=expand(f"{lab.results}/{{control}}/analysis.json", control=lab.controls),
    output:
        f"{lab.results}/controls.json",
    log:
        f"{lab.results}/controls.log",
    threads: workflow.cores
    shell:
        "exec python3 -m benchbook --log {log} judge-controls --output {output} {input.analyses}"
