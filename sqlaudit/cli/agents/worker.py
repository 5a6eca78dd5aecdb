"""One call of a tool, in a process of its own: `python -m sqlaudit.cli.agents.worker`.

A call that does not end, takes too much memory or makes a library crash ends this process and not the server. The job
comes by stdin, because a connection may hold a password and other users can read the arguments of a process. The
result goes to stdout, and a sentence to stderr, as with commands.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

GIBIBYTE = 1 << 30
_UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "t": 1000**4}


def main() -> None:
    """Read a job, run it, and write its result."""
    from sqlaudit.cli.signals import ENDING

    ENDING.take()
    from sqlaudit.cli.exits import Boundary

    with ENDING.raising(), Boundary() as boundary:
        boundary.code = _work(json.load(sys.stdin))
    sys.exit(ENDING.code(boundary.code))


def _work(job: Mapping[str, Any]) -> int:
    """Run a job and write its result as JSON. Return the exit code."""
    from sqlaudit.base.parameter_names import speaking
    from sqlaudit.base.spec import Limits
    from sqlaudit.cli.agents.tools import QUERY, TOOLS, in_a_call
    from sqlaudit.cli.group import on_the_command_line
    from sqlaudit.reports.formats import render_json

    limits = Limits(**job["limits"])
    _bound_memory(job.get("db"), limits.memory)
    if job["tool"] == QUERY:
        from sqlaudit.engines.duckdb.cube import query_cube

        with speaking(on_the_command_line):
            answer = query_cube(Path(job["cube"]), job["sql"], limits)
        sys.stdout.write(render_json(answer.to_dict()))
        return 0
    with speaking(on_the_command_line), speaking(in_a_call(TOOLS[job["tool"]])):
        result = _call_tool(job, limits)
    sys.stdout.write(render_json(result.to_dict()))
    sys.stdout.flush()
    return 0


def _call_tool(job: Mapping[str, Any], limits: Any) -> Any:
    """Open the tables of a job, check the columns it names, and return the tool's result."""
    from sqlaudit.base.spec import ReadOptions, Target
    from sqlaudit.cli.agents.tools import TOOLS
    from sqlaudit.cli.options import Work
    from sqlaudit.cli.session import session

    tool, arguments = TOOLS[job["tool"]], dict(job["arguments"])
    targets = [
        Target(relation=relation, read=ReadOptions(**{**read, "null_values": tuple(read["null_values"])}), label=label)
        for label, relation, read in job["tables"]
    ]
    with session(job["db"], limits, Work(), *targets) as engine:
        opened = [engine.open(target) for target in targets]
        tool.check_columns(arguments, opened[0], opened[1] if len(opened) > 1 else None)
        if len(targets) > 1:
            arguments["static_from"] = targets[1]
        return tool.call(engine, targets[0], arguments)


def _bound_memory(db: str | None, memory: str) -> None:
    """Limit the memory of this process to DuckDB's limit and a gibibyte for everything else.

    Not with Spark, as Java asks for more than it uses.
    """
    from sqlaudit.engines import names_spark

    match = re.fullmatch(r"(?i)([\d.]+)\s*([kmgt]?)i?b?", memory.strip())
    if match is None or (db is not None and names_spark(db)):
        return
    with contextlib.suppress(ImportError, OSError, ValueError):  # not on Windows; or less is allowed already
        import resource

        limit = int(float(match[1]) * _UNITS[match[2].lower()]) + GIBIBYTE
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


if __name__ == "__main__":
    main()
