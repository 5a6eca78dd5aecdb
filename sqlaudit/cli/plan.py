"""`--dry-run` and `--explain`: what would run, as data on stdout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlaudit.base.relation import Statement
from sqlaudit.base.spec import AuditSpec
from sqlaudit.cli.options import Work
from sqlaudit.cli.output import Output
from sqlaudit.engines.contract import Engine
from sqlaudit.reports.escape import markdown, visible
from sqlaudit.reports.formats import render_json

SCHEMA = "sqlaudit-plan/1"
_NOTE = "Nothing was measured. Statements that depend on what these find are not listed."


def show_plan(engine: Engine, spec: AuditSpec, work: Work, output: Output) -> None:
    """Print the statements of an audit and the tables that they read; with `--explain` the database's plans.

    Raises:
        SqlauditError: the target cannot be opened, or a role is missing in it.
    """
    from sqlaudit.audits.auditor import Auditor

    statements = Auditor(engine).plan(spec)
    tables = engine.open(spec.target).tables or (spec.target.name,)
    show_statements(engine, tables, statements, work, output)


def show_statements(
    engine: Engine, tables: Sequence[str], statements: Sequence[Statement], work: Work, output: Output
) -> None:
    """Print statements and the tables that they read; with `--explain` the database's plans."""
    plans = [engine.explain(statement) for statement in statements] if work.explain else []
    if output.format == "json":
        output.write(render_json(_data(engine, tables, statements, plans)))
    elif output.format == "markdown":
        output.write(_markdown(tables, statements, plans))
    else:
        output.write(_script(tables, statements, plans))


def _data(
    engine: Engine, tables: Sequence[str], statements: Sequence[Statement], plans: Sequence[str]
) -> dict[str, Any]:
    listed = [{"name": statement.name, "sql": statement.sql} for statement in statements]
    for entry, plan in zip(listed, plans, strict=False):
        entry["plan"] = plan
    return {"schema": SCHEMA, "engine": engine.version(), "tables": list(tables), "statements": listed}


def _script(tables: Sequence[str], statements: Sequence[Statement], plans: Sequence[str]) -> str:
    """A SQL script: the statements run as they stand, everything else is a comment."""
    parts = [f"-- Reads: {', '.join(visible(table) for table in tables)}\n-- {_NOTE}\n"]
    for position, statement in enumerate(statements):
        parts.append(f"\n{_lines(statement.sql)};\n")
        if plans:
            parts.append(_lines(plans[position], "-- ") + "\n")
    return "".join(parts)


def _markdown(tables: Sequence[str], statements: Sequence[Statement], plans: Sequence[str]) -> str:
    parts = [f"Reads: {', '.join(markdown(table) for table in tables)}", _NOTE]
    for position, statement in enumerate(statements):
        parts += [f"## {markdown(statement.name)}", f"~~~~~~sql\n{_lines(statement.sql)}\n~~~~~~"]
        if plans:
            parts.append(f"~~~~~~text\n{_lines(plans[position])}\n~~~~~~")
    return "\n\n".join(parts) + "\n"


def _lines(text: str, prefix: str = "") -> str:
    return "\n".join(f"{prefix}{visible(line)}".rstrip() for line in text.rstrip().splitlines())
