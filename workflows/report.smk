# Executed notebooks and analysis output -> self-contained pages.


rule page:
    input:
        notebook="notebooks/{paper}.ipynb",
        paper=f"{lab.results}/{{paper}}/paper.json",
    output:
        page="reports/{paper}.html",
        details="reports/{paper}-details.html",
    log:
        # Kept when the notebook fails, so that its reader sees where.
        executed=f"{lab.results}/{{paper}}/executed.ipynb",
        said=f"{lab.results}/{{paper}}/page.log",
    priority: lab.priority
    params:
        modules=lab.modules("page"),
        index="--index reports/index.html",
    shell:
        "exec python3 -m benchbook --log {log.said} page {input.notebook} --paper {input.paper}"
        " --executed {log.executed} --output {output.page} {params.index}"


use rule page as figure_page with:
    output:
        page="reports/figures/{paper}/{figure}.html",
    log:
        executed=f"{lab.results}/{{paper}}/{{figure}}.ipynb",
        said=f"{lab.results}/{{paper}}/{{figure}}.log",
    params:
        modules=lab.modules("page"),
        index="",


rule controls:
    input:
        controls=f"{lab.results}/controls.json",
    output:
        "reports/controls.html",
    log:
        f"{lab.results}/controls-page.log",
    params:
        modules=lab.modules("controls-page"),
    shell:
        "exec python3 -m benchbook --log {log} controls-page {input.controls} --output {output}"


rule machine:
    input:
        analyses=expand(
            f"{lab.results}/{{experiment}}/analysis.json",
            experiment=lab.experiments + lab.controls,
        ),
        papers=expand(f"{lab.results}/{{paper}}/paper.json", paper=lab.papers),
    output:
        "reports/machine.html",
    log:
        f"{lab.results}/machine-page.log",
    params:
        modules=lab.modules("machine-page"),
    shell:
        "exec python3 -m benchbook --log {log} machine-page {input.analyses} {input.papers}"
        " --output {output}"


rule imported:
    input:
        lab.imported,
    output:
        "reports/imported.html",
    log:
        f"{lab.results}/imported-page.log",
    params:
        modules=lab.modules("imported-page"),
    shell:
        "exec python3 -m benchbook --log {log} imported-page --output {output}"


rule index:
    input:
        lab.imported_page,
        "reports/controls.html",
        "reports/machine.html",
        expand("reports/{paper}.html", paper=lab.papers),
        papers=expand(f"{lab.results}/{{paper}}/paper.json", paper=lab.papers),
        controls=f"{lab.results}/controls.json",
    output:
        "reports/index.html",
    log:
        f"{lab.results}/index.log",
    params:
        modules=lab.modules("index"),
    shell:
        "exec python3 -m benchbook --log {log} index {input.papers} --controls {input.controls}"
        " --output {output}"


for name in lab.papers:

    rule:
        name:
            name
        input:
            lab.paper_pages(name),
