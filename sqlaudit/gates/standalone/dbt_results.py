"""What dbt's run_results.json says of the statements of a policy, run as models that are materialized as answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlaudit.base.errors import InputError
from sqlaudit.gates.standalone.policies import wording_of

MATERIALIZED = "sqlaudit_answer"
"""The materialization of the dbt package that puts a statement's row into the artefact."""
_SCHEMA = "dbt_schema_version"
_RUN = "/run-results/"


def is_artefact(found: Any) -> bool:
    """Whether a JSON document is an artefact of dbt."""
    return isinstance(found, dict) and isinstance(found.get("metadata"), dict) and _SCHEMA in found["metadata"]


def answers_in(found: Mapping[str, Any], name: str) -> Iterator[tuple[Mapping[str, Any], str, str]]:
    """The rows of statements in an artefact; what else dbt ran is left out.

    Args:
        found: the artefact. name: of its file.

    Yields:
        A row, the text that dbt ran for it, and what is wrong with it: empty = nothing, else no figure of it is there.

    Raises:
        InputError: it is another artefact, or dbt ran no statement of a policy.
    """
    results = found.get("results")
    if _RUN not in str(found["metadata"][_SCHEMA]) or not isinstance(results, list):
        raise InputError(f"{name}: is another artefact of dbt; what its tests and models said is in run_results.json.")
    answered = [one for one in results if isinstance(one, dict) and wording_of(_named(one), "") is not None]
    if not answered:
        raise InputError(
            f"{name}: dbt ran no statement of a policy: write them with `sqlaudit compile -f POLICY --each-to FOLDER` "
            f"into a folder of models that is 'materialized: {MATERIALIZED}'."
        )
    for one in answered:
        yield _answer(one)


def _named(result: Mapping[str, Any]) -> str:
    """The name of the model that a result is about; empty where it is about something else."""
    kind, _, name = str(result.get("unique_id")).partition(".")
    return name.rpartition(".")[2] if kind == "model" else ""


def _answer(result: Mapping[str, Any]) -> tuple[Mapping[str, Any], str, str]:
    named = _named(result)
    nothing = {"test_id": named}
    if result.get("status") != "success":
        return nothing, "", "dbt did not run to its end"
    text = result.get("compiled_code")
    if not isinstance(text, str) or not text.strip():
        return nothing, "", "does not say which statement dbt ran (its compiled_code)"
    row = _row(result.get("message"))
    if row is None:
        return nothing, "", f"is no row of figures: its model is not 'materialized: {MATERIALIZED}'"
    if row.get("test_id") != named:
        return nothing, "", "is of another statement than its model"
    return row, text, ""


def _row(message: Any) -> dict[str, Any] | None:
    """The one row in a message; None where it holds something else."""
    try:
        rows = json.loads(message) if isinstance(message, str) else None
    except (ValueError, RecursionError):
        return None
    if isinstance(rows, list) and len(rows) == 1 and isinstance(rows[0], dict):
        return rows[0]
    return None


def same_statement(sql: str, ran: str) -> bool:
    """Whether a text that ran is a statement, perhaps under comments.

    Example:
        >>> same_statement("SELECT 1", "-- k=5\\nSELECT 1;\\n"), same_statement("SELECT 1", "SELECT 2")
        (True, False)
    """
    lines = ran.rstrip().removesuffix(";").rstrip().splitlines()
    while lines and (not lines[0].strip() or lines[0].startswith("--")):
        del lines[0]
    return lines == sql.rstrip().splitlines()
