"""The lab: it starts replicas and stores, breaks them on purpose, judges what happened, and draws it.

Each folder has one concern. The order is that of imports, not of time: a folder uses only the folders above it
(``make check`` holds that).

    errors, text, paths, interrupts, prerequisites            what every folder may use
    language/       IN CHINESE: which language a reader gets, and the catalogue of phrases
    evidence/       THE RUN FOLDER: all file formats of a run but verdict.json, written and read
    scenario/       WHAT TO DO: a TOML file to one checked record; its options; faults/ as data
    judge/          evidence to findings to verdict: grants, ledger, attribution, mechanisms, promises (one table)
    servers/        START AND STOP real processes: supervisor, programs/, stores/
    load/           Locust, and exactly N requests
    run/            ONE RUN: bring up, drive, inject faults, read the counter, take down
    containers/     the same servers in Docker
    explore/        ALL ORDERS: decide every schedule of two to four clients, on the stage's code and a real Redis
    story/          SAY IT: what happened as typed facts, and from those the sentences of each language, and the lanes
    report/         verdict to terminal, charts/, pages, site
    play/           BE THE SCHEDULER: pages that let a reader choose the order of events
    pipeline        run, judge, draw, publish: the one place where these folders meet
    enact/          A SCHEDULE of the explorer on real replicas, command by command
    ui/             runs from the browser: Locust's page, the live page
    experiments/    MANY RUNS: ladder, matrix, sweeps/, growth, benchmarks/
    commands/       what each command does with one run: run, up, check, report, clean, and the listings
    cli             parses the command line, nothing else
    bootstrap       sets a bare machine up, before anything else can be imported
"""
