# Runs -> tidy tables -> estimates, findings, verdicts.


def paper_estimates(wildcards):
    return expand(
        f"{lab.results}/{{experiment}}/analysis.json",
        experiment=lab.experiments_of(wildcards.paper),
    )


def published(wildcards):
    return lab.published(wildcards.paper)


rule tables:
    input:
        lab.stage("tables.py", "records.py"),
        pointer=f"{lab.results}/{{experiment}}/current.json",
    output:
        f"{lab.results}/{{experiment}}/samples.parquet",
    shell:
        "exec python3 -m benchbook tables {input.pointer} --output {output}"


rule analyse:
    input:
        lab.stage("analysis.py", "findings.py", "artefacts"),
        pointer=f"{lab.results}/{{experiment}}/current.json",
        samples=f"{lab.results}/{{experiment}}/samples.parquet",
        evidence=f"{lab.results}/{{experiment}}/evidence.json",
    output:
        f"{lab.results}/{{experiment}}/analysis.json",
    shell:
        "exec python3 -m benchbook analyse {input.pointer} --samples {input.samples}"
        " --evidence {input.evidence} --output {output}"


rule judge:
    input:
        lab.stage("claims.py", "papers.py"),
        published,
        analyses=paper_estimates,
    output:
        f"{lab.results}/{{paper}}/paper.json",
    params:
        figure=lab.settings["figure"] or "",
    shell:
        "exec python3 -m benchbook judge {wildcards.paper} --figure={params.figure:q}"
        " --output {output} {input.analyses}"


rule samples:
    input:
        expand(f"{lab.results}/{{experiment}}/samples.parquet", experiment=lab.experiments),
    output:
        f"{lab.results}/samples.parquet",
    shell:
        "exec python3 -m benchbook merge-samples --output {output} {input}"


rule findings:
    input:
        expand(f"{lab.results}/{{experiment}}/analysis.json", experiment=lab.experiments),
    output:
        f"{lab.results}/findings.json",
    shell:
        "exec python3 -m benchbook merge-findings --output {output} {input}"


rule verdicts:
    input:
        expand(f"{lab.results}/{{paper}}/paper.json", paper=lab.papers),
    output:
        f"{lab.results}/verdicts.json",
    shell:
        "exec python3 -m benchbook merge-verdicts --output {output} {input}"


rule judge_controls:
    input:
        expand(f"{lab.results}/{{control}}/analysis.json", control=lab.controls),
    output:
        f"{lab.results}/controls.json",
    shell:
        "exec python3 -m benchbook judge-controls --output {output} {input}"
