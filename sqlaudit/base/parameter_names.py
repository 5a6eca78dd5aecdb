"""What the fields of a request are called where it was made: `--qi` on the command line, `qi=` in Python.

The library names fields and never how somebody spells them. Each edge says for a while how it does; without an edge it
is Python that asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Spelling = Callable[[str, tuple[object, ...]], str | None]
"""A field and values of it as an edge writes them; None where the edge has no word of its own for that field."""
_LISTS = ("qi", "sensitive", "identifier", "keep_column", "insensitive", "accept_identifier", "require", "reviewed")
_LIMITS = {"memory_limit": "memory", "threads": "threads", "temp_directory": "temp_directory", "timeout": "timeout"}
_READ_FIELDS = "delimiter encoding skip decimal null_values all_text header hive_partitioning sheet labels date_order"
_READ = {name: name for name in _READ_FIELDS.split()}
_HOLDERS = {"limits=Limits": _LIMITS, "read=ReadOptions": {**_READ, "file_format": "format"}}
_SPELLINGS: ContextVar[tuple[Spelling, ...]] = ContextVar("sqlaudit_spellings", default=())


@contextmanager
def speaking(spelling: Spelling) -> Iterator[None]:
    """A block in which fields are called what an edge calls them; those it does not know, as around the block."""
    token = _SPELLINGS.set((*_SPELLINGS.get(), spelling))
    try:
        yield
    finally:
        _SPELLINGS.reset(token)


def spelled(field: str, *values: object) -> str:
    """A field, or a field that is given these values, as its caller writes it.

    Args:
        field: the name of a parameter. values: what it is given: texts, numbers, or one of True and False.

    Example:
        >>> spelled("sensitive"), spelled("qi", "age", "sex"), spelled("nulls", "equal"), spelled("threads")
        ('sensitive=', "qi=['age', 'sex']", "nulls='equal'", 'limits=Limits(threads=…)')
    """
    for spelling in reversed(_SPELLINGS.get()):
        said = spelling(field, values)
        if said is not None:
            return said
    return in_python(field, values)


def command(name: str) -> str:
    """A command, or in Python the function of that name, as its caller writes it.

    Example:
        >>> command("profile")
        '`sqlaudit.profile()`'
    """
    return f"`sqlaudit.{name}()`" if is_python() else f"`sqlaudit {name}`"


def is_python() -> bool:
    """Return True if the caller is Python, and neither a command, a policy nor the console."""
    return not _SPELLINGS.get()


def about(field: str) -> str:
    """A field as the head of a sentence about it, before a colon.

    Example:
        >>> f"{about('qi')}: there is no column 'agee'."
        "qi: there is no column 'agee'."
    """
    return spelled(field).removesuffix("=").removesuffix(":")


def of_table(name: str) -> Spelling:
    """Return how options for reading files are spelled for one of several tables: `--read release:skip=1`."""

    def spelling(field: str, values: tuple[object, ...]) -> str | None:
        key = _HOLDERS["read=ReadOptions"].get(field)
        edge = "" if key is None else spelled("read")
        if edge in ("", "'read'"):  # in a policy each table has its own
            return None
        value = values[0] if values else "…"
        if edge.startswith("--"):
            word = ("yes" if value else "no") if isinstance(value, bool) else value
            return spelled("read", f"{name}:{key}={word}")
        return f"{edge}{{{name!r}: {{{key!r}: {value!r}}}}}"

    return spelling


def in_python(field: str, values: tuple[object, ...]) -> str:
    """The parameter of the function, or of what the function takes for it."""
    given = repr(list(values) if field in _LISTS else values[0]) if values else ""
    for holder, names in _HOLDERS.items():
        if field in names:
            return f"{holder}({names[field]}={given or '…'})"
    return f"{field}={given}"
