# Kernel source + compiler + flags -> binary under its hash + variant.json.


# One job an experiment, and one for all controls: it compiles on every core. Not at a lower priority
# than what is made of measurements meanwhile: beside other work it then hardly gets a core.
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
        threads: lab.cores_of_building(name, workflow.cores)
        resources:
            compiling=1,
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
    resources:
        compiling=1,
    params:
        modules=lab.modules("limits"),
        limits=lab.limited,
    shell:
        "exec python3 -m benchbook --log {log} limits {wildcards.owner} --output {output}"
