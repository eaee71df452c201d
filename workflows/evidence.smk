# Binaries and the same points -> observations that tell why, each with its source and state.


rule evidence:
    input:
        lab.stage("capabilities", "counters", "evidence", "simulation", "trials.py"),
        lab.definition_file,
        limits=lab.limit_files,
        pointer=f"{lab.results}/{{experiment}}/current.json",
    output:
        f"{lab.results}/{{experiment}}/evidence.json",
    log:
        f"{lab.results}/{{experiment}}/evidence.log",
    shell:
        "exec python3 -m benchbook --log {log} evidence {input.pointer} {input.limits}"
        " --output {output}"
