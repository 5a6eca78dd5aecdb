"""How option values are read: lists at top-level commas, durations, sizes, counts or all."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path

import click

from sqlaudit.base.errors import UsageError
from sqlaudit.base.numbers import exact_share
from sqlaudit.base.options import split_list

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_SIZE = re.compile(r"\d+(\.\d+)?\s*(B|[KMGT]i?B)", re.IGNORECASE)
_DURATION = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*([smh]?)", re.IGNORECASE)
_RANGE = re.compile(r"(?:(\d{1,6})\s*(?:\.\.|-)\s*)?(\d{1,6})")
_SPELLED_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}


def split_lists(texts: Iterable[str], option: str) -> tuple[str, ...]:
    """The items of an option that may be given several times, each with a list."""
    return tuple(item for text in texts for item in split_list(text, option))


def one_column(text: str, option: str) -> str:
    """The one column that an option names.

    Raises:
        UsageError: there are several.
    """
    names = split_list(text, option)
    if len(names) > 1:
        who = ": the one that says which person a row is about" if option == "--entity" else ""
        raise UsageError(f"{option} takes one column{who}.")
    return names[0]


def weights(texts: Iterable[str], option: str) -> dict[str, Fraction]:
    """What columns weigh, from `age=2,sex=1`.

    Raises:
        UsageError: no such text, or a column twice.
    """
    found: dict[str, Fraction] = {}
    for item in split_lists(texts, option):
        name, equals, number = (part.strip() for part in item.rpartition("="))
        if name in found:
            raise UsageError(f"{option} names {name!r} twice.")
        try:
            found[name] = exact_share(number if equals and name else "")
        except UsageError:
            raise UsageError(f"{option} takes column=number, for instance age=2, not {item!r}.") from None
    return found


def file_text(path: Path, option: str) -> str:
    """What is in a file that an option names.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{option} {str(path)!r} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{option} {str(path)!r} is not UTF-8 text.") from None


def null_values(text: str | None) -> tuple[str, ...]:
    """The texts that mean NULL, separated by commas; `""` is the empty text."""
    return tuple(item.strip().replace('""', "") for item in text.split(",")) if text else ()


def delimiter(text: str | None) -> str:
    """A CSV separator; `tab` and `\\t` are understood.

    Raises:
        UsageError: it is longer than one character.
    """
    found = _SPELLED_DELIMITERS.get((text or "").lower(), text or "")
    if len(found) > 1:
        raise UsageError("--delimiter takes one character, or tab.")
    return found


def duration(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """Seconds, from a number that may end in s, m or h; a callback for `click.option`.

    Raises:
        click.BadParameter: it is no such time.
    """
    if value is None:
        return None
    found = _DURATION.fullmatch(value.strip())
    if found is None or float(found[1]) <= 0:
        raise click.BadParameter(f"{value!r} is not a time; write 90, 90s, 15m or 2h.", ctx, param)
    return float(found[1]) * _UNITS[found[2].lower()]


def size(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """An amount of memory as DuckDB writes it; a callback for `click.option`.

    Raises:
        click.BadParameter: it is no such amount.
    """
    if value is not None and _SIZE.fullmatch(value.strip()) is None:
        raise click.BadParameter(f"{value!r} is not an amount of memory; write 500MB or 4GB.", ctx, param)
    return value.strip() if value else None


def pieces(ctx: click.Context, param: click.Parameter, value: str) -> tuple[int, int]:
    """The first and last number of pieces of knowledge; a callback for `click.option`.

    Raises:
        click.BadParameter: it is no such range.
    """
    found = _RANGE.fullmatch(value.strip())
    if found is None:
        raise click.BadParameter(f"{value!r} is not a range of numbers; write 0..12, or 12.", ctx, param)
    return int(found[1] or 0), int(found[2])


def probability(ctx: click.Context, param: click.Parameter, value: str | None) -> Fraction | None:
    """A probability above 0, exact; a callback for `click.option`.

    Raises:
        click.BadParameter: it is none.
    """
    if value is None:
        return None
    try:
        number = Decimal(value)
    except InvalidOperation:
        raise click.BadParameter(f"{value!r} is not a number; write 0.7.", ctx, param) from None
    if not (number.is_finite() and 0 < number <= 1 and number.adjusted() > -30):
        raise click.BadParameter(f"{value!r} is not a probability above 0 and at most 1.", ctx, param)
    return Fraction(number)


def number_or_worst(ctx: click.Context, param: click.Parameter, value: str | None) -> int | str | None:
    """A number of pieces of knowledge, or `worst`; a callback for `click.option`.

    Raises:
        click.BadParameter: it is neither.
    """
    if value in (None, "worst"):
        return value
    if value.isascii() and value.isdecimal() and len(value) < 7:
        return int(value)
    raise click.BadParameter(f"{value!r} is not a number of pieces; put {param.opts[0]} behind the TARGET.", ctx, param)


def count_or_all(ctx: click.Context, param: click.Parameter, value: str) -> int | None:
    """A number of things, None for `all`; a callback for `click.option`.

    Raises:
        click.BadParameter: it is neither.
    """
    text = value.strip().lower()
    if text != "all" and not (text.isascii() and text.isdecimal()):
        raise click.BadParameter(f"{value!r} is neither a number nor 'all'.", ctx, param)
    return None if text == "all" else int(text)


def share(text: str, option: str) -> Fraction:
    """The share that an option was given, exact.

    Raises:
        UsageError: it is none.

    Example:
        >>> share("1%", "--tolerance"), share("0.2", "--epsilon")
        (Fraction(1, 100), Fraction(1, 5))
    """
    try:
        return exact_share(text)
    except UsageError:
        raise UsageError(f"{option} takes a share such as 0.01 or 1%, not {text!r}.") from None
