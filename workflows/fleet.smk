# Each kind of nodes in `config: fleet` -> a host measured by a job of its own, and its pages.


for kind in lab.fleet:

    rule:
        name:
            f"measure_on_{kind.name}"
        output:
            f"fleet/{kind.name}/measured.json",
        log:
            f"fleet/{kind.name}/measure.log",
        # The submitting node is one of the hosts only where it is named.
        localrule: kind.here
        resources:
            **lab.resources_of(kind),
        params:
            kind=lab.options_of(kind),
            settings=lab.fleet_settings,
            sources=lab.measured_sources(),
        shell:
            "exec setpriv --pdeathsig KILL python3 -m benchbook --log {log} fleet-measure {params.kind}"
            " --parent $PPID --settings {params.settings:q} --output {output}"

    rule:
        name:
            f"pages_of_{kind.name}"
        input:
            f"fleet/{kind.name}/measured.json",
        output:
            f"fleet/{kind.name}/pages.json",
        log:
            f"fleet/{kind.name}/pages.log",
        localrule: True
        threads: workflow.cores
        params:
            kind=kind.name,
            sources=lab.all_sources(),
            settings=lab.fleet_settings,
        shell:
            "exec setpriv --pdeathsig KILL python3 -m benchbook --log {log} fleet-pages {params.kind}"
            " --cores {threads} --settings {params.settings:q} --output {output}"
