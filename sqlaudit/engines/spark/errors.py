"""Spark's errors as our own sentences.

Spark's messages quote values ("The value 'HIV' of the type STRING cannot be cast"), so none passes through: the
condition's name chooses the sentence, and the only words taken over are names of columns and tables of our statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from sqlaudit.base.errors import EngineError, Incomplete, PermissionDenied, SqlauditError, UsageError
from sqlaudit.base.names import closest
from sqlaudit.base.words import spelled

_SENTENCES: dict[str, tuple[type[SqlauditError], str]] = {
    "TABLE_OR_VIEW_NOT_FOUND": (UsageError, "There is no table {name} in {during}.{hint}"),
    "SCHEMA_NOT_FOUND": (UsageError, "There is no schema {name} in {during}."),
    "UNRESOLVED_COLUMN": (UsageError, "There is no column {name} in {during}.{hint}"),
    "UNRESOLVED_ROUTINE": (
        UsageError,
        "Spark has no function {name} in {during}; expressions are written in Spark's own SQL.",
    ),
    "AMBIGUOUS_REFERENCE": (UsageError, "The column {name} in {during} could be one of several."),
    "COLUMN_ALREADY_EXISTS": (UsageError, "Two columns have one name in {during} (Spark ignores case)."),
    "DATATYPE_MISMATCH": (UsageError, "The types in {during} do not fit."),
    "PARSE_SYNTAX_ERROR": (UsageError, "Spark could not read the SQL of {during}."),
    "PATH_NOT_FOUND": (UsageError, "Spark finds no such file in {during}."),
    "UNABLE_TO_INFER_SCHEMA": (UsageError, "The files in {during} hold no column that Spark could find."),
    "INSUFFICIENT_PERMISSIONS": (PermissionDenied, "The user may not read everything that {during} needs."),
    "PERMISSION_DENIED": (PermissionDenied, "The user may not read everything that {during} needs."),
    "DIVIDE_BY_ZERO": (EngineError, "Spark could not compute a value in {during}: division by zero."),
    "CAST_INVALID_INPUT": (
        EngineError,
        "Spark could not compute a value in {during}: a text cannot be read as the type that is asked for.",
    ),
    "CAST_OVERFLOW": (EngineError, "Spark could not compute a value in {during}: a number is out of range."),
    "ARITHMETIC_OVERFLOW": (EngineError, "Spark could not compute a value in {during}: a number is out of range."),
    "NUMERIC_VALUE_OUT_OF_RANGE": (
        EngineError,
        "Spark could not compute a value in {during}: a number is out of range.",
    ),
    "FAILED_READ_FILE": (UsageError, "A file in {during} could not be read as what its name says."),
    "MALFORMED_RECORD_IN_PARSING": (UsageError, "A line in {during} does not have the columns of the others."),
    "MALFORMED_CSV_RECORD": (UsageError, "A line in {during} does not have the columns of the others."),
    "GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE": (
        UsageError,
        "A column in {during} has a type without equality, so that its values cannot be grouped.",
    ),
    "UNSUPPORTED_DATA_TYPE_FOR_ARROW_CONVERSION": (
        UsageError,
        "A column in {during} has a type that Spark does not have.",
    ),
    "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND": (
        EngineError,
        "A relation that the audit kept was lost with one of Spark's executors, before {during}; run it again.",
    ),
}
_CONDITION = re.compile(r"\[([A-Z][A-Z_]+)(?:\.[A-Z_]+)?\]")
_NAMES = ("relationName", "objectName", "routineName", "schemaName", "name", "columnName")
_STOPPED = ("SPARK_JOB_CANCELLED", "OPERATION_CANCELED", "cancelled")
_TOO_MUCH = ("maxResultSize",)
_LOST = ("Checkpoint block", "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND")


def is_cancelled(error: Exception) -> bool:
    """Whether the error says that somebody stopped the job."""
    said = condition(error) + " " + str(error)
    return any(word in said for word in _STOPPED)


def condition(error: Exception) -> str:
    """The name of the error's condition, for instance `UNRESOLVED_COLUMN.WITH_SUGGESTION`; empty if it has none."""
    named: Any = getattr(error, "getCondition", None) or getattr(error, "getErrorClass", None)
    return (named() or "") if named is not None else ""


def sentence(error: Exception, during: str, names: Iterable[str] = ()) -> SqlauditError:
    """What went wrong, without any value of the data.

    Args:
        error: what pyspark, py4j or gRPC raised.
        during: what was going on, as a noun (`the step 'totals'`, `--query`).
        names: known columns or tables, for the hint with the closest one.
    """
    said = str(error)
    if any(word in said for word in _TOO_MUCH):
        return Incomplete(
            f"The result of {during} is larger than what may come back to one machine (spark.driver.maxResultSize)."
        )
    if any(word in said for word in _LOST):
        return EngineError(_SENTENCES["CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND"][1].format(during=during))
    if "OutOfMemoryError" in said:
        return Incomplete(f"Spark ran out of memory in {during}; give it more with {spelled('memory_limit')}.")
    code = condition(error)
    named = [code.partition(".")[0], *_CONDITION.findall(said)]
    known = [name for name in named if name in _SENTENCES]
    if known:  # the last one is the innermost reason
        kind, text = _SENTENCES[known[-1]]
        word = _named(error)
        hint = closest(word, names) if word else ""
        return kind(text.format(during=during, name=repr(word) if word else "of that name", hint=hint))
    if not code and _is_gone(error):
        return EngineError(f"The connection to Spark was lost in {during}; nothing was changed.")
    shown = f" ({code})" if code and code.replace("_", "").replace(".", "").isalnum() else ""
    return EngineError(f"Spark failed in {during}{shown}.")


def _named(error: Exception) -> str:
    """The name that the error is about, without the quotes that Spark puts around its parts."""
    given: Any = getattr(error, "getMessageParameters", None)
    parameters = (given() or {}) if given is not None else {}
    for key in _NAMES:
        if parameters.get(key):
            return str(parameters[key]).replace("``", "\0").replace("`", "").replace("\0", "`")
    return ""


def _is_gone(error: Exception) -> bool:
    return type(error).__name__ in ("Py4JNetworkError", "ConnectionRefusedError", "ConnectionResetError") or (
        "UNAVAILABLE" in str(error)
    )
