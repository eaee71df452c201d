# Binaries and the same points -> observations that tell why, each with its source and state.


rule evidence:
    input:
        lab.stage("evidence.py"),
        pointer=f"{lab.results}/{{experiment}}/current.json",
    output:
        f"{lab.results}/{{experiment}}/evidence.json",
    shell:
        "exec python3 -m benchbook evidence {input.pointer} --output {output}"
