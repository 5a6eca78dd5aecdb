"""What differs between the dialects of the engines beyond what sqlglot spells.

Python asks these facts instead of a dialect's name; what one database does and another does not stands in `engines/`.
"""

from __future__ import annotations

from sqlaudit.base.frozen import dataclass


@dataclass(frozen=True)
class Spoken:
    """What a dialect of SQL can say, and how.

    Args:
        title: the product's name.
        name_quote: the quote around names, doubled within. text_quote: the same of texts. Empty = sqlglot writes them.
        wide: the type in which products of counts never overflow.
        word: the type of a word of packed counts. word_bits: how many bits of it hold them.
        lane_bits: the least width of a count in a word; wider lanes and fewer of them are faster to add up.
        loose_decimals: whether each value of a DECIMAL without a scale has its own, and it may be NaN.
        division: what a quotient of whole numbers is, and where it is something else.
        whole_division: how the whole part of a quotient is written.
        outside: functions that run code of the machine, or read or call something that nobody named.
    """

    title: str
    name_quote: str = ""
    text_quote: str = ""
    wide: str = "DECIMAL(38, 0)"
    word: str = "BIGINT"
    word_bits: int = 62
    lane_bits: int = 1
    loose_decimals: bool = False
    division: str = ""
    whole_division: str = "floor({left} / {exact})"
    outside: tuple[str, ...] = ()


_SPOKEN = {
    "duckdb": Spoken(
        "DuckDB",
        name_quote='"',
        text_quote="'",
        wide="HUGEINT",
        word="HUGEINT",
        word_bits=126,
        division="DuckDB gives fractions, where PostgreSQL would give whole numbers",
        whole_division="{left} // {right} or floor({left} / {exact})",
    ),
    "postgres": Spoken(
        "PostgreSQL",
        name_quote='"',
        text_quote="'",
        word="INTEGER",
        word_bits=60,
        lane_bits=30,
        loose_decimals=True,
        division="PostgreSQL gives whole numbers, where DuckDB and Spark would give fractions",
    ),
    "spark": Spoken(
        "Spark",
        name_quote="`",
        division="Spark gives fractions, where PostgreSQL would give whole numbers",
        whole_division="{left} DIV {right} or floor({left} / {exact})",
        outside=(
            "reflect",
            "java_method",
            "try_reflect",
            "read_files",
            "read_kafka",
            "read_pubsub",
            "read_kinesis",
            "read_pulsar",
            "read_statestore",
            "read_state_metadata",
            "remote_query",
            "http_request",
            "ai_query",
            "vector_search",
            "list_secrets",
            "secret",
            "try_secret",
            "cloud_files_state",
            "python_worker_logs",
        ),
    ),
}


def spoken(dialect: str) -> Spoken:
    """The facts of a dialect by its sqlglot name; of another than the engines', what every warehouse understands.

    Example:
        >>> spoken("duckdb").wide, spoken("snowflake").wide
        ('HUGEINT', 'DECIMAL(38, 0)')
    """
    return _SPOKEN.get(dialect, Spoken(dialect, division=dialect))
