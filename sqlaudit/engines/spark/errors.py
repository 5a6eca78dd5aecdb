"""Spark's errors in our own sentences.

Spark's messages quote values ("The value 'HIV' of the type STRING cannot be cast"), so none is passed on: the name of
the condition selects the sentence, and the only words taken over are names of columns and tables of our statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from sqlaudit.base.errors import (
    EngineError,
    Incomplete,
    PermissionDenied,
    SqlauditError,
    UnknownColumn,
    UnknownFile,
    UsageError,
)
from sqlaudit.base.names import closest
from sqlaudit.base.parameter_names import spelled

_TEXTS: dict[type[SqlauditError], dict[str, str]] = {
    UnknownColumn: {"UNRESOLVED_COLUMN": "There is no column {name} in {during}.{hint}"},
    UnknownFile: {"PATH_NOT_FOUND": "Spark finds no such file in {during}."},
    UsageError: {
        "TABLE_OR_VIEW_NOT_FOUND": "There is no table {name} in {during}.{hint}",
        "REQUIRES_SINGLE_PART_NAMESPACE": "There is no table of that name in {during}.",
        "SCHEMA_NOT_FOUND": "There is no schema {name} in {during}.",
        "UNRESOLVED_ROUTINE": "Spark has no function {name} in {during}; expressions are written in Spark's own SQL.",
        "AMBIGUOUS_REFERENCE": "The column {name} in {during} is ambiguous.",
        "COLUMN_ALREADY_EXISTS": "Two columns have one name in {during} (Spark ignores case).",
        "DATATYPE_MISMATCH": "The types in {during} do not fit.",
        "PARSE_SYNTAX_ERROR": "Spark could not read the SQL of {during}.",
        "UNABLE_TO_INFER_SCHEMA": "The files in {during} have no column that Spark could find.",
        "FAILED_READ_FILE": "A file in {during} could not be read in the format of its name.",
        "MALFORMED_RECORD_IN_PARSING": "A line in {during} does not have the columns of the others.",
        "MALFORMED_CSV_RECORD": "A line in {during} does not have the columns of the others.",
        "GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE": "A column in {during} has a type without equality, so that its "
        "values cannot be grouped.",
        "UNSUPPORTED_FEATURE": "Spark does not support what {during} asks for, such as VERSION AS OF on a table whose "
        "format has no versions.",
        "NOT_SUPPORTED_WITH_SERVERLESS": "This server does not support what {during} needs.",
        "UNSUPPORTED_DATA_TYPE_FOR_ARROW_CONVERSION": "A column in {during} has a type that Spark does not have.",
    },
    PermissionDenied: {
        "INSUFFICIENT_PERMISSIONS": "The user may not read everything that {during} needs.",
        "PERMISSION_DENIED": "The user may not read everything that {during} needs.",
    },
    EngineError: {
        "DIVIDE_BY_ZERO": "Spark could not compute a value in {during}: division by zero.",
        "CAST_INVALID_INPUT": "Spark could not compute a value in {during}: a text cannot be read as the type that is "
        "asked for.",
        "CAST_OVERFLOW": "Spark could not compute a value in {during}: a number is out of range.",
        "ARITHMETIC_OVERFLOW": "Spark could not compute a value in {during}: a number is out of range.",
        "NUMERIC_VALUE_OUT_OF_RANGE": "Spark could not compute a value in {during}: a number is out of range.",
        "USER_RAISED_EXCEPTION": "Spark could not compute a value in {during}: it is no number, or out of range.",
        "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND": "A relation that the audit kept was lost with one of Spark's executors, "
        "before {during}; run it again.",
    },
}
_SENTENCES = {code: (kind, text) for kind, texts in _TEXTS.items() for code, text in texts.items()}
_CONDITION = re.compile(r"\[([A-Z][A-Z_]+)(?:\.[A-Z_]+)?\]")
_NAMES = ("relationName", "objectName", "routineName", "schemaName", "name", "columnName")
_STOPPED = ("SPARK_JOB_CANCELLED", "OPERATION_CANCELED", "cancelled")
_LOST = ("Checkpoint block", "CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND")


def is_cancelled(error: Exception) -> bool:
    """Return True if the error shows that somebody stopped the job."""
    text = condition(error) + " " + str(error)
    return any(word in text for word in _STOPPED)


def condition(error: Exception) -> str:
    """Return the name of the error's condition, such as `UNRESOLVED_COLUMN.WITH_SUGGESTION`; empty if it has none."""
    get_condition: Any = getattr(error, "getCondition", None) or getattr(error, "getErrorClass", None)
    return (get_condition() or "") if get_condition is not None else ""


def sentence(error: Exception, during: str, names: Iterable[str] = ()) -> SqlauditError:
    """Return our error for an error of Spark, without any value of the data.

    Args:
        error: the error of pyspark, py4j or gRPC.
        during: the work that failed, as a noun (`the step 'totals'`, `--query`).
        names: columns or tables that exist, for the hint with the closest one.
    """
    message = str(error)
    if "maxResultSize" in message:
        return Incomplete(
            f"The result of {during} is larger than what may come back to one machine (spark.driver.maxResultSize)."
        )
    if any(word in message for word in _LOST):
        return EngineError(_SENTENCES["CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND"][1].format(during=during))
    if "OutOfMemoryError" in message:
        return Incomplete(f"Spark ran out of memory in {during}; give it more with {spelled('memory_limit')}.")
    code = condition(error)
    conditions = [code.partition(".")[0], *_CONDITION.findall(message)]
    with_sentence = [name for name in conditions if name in _SENTENCES]
    if with_sentence:  # the last one is the innermost reason
        kind, text = _SENTENCES[with_sentence[-1]]
        word = _name_in(error)
        hint = closest(word, names) if word else ""
        return kind(text.format(during=during, name=repr(word) if word else "of that name", hint=hint))
    if not code and (
        type(error).__name__ in ("Py4JNetworkError", "ConnectionRefusedError", "ConnectionResetError")
        or ("UNAVAILABLE" in str(error))
    ):
        return EngineError(f"The connection to Spark was lost in {during}. Nothing was changed.")
    detail = f" ({code})" if code and code.replace("_", "").replace(".", "").isalnum() else ""
    return EngineError(f"Spark failed in {during}{detail}.")


def _name_in(error: Exception) -> str:
    """Return the name that the error is about, without the quotes that Spark puts around its parts."""
    get_parameters: Any = getattr(error, "getMessageParameters", None)
    parameters = (get_parameters() or {}) if get_parameters is not None else {}
    for key in _NAMES:
        if parameters.get(key):
            return str(parameters[key]).replace("``", "\0").replace("`", "").replace("\0", "`")
    return ""
