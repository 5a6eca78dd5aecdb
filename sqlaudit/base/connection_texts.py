"""Texts that look like a connection to a database, however badly written: no sentence and no report quotes one.

A password with an unescaped sign, or a URL with a typing error, is taken for something else (a host, a file, a port),
and what speaks of that would show it. So every sentence passes through here when it is made.
"""

from __future__ import annotations

import functools
import re

HIDDEN = "…"
"""What stands for a text that is not quoted."""

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
"""What stands behind the `//` of examples in our own sentences."""
_SPACED = rf"(?:{_SECRETS}|{PARAMETERS})\s*="
_LITERAL = r"'(?:[^']|'')*'"


@functools.cache
def _start() -> re.Pattern[str]:
    """Where a connection begins; compiled when a text first has a sign of one, which takes longer than most commands
    should need for it."""
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


def _found(text: str) -> re.Match[str] | None:
    return _start().search(text) if ":" in text or "=" in text or "//" in text else None


def looks_like_connection(text: str) -> bool:
    """Return True if a text is meant as a connection to a database, well written or not.

    Example:
        >>> looks_like_connection("postgresql:/u:hush@h/db"), looks_like_connection("clinic.duckdb")
        (True, False)
    """
    return _found(text) is not None


def without_connections(sentence: str) -> str:
    """Return the sentence without anything that looks like a connection to a database.

    Example:
        >>> without_connections("There is no file 'postgres//u:hush@h/db'. Did you mean 'db'?")
        "There is no file '…'."
    """
    found = _found(sentence)
    if found is None:
        return sentence
    start, rest = found.start(), sentence[found.start() :]
    before = sentence[:start]
    quote = before[-1:] if before[-1:] in ("'", '"') else ""
    if quote and rest.rfind(quote) > 0:  # to the last such quote: one inside a password ends nothing
        return before + HIDDEN + rest[rest.rfind(quote) :].replace("?", ".")
    return before + HIDDEN + _behind(rest)


def _behind(rest: str) -> str:
    """What follows a connection that nothing quotes: nothing, where it is not sure how far that reaches."""
    if re.search(_SPACED, rest, re.IGNORECASE):
        return ""
    ends = re.search(r"\s", rest[rest.rfind("@") + 1 :])
    return rest[rest.rfind("@") + 1 + ends.start() :] if ends else ""


def literals_hidden(sql: str) -> str:
    """Return a statement without its texts that look like connections (`dblink('host=… password=…')`), to be shown.

    Example:
        >>> literals_hidden("SELECT * FROM dblink('host=h password=hush', 'SELECT 1') WHERE host = 'h'")
        "SELECT * FROM dblink('…', 'SELECT 1') WHERE host = 'h'"
    """
    return re.sub(_LITERAL, lambda found: f"'{HIDDEN}'" if looks_like_connection(found[0][1:-1]) else found[0], sql)
