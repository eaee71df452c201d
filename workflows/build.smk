# Kernel source + compiler + flags -> binary under its hash + variant.json.


rule build:
    input:
        lab.sources,
        lab.modules("build"),
    output:
        "build/{owner}/{variant}/variant.json",
    log:
        "build/{owner}/{variant}/build.log",
    params:
        variant=lab.variant,
    shell:
        "exec python3 -m benchbook --log {log} build {wildcards.owner} {wildcards.variant}"
        " --output {output}"


rule limits:
    input:
        lab.sources,
        lab.modules("limits"),
    output:
        "build/{owner}/limits.json",
    log:
        "build/{owner}/limits.log",
    # As long as many builds: begun last, it would keep one core busy and the other waiting.
    priority: 1
    params:
        limits=lab.limited,
    shell:
        "exec python3 -m benchbook --log {log} limits {wildcards.owner} --output {output}"
