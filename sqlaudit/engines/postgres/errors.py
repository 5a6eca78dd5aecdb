"""PostgreSQL's errors in our own sentences.

PostgreSQL quotes the offending value in its messages ("invalid input syntax for type integer: ..."), and libpq quotes
pieces of the connection string. So no message is passed on: the SQLSTATE selects the sentence, and the only words taken
over are names in our own statement at the position of the error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import psycopg
import sqlglot
from sqlglot import TokenType
from sqlglot.errors import SqlglotError

from sqlaudit.base.errors import (
    ConnectionFailed,
    EngineError,
    Incomplete,
    PermissionDenied,
    SqlauditError,
    UnknownColumn,
    UsageError,
)
from sqlaudit.base.names import closest
from sqlaudit.base.parameter_names import spelled

NO_COLUMN, NO_TABLE, CANCELLED = "42703", "42P01", "57014"

_TEXTS: dict[type[SqlauditError], dict[str, str]] = {
    UnknownColumn: {"42703": "There is no column {name} in {during}.{hint}"},
    UsageError: {
        "25": "An audit only reads, but {during} tries to change its transaction.",
        "25006": "An audit only reads, but {during} writes{near}.",
        "42": "PostgreSQL does not accept the SQL of {during}{near} ({code}).",
        "42601": "PostgreSQL could not read the SQL of {during}{near}.",
        "42804": "The types in {during} do not fit{near}.",
        "42883": "PostgreSQL has no function or operator {name} for these arguments in {during}; expressions are "
        "written in PostgreSQL's own SQL, for instance extract(year FROM birth).",
        "42P01": "There is no table {name} in {during}.{hint}",
    },
    PermissionDenied: {"42501": "The role may not read everything that {during} needs{near}."},
    Incomplete: {
        "53100": "The server's disk is full: {during} needs more temporary space.",
        "53200": "The server ran out of memory in {during}.",
        "53400": "The server's temp_file_limit was reached in {during}; ask for a larger one for this role, or raise "
        "{memory_limit}.",
    },
    EngineError: {
        "08": "The connection to PostgreSQL was lost in {during}. Nothing was changed.",
        "0A": "PostgreSQL cannot do what {during} asks for here{near} ({code}).",
        "22": "PostgreSQL could not compute a value in {during}: {what} ({code}).",
        "25P03": "The server's idle_in_transaction_session_timeout ended the audit before {during}; ask for a longer "
        "one for this role.",
        "25P04": "The server's transaction_timeout ended the audit in {during}; ask for a longer one for this role.",
        "40": "The standby had to cancel {during} to keep up with its primary ({code}); try again, raise "
        "max_standby_streaming_delay, or turn hot_standby_feedback on.",
        "53300": "The server has no connection to spare for {during}. Try again later.",
        "53": "The server has too few resources for {during} ({code}).",
        "54": "A limit of PostgreSQL was reached in {during} ({code}).",
        "55000": "Something that {during} reads cannot be read now: a materialized view without data, or a foreign "
        "server without a handler.",
        "55P03": "Another session keeps a table of {during} locked (as ALTER TABLE or VACUUM FULL do); {lock_wait}.",
        "57P01": "The server ended the connection in {during} (an administrator, or a shutdown); nothing was changed.",
        "57P02": "The server crashed in {during} and restarts. Nothing was changed.",
        "57P03": "The server does not accept connections now; {during} was not run.",
        "57P04": "The database was dropped in {during}.",
        "58": "The server could not read or write its files in {during} ({code}); its log says more.",
        "HV": "A foreign table in {during} could not be read from its server ({code}).",
        "P0": "A function or view that {during} uses raised an error of its own ({code}).",
        "XX": "PostgreSQL reports damaged data or an internal error in {during} ({code}); its log says more.",
    },
}
_SENTENCES = {code: (kind, text) for kind, texts in _TEXTS.items() for code, text in texts.items()}

_DATA = {
    "22003": "a number is out of range",
    "22007": "a text is not a date or time",
    "22008": "a date or time is out of range",
    "22012": "division by zero",
    "2201E": "a logarithm of zero or of a negative number",
    "2201F": "a power or root that is not a real number",
    "2202E": "an array subscript is wrong",
    "22021": "a text is not valid UTF-8, and the database's encoding does not say what its bytes mean",
    "22P02": "a text cannot be read as the type that is asked for",
    "21000": "a subquery returned more than one row",
}

RLS_FUNCTION = "check_enable_rls"
"""The function of PostgreSQL that refuses a table with row-level security; the SQLSTATE alone does not show it."""


def sentence(
    error: psycopg.Error, during: str, sql: str = "", names: Iterable[str] = (), lock_wait: str = "try again later"
) -> SqlauditError:
    """Return our error for an error of psycopg, without any value of the data.

    Args:
        error: the error of psycopg.
        during: the work that failed, as a noun (`the step 'totals'`, `--query`).
        sql: the statement that was sent, in which the word at the position of the error is found.
        names: columns or tables that exist, for the hint with the closest one.
        lock_wait: how long a lock was waited for.
    """
    code = error.sqlstate or ""
    if not code:
        return _error_without_code(error, during)
    if code == "42501" and error.diag.source_function == RLS_FUNCTION:
        return row_security(during)
    kind, text = (
        _SENTENCES.get(code) or _SENTENCES.get(code[:2]) or (EngineError, "PostgreSQL failed in {during} ({code}).")
    )
    word = _name_at(sql, error.diag.statement_position)
    return kind(
        text.format(
            during=during,
            code=code,
            what=_DATA.get(code, "the data do not fit the expression"),
            near=f" near {word!r}" if word else "",
            name=repr(word) if word else "of that name",
            hint=closest(word, names) if word else "",
            lock_wait=lock_wait,
            memory_limit=spelled("memory_limit"),
        )
    )


def row_security(during: str) -> PermissionDenied:
    """Return the error for a table of which the role sees only some rows."""
    return PermissionDenied(
        f"Row-level security hides rows from this role in {during}, so the table cannot be audited. Use a role with "
        "BYPASSRLS, or a view that belongs to the table's owner."
    )


def _error_without_code(error: psycopg.Error, during: str) -> SqlauditError:
    """Return our error for an error without a SQLSTATE."""
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return EngineError(f"The connection to PostgreSQL was lost in {during}. Nothing was changed.")
    if isinstance(error, psycopg.ProgrammingError):
        return UsageError(f"An audit only reads, but {during} is not a query.")
    return EngineError(f"A value that PostgreSQL sent in {during} could not be read ({type(error).__name__}).")


def _name_at(sql: str, position: str | None) -> str:
    """Return the name at a position of our statement; empty for operators, numbers and literals."""
    if not (sql and position and position.isdigit()):
        return ""
    try:
        tokens = sqlglot.tokenize(sql, dialect="postgres")
    except SqlglotError:
        return ""
    start = int(position) - 1
    names = (TokenType.VAR, TokenType.IDENTIFIER)
    for last, token in enumerate(tokens):
        if token.start == start and (token.token_type in names or token.text.isidentifier()):
            last_part = last  # the last part of a dotted name that begins at a token: the column in `t.column`
            while last_part + 2 < len(tokens) and tokens[last_part + 1].token_type == TokenType.DOT:
                last_part += 2
            return str(tokens[last_part].text)
    return ""


_CONNECTING: tuple[tuple[tuple[str, ...], str], ...] = (
    (("definition of service",), "There is no service{service} in pg_service.conf."),
    (("service file",), "The service file for the service{service} could not be read."),
    (
        ("could not translate host", "name or service not known", "failed to resolve", "name resolution", "nodename"),
        "The host{host} is not known.",
    ),
    (("invalid port", "servname"), "The port{port} is not a port number."),
    (("refused", "no such file or directory"), "No PostgreSQL server answers at {place}."),
    (("timeout expired", "timed out"), "The PostgreSQL server at {place} did not answer within {seconds} s."),
    (("no route to host", "unreachable"), "There is no route to the PostgreSQL server at {place}."),
    (
        ("no password supplied",),
        "PostgreSQL asks for the password of the user{user}: put it into ~/.pgpass or PGPASSWORD.",
    ),
    (
        ("no pg_hba.conf entry", "pg_hba.conf rejects"),
        "The server at {place} does not let the user{user} connect to the database{dbname} from here "
        "(its pg_hba.conf).",
    ),
    (("authentication failed", "authentication error"), "PostgreSQL did not accept the user{user} or the password."),
    (("not permitted to log in",), "The role{user} may not log in (ALTER ROLE ... LOGIN)."),
    (
        ("permission denied for database", "connect privilege"),
        "The role{user} may not connect to the database{dbname} (GRANT CONNECT ON DATABASE).",
    ),
    (
        ("too many clients", "connection slots", "too many connections", "no more connections"),
        "The server at {place} has no connection to spare. Try again later.",
    ),
    (
        ("starting up", "shutting down", "recovery mode", "not yet accepting", "not accepting"),
        "The server at {place} is starting or stopping. Try again later.",
    ),
    (('fatal:  database "', "no such database"), "There is no database{dbname} at {place}."),
    (('fatal:  role "',), "There is no such role{user} at {place}."),
    (("invalid response",), "The server at {place} is not a PostgreSQL server."),
    (("session is ", "server is "), "No server at {place} is in the state that target_session_attrs asks for."),
    (
        ("root certificate file",),
        "The file with the authorities that the server's certificate is held against (sslrootcert, or "
        "~/.postgresql/root.crt) is not there or holds no certificate.",
    ),
    (
        ("does not match host name",),
        "The certificate of the server at {place} is for another host (sslmode=verify-full).",
    ),
    (
        ("certificate verify failed",),
        "The certificate of the server at {place} is signed by none of the authorities that this client trusts "
        "(sslrootcert), or is out of date.",
    ),
    (("private key file",), "The private key for this client's certificate (sslkey) could not be used."),
    (("certificate", "ssl", "gssapi"), "The server at {place} and this client do not agree on encryption (sslmode)."),
)


def connection_failed(error: psycopg.Error, parts: Mapping[str, str], seconds: int) -> ConnectionFailed:
    """Return the error for a connection that failed.

    Before there is a connection, the server's reason has no SQLSTATE, so it is recognized by its words; a server with
    messages in another language gets the general sentence.

    Args:
        error: the error of psycopg. parts: parts of the connection that may be named, from `named_parts`.
        seconds: how long the connection was waited for.
    """
    message = str(error).lower()
    for words, text in _CONNECTING:
        if any(word in message for word in words):
            return ConnectionFailed(text.format(**parts, seconds=seconds))
    return ConnectionFailed(
        f"The PostgreSQL server at {parts['place']} could not be reached, or refused the connection."
    )
