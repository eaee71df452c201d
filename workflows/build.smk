# Kernel source + compiler + flags -> binary under its hash + variant.json.


rule build:
    input:
        lab.sources,
        lab.stage("build.py", "disassembly.py", "effective.py", "instructions.py", "peers"),
    output:
        "build/{experiment}/{variant}/variant.json",
    log:
        "build/{experiment}/{variant}/build.log",
    params:
        variant=lab.variant,
    shell:
        "exec python3 -m benchbook --log {log} build {wildcards.experiment} {wildcards.variant}"
        " --output {output}"


rule limits:
    input:
        lab.sources,
        lab.stage("build.py", "limits.py"),
    output:
        "build/{experiment}/limits.json",
    log:
        "build/{experiment}/limits.log",
    params:
        limits=lab.limited,
    shell:
        "exec python3 -m benchbook --log {log} limits {wildcards.experiment} --output {output}"
