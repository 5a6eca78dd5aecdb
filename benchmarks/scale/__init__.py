"""Time, memory and bytes of audits from 10^5 rows upward, what they predict for 10^10, and what can be saved there.

    python -m benchmarks.scale generate FOLDER --rows 10000000 [--classes 1000000] [--qis 4] [--values 14] [--skew]
    python -m benchmarks.scale run duckdb FOLDER [--largest 100000000]      measure; figures go to docs/scale.csv
    python -m benchmarks.scale run postgres FOLDER                          a server of the test extra, COPY, to 10^7
    python -m benchmarks.scale run spark FOLDER                             spark:local with two threads, to 10^7
    python -m benchmarks.scale screen FOLDER --rows 10000000                sketches against the exact audit
    python -m benchmarks.scale increments FOLDER --rows 10000000            kept histograms against a full audit
    python -m benchmarks.scale cost [--rows 10000000000]                    the fitted cost model and its prediction
    python -m benchmarks.scale tables                                       docs/scale*.csv as Markdown
    python -m benchmarks.scale plot                                         docs/scale_*.svg from docs/scale*.csv

Tables are drawn by DuckDB from hashes of the row number: the same arguments give the same rows everywhere. Every
measurement is a process of its own, whose processor time is that of its whole tree (JVM and server included). Run from
the repository's root. `docs/scale.md` says what came out.
"""
