"""Every result says as whom the database was asked."""

from __future__ import annotations

import getpass

import sqlaudit
from sqlaudit.engines.contract import Engine
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.page import render_html
from sqlaudit.reports.text import render_text
from tests.audit_values import values_query

SAID = {
    "duckdb": "read only",  # a query without a file
    "postgres": "role auditor, in one read-only transaction",
    "spark": f"user {getpass.getuser()}, SELECT only; temporary views in a session of its own",
}


def test_results_say_as_whom_the_database_was_asked(engine: Engine, engine_name: str) -> None:
    query = values_query([{"age": 1}, {"age": 2}], {"age": "int"})
    result = sqlaudit.audit(query=query, db=engine, qi=["age"])
    assert result.to_dict()["access"] == SAID[engine_name]
    assert SAID[engine_name] in render_html(document_of(result))
    assert SAID[engine_name] in " ".join(render_text(document_of(result)).split())
    assert sqlaudit.columns(query=query, db=engine).access == SAID[engine_name]
