"""DuckDB's errors as sentences of ours.

DuckDB's messages quote what they stumble over: a line of the file, a value that could not be converted. So no
message passes. What is taken from one is a line number, a count, a name that is known to be a column or a file, or
an identifier that stands in the SQL itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlaudit.base.errors import EngineError, Incomplete, Interrupted, PermissionDenied, SqlauditError, UsageError
from sqlaudit.base.names import closest, quote
from sqlaudit.base.words import about, spelled
from sqlaudit.engines.duckdb.driver import duckdb
from sqlaudit.engines.duckdb.input_errors import ErrorPlace, of_csv, of_database, of_file, of_io, of_log

_NO_COLUMN = re.compile(r'^Binder Error: Referenced column "(.*)" not found')
_NO_FIELD = re.compile(r'^Binder Error: .* does not have a column named "(.*)"')
_NO_FUNCTION = re.compile(r"^Catalog Error: \w+ Function with name (\S+) does not exist")
_NO_TABLE = re.compile(r'^Catalog Error: Table with name "?(.*?)"? does not exist')
_WRONG_TYPES = re.compile(
    r"^Binder Error: No function matches the given name and argument types '(\w+)\(([\w, ()]*)\)'"
)


def translate(error: duckdb.Error, place: ErrorPlace) -> SqlauditError:
    """The error to raise instead, without cause, for an error of DuckDB.

    Example:
        >>> translate(duckdb.IOException("IO Error: No space left on device"), ErrorPlace("classes")).exit_code.name
        'INCOMPLETE'
    """
    text = str(error)
    if isinstance(error, duckdb.InterruptException):
        return _interrupted(place)
    for kinds, explain in _EXPLANATIONS:
        if isinstance(error, kinds):
            found = explain(text, place)
            if found is not None:
                return found
    return EngineError(f"DuckDB could not run the step {place.step!r} ({type(error).__name__}).")


def _interrupted(place: ErrorPlace) -> SqlauditError:
    if place.timeout is not None:
        return Incomplete(f"The time limit of {place.timeout:g} seconds was reached in the step {place.step!r}.")
    return Interrupted(f"Stopped in the step {place.step!r}.")


def _memory(text: str, place: ErrorPlace) -> SqlauditError:
    if "max_temp_directory_size" in text or "temp_directory" in text.casefold():
        return _disk(place)
    return Incomplete(
        f"The memory limit was reached in the step {place.step!r}; raise {spelled('memory_limit')} or lower "
        f"{spelled('threads')}."
    )


def _disk(place: ErrorPlace) -> SqlauditError:
    return Incomplete(
        f"There is no room left on disk for what the step {place.step!r} spills; name a larger "
        f"{about('temp_directory')}."
    )


def _binder(text: str, place: ErrorPlace) -> SqlauditError | None:
    """A name or a type in the SQL that does not fit the relation."""
    if missing := _NO_COLUMN.match(text) or _NO_FIELD.match(text):
        return UsageError(f"There is no column {missing[1]!r}.{closest(missing[1], place.names)}")
    if missing := _NO_FUNCTION.match(text):
        return UsageError(f"DuckDB has no function {missing[1]!r}{_own_function(missing[1], place)}.")
    if missing := _NO_TABLE.match(text):
        return UsageError(f"There is no table or view {missing[1]!r}, which the step {place.step!r} reads.")
    if wrong := _WRONG_TYPES.match(text):
        return UsageError(f"The function {wrong[1]!r} does not take ({wrong[2]}); cast its arguments.")
    if "cannot contain aggregates" in text:
        return UsageError("An expression over the columns of one row may hold no aggregate.")
    return None


def _own_function(name: str, place: ErrorPlace) -> str:
    """How a macro of the database is called, since none of them stands for a function of DuckDB's."""
    if not place.catalog:
        return ""
    full = ".".join(quote(part, "duckdb") for part in (place.catalog, "main"))
    return f"; a macro of the database is called by its full name, {full}.{name}(…)"


def _not_planned(_: str, place: ErrorPlace) -> SqlauditError:
    return UsageError(f"DuckDB could not read the SQL of the step {place.step!r}.")


def _value(text: str, place: ErrorPlace) -> SqlauditError:
    if "read-only mode" in text or "configuration has been locked" in text:
        return EngineError(f"The step {place.step!r} would change something; an audit only reads.")
    return UsageError(
        f"An expression in the step {place.step!r} meets a value that it can't convert or compute; "
        f"use TRY_CAST, or leave such rows out with {spelled('where')}."
    )


def _permission(_: str, place: ErrorPlace) -> SqlauditError:
    return PermissionDenied(
        f"The step {place.step!r} reaches for a file that is not an input; access is closed to everything else."
    )


def _internal(_: str, place: ErrorPlace) -> SqlauditError:
    return EngineError(f"DuckDB failed inside in the step {place.step!r}; nothing was changed.")


_EXPLANATIONS: tuple[
    tuple[type[Exception] | tuple[type[Exception], ...], Callable[[str, ErrorPlace], SqlauditError | None]], ...
] = (
    (duckdb.OutOfMemoryException, _memory),
    (duckdb.PermissionException, _permission),
    (duckdb.Error, of_csv),
    (duckdb.Error, of_log),
    ((duckdb.IOException, duckdb.ResourceInUseException, duckdb.ConnectionException, duckdb.BinderException), of_io),
    (duckdb.Error, of_database),
    ((duckdb.InvalidInputException, duckdb.IOException, duckdb.SerializationException), of_file),
    ((duckdb.BinderException, duckdb.CatalogException), _binder),
    ((duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException, duckdb.SyntaxException), _not_planned),
    ((duckdb.ConversionException, duckdb.OutOfRangeException, duckdb.InvalidInputException), _value),
    ((duckdb.FatalException, duckdb.InternalException), _internal),
)
