# Kernel source + compiler + flags -> binary under its hash + variant.json.


def sources(wildcards):
    return lab.sources(wildcards.experiment)


def variant(wildcards):
    return lab.variant(wildcards.experiment, wildcards.variant)


rule build:
    input:
        sources,
        lab.stage("build.py", "disassembly.py"),
    output:
        "build/{experiment}/{variant}/variant.json",
    params:
        variant=variant,
    shell:
        "exec python3 -m benchbook build {wildcards.experiment} {wildcards.variant} --output {output}"
