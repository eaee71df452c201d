# Kernel source + compiler + flags -> binary under its hash + variant.json.


# One job an experiment, and one for all controls: it compiles on every core.
for name, owners in lab.built_together():

    rule:
        name:
            f"build_{name}"
        input:
            lab.sources_of(owners),
        output:
            lab.variants_of(owners),
        log:
            f"build/{name}.log",
        priority: lab.priority_of_building(name)
        threads: workflow.cores
        params:
            modules=lab.modules("build"),
            variants=lab.identities(owners),
        shell:
            "exec python3 -m benchbook --log {log} build {output}"


rule limits:
    input:
        lab.sources,
    output:
        "build/{owner}/limits.json",
    log:
        "build/{owner}/limits.log",
    priority: lab.priority
    params:
        modules=lab.modules("limits"),
        limits=lab.limited,
    shell:
        "exec python3 -m benchbook --log {log} limits {wildcards.owner} --output {output}"
