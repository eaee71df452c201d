# Binaries and the same points -> observations that tell why, each with its source and state.


rule evidence:
    input:
        lab.definition_file,
        limits=lab.limit_files,
        pointer=f"{lab.results}/{{experiment}}/current.json",
    output:
        f"{lab.results}/{{experiment}}/evidence.json",
    log:
        f"{lab.results}/{{experiment}}/evidence.log",
    priority: lab.priority_of_measuring
    # Counters of a whole socket must not count the jobs of others.
    threads: workflow.cores
    params:
        modules=lab.modules("evidence"),
    shell:
        # It starts programs, as the measurer does, and must not outlive the workflow either.
        "exec setpriv --pdeathsig KILL python3 -m benchbook --log {log} evidence {input.pointer}"
        " {input.limits} --parent $PPID --output {output}"
