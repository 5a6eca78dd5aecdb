"""Texts that look like a connection to a database, however badly written: no message and no report quotes one.

A password with an unescaped sign, or a URL with a typing error, is taken for something else (a host, a file, a port),
and messages about that would show it. So each error message is filtered here when it is made.
"""

from __future__ import annotations

import functools
import re

HIDDEN = "…"
"""The replacement for a text that is not shown."""

PARAMETERS = (
    "host|hostaddr|port|dbname|user|service|passfile|sslmode|sslcert|sslkey|sslrootcert|connect_timeout|options|"
    "application_name|target_session_attrs"
)
_SECRETS = r"(?:ssl)?password|passwd|pass|pwd|access_?token|token|secret"
_SCHEMES = (
    r"postgres\w*|postgre\w*|pgsql|psql|pg|spark(?::k8s)?|sc|k8s|jdbc|mysql\w*|mariadb|redshift|snowflake|mssql|sqlserver|"
    r"oracle|mongodb\w*|redis\w*|amqps?|duckdb|md|motherduck|databricks|trino|presto|clickhouse|bigquery"
)
_OF_OURS = r"(?:host:15002|host:port|host/db|host\b|…)(?=[^\w@/]|$)"
"""What follows the `//` of examples in our own messages."""
_SPACED = rf"(?:{_SECRETS}|{PARAMETERS})\s*="
_LITERAL = r"'(?:[^']|'')*'"


@functools.cache
def _start_pattern() -> re.Pattern[str]:
    """Return the pattern of the start of a connection. It is compiled when a text first has a sign of one, since that
    takes longer than most commands.
    """
    return re.compile(
        rf"(?<![\w.-])(?:{_SCHEMES})(?:\+\w+)?(?::/++|//++)(?!{_OF_OURS})"  # a URL of a database, or nearly one
        r"|(?<![\w.+-])[A-Za-z][\w.+-]+:/++(?=.*@)"  # any other URL with an @
        r"|(?<!\S)//(?=\S*@)|(?<=['\"])//(?=.*@)"  # one without its scheme
        rf"|(?<![\w-])(?:{_SECRETS})\s*=\s*(?=\S)"
        rf"|(?<![\w-])(?:{PARAMETERS})\s*=\s*(?=\S.*\b(?:{PARAMETERS})\s*=|\S.*(?:{_SECRETS})\s*=)"
        r"|(?<![^\s'\"(])[^\s'\":@]*:[^\s@:](?=\S*@)"  # user:password@host
        r"|(?<=['\"])[^'\":@]*:(?=.*@)",
        re.IGNORECASE | re.DOTALL,
    )


def _find_connection(text: str) -> re.Match[str] | None:
    """Return the match of the first connection in a text; None if there is none."""
    return _start_pattern().search(text) if ":" in text or "=" in text or "//" in text else None


def looks_like_connection(text: str) -> bool:
    """Return True if a text is meant as a connection to a database, well written or not.

    Example:
        >>> looks_like_connection("postgresql:/u:hush@h/db"), looks_like_connection("clinic.duckdb")
        (True, False)
    """
    return _find_connection(text) is not None


def without_connections(sentence: str) -> str:
    """Return the sentence without anything that looks like a connection to a database.

    Example:
        >>> without_connections("There is no file 'postgres//u:hush@h/db'. Did you mean 'db'?")
        "There is no file '…'."
    """
    match = _find_connection(sentence)
    if match is None:
        return sentence
    start, rest = match.start(), sentence[match.start() :]
    before = sentence[:start]
    quote = before[-1:] if before[-1:] in ("'", '"') else ""
    if quote and rest.rfind(quote) > 0:  # to the last such quote: the password may have one
        return before + HIDDEN + rest[rest.rfind(quote) :].replace("?", ".")
    return before + HIDDEN + _text_after(rest)


def _text_after(rest: str) -> str:
    """Return what follows a connection that is not quoted; empty if it is uncertain how far that reaches."""
    if re.search(_SPACED, rest, re.IGNORECASE):
        return ""
    ends = re.search(r"\s", rest[rest.rfind("@") + 1 :])
    return rest[rest.rfind("@") + 1 + ends.start() :] if ends else ""


def literals_hidden(sql: str) -> str:
    """Return a statement, to be shown, without its texts that look like connections (`dblink('host=… password=…')`).

    Example:
        >>> literals_hidden("SELECT * FROM dblink('host=h password=hush', 'SELECT 1') WHERE host = 'h'")
        "SELECT * FROM dblink('…', 'SELECT 1') WHERE host = 'h'"
    """
    return re.sub(_LITERAL, lambda match: f"'{HIDDEN}'" if looks_like_connection(match[0][1:-1]) else match[0], sql)
