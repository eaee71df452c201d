# Binaries and the same points -> observations that tell why, each with its source and state.


rule evidence:
    input:
        lab.stage("evidence.py"),
        pointer=f"{lab.results}/{{experiment}}/current.json",
    output:
        f"{lab.results}/{{experiment}}/evidence.json",
    log:
        f"{lab.results}/{{experiment}}/evidence.log",
    shell:
        "exec python3 -m benchbook --log {log} evidence {input.pointer} --output {output}"
