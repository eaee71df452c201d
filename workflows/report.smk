# Executed notebooks and analysis output -> self-contained pages.


rule page:
    input:
        lab.stage("page.py", "plots.py", "reports.py", "templates"),
        notebook="notebooks/{paper}.ipynb",
        paper=f"{lab.results}/{{paper}}/paper.json",
    output:
        "reports/{paper}.html",
    log:
        # Kept when the notebook fails, so that its reader sees where.
        f"{lab.results}/{{paper}}/executed.ipynb",
    shell:
        "exec python3 -m benchbook page {input.notebook} --paper {input.paper}"
        " --executed {log} --output {output}"


use rule page as figure_page with:
    output:
        "reports/figures/{paper}/{figure}.html",
    log:
        f"{lab.results}/{{paper}}/{{figure}}.ipynb",


rule controls:
    input:
        lab.stage("reports.py", "templates"),
        controls=f"{lab.results}/controls.json",
    output:
        "reports/controls.html",
    shell:
        "exec python3 -m benchbook controls-page {input.controls} --output {output}"


rule index:
    input:
        lab.stage("reports.py", "templates"),
        "reports/controls.html",
        expand("reports/{paper}.html", paper=lab.papers),
        papers=expand(f"{lab.results}/{{paper}}/paper.json", paper=lab.papers),
        controls=f"{lab.results}/controls.json",
    output:
        "reports/index.html",
    shell:
        "exec python3 -m benchbook index --controls {input.controls} --output {output}"
        " {input.papers}"


for name in lab.papers:

    rule:
        name: name
        input:
            f"reports/{name}.html",
