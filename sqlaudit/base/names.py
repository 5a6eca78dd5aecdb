"""Names as users write them and as SQL has them: quoting, literals, dotted names, and the closest of known names.

Every statement is made with these, so nothing large is imported: the engines' own dialects are spelled here, those of
other warehouses by sqlglot.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlaudit.base.dialects import spoken
from sqlaudit.base.errors import UsageError


def quote(name: str, dialect: str) -> str:
    """The one quoting function: an identifier exactly as named, safe in any position of a statement.

    Example:
        >>> quote('a "b"; c', "duckdb")
        '"a ""b""; c"'
    """
    mark = spoken(dialect).name_quote
    if mark:
        return mark + name.replace(mark, mark * 2) + mark
    from sqlglot import exp

    return exp.to_identifier(name, quoted=True).sql(dialect=dialect)


def literal(value: object, dialect: str) -> str:
    """A Python value as SQL: text, numbers, booleans, lists of them, and dictionaries with text keys.

    For settings, file names and read options only; values of the audited data never pass through here.

    Raises:
        TypeError: any other value.

    Example:
        >>> literal(["it's", True, 2], "duckdb")
        "['it''s', TRUE, 2]"
    """
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return _text(value, dialect)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(literal(item, dialect) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(literal(k, dialect) + ": " + literal(v, dialect) for k, v in value.items()) + "}"
    raise TypeError(f"no SQL literal for a {type(value).__name__}")


def split_name(text: str) -> tuple[str, ...]:
    """The parts of a table's name as a user writes it: dots separate, double quotes protect.

    Raises:
        UsageError: a quote that is not closed, an empty part, or text after a closing quote.

    Example:
        >>> split_name('main."odd.name"')
        ('main', 'odd.name')
    """
    parts, rest = [], text
    while True:
        part, rest = _next_part(rest, text)
        parts.append(part)
        if not rest:
            return tuple(parts)
        rest = rest[1:]


def closest(name: str, names: Iterable[str]) -> str:
    """A hint that names the closest of the known names, empty when none is close.

    Example:
        >>> closest("Adress", ["age", "address"])
        " Did you mean 'address'?"
    """
    import difflib  # only where something is wrong

    folded = {known.casefold(): known for known in names}
    near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return f" Did you mean {folded[near[0]]!r}?" if near else ""


def _next_part(rest: str, text: str) -> tuple[str, str]:
    """The first part of a dotted name, and what follows it (empty, or from the next dot on)."""
    if rest.startswith('"'):
        end = _closing_quote(rest)
        part, rest = rest[1:end].replace('""', '"'), rest[end + 1 :]
        broken = end < 0 or (rest and not rest.startswith("."))
    else:
        part, dot, after = rest.partition(".")
        part, rest = part.strip(), dot + after
        broken = '"' in part
    if broken or not part:
        raise UsageError(f"{text!r} is not a table's name; write schema.table, with double quotes around odd names.")
    return part, rest


def _closing_quote(rest: str) -> int:
    at = 1
    while (at := rest.find('"', at)) >= 0:
        if not rest.startswith('""', at):
            return at
        at += 2
    return -1


def _text(value: str, dialect: str) -> str:
    mark = spoken(dialect).text_quote
    if mark:
        return mark + value.replace(mark, mark * 2) + mark
    from sqlglot import exp

    return exp.Literal.string(value).sql(dialect=dialect)
