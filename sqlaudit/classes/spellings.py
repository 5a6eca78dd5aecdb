"""Sensitive values that a reader takes for one, however they are written: in another case, with other spaces, or with
characters that nobody sees. Texts are compared here; SQL gets the numbers of their lanes."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Kind, Statement
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import spelled
from sqlaudit.classes.facts import Frame, SensitiveTable
from sqlaudit.engines.contract import Engine

_UNSEEN = frozenset("\u034f\u115f\u1160\u2800\u3164\uffa0") | {chr(code) for code in range(0xFE00, 0xFE10)}
"""Characters without a picture that Unicode counts as letters, marks or symbols: fillers and variation selectors."""


TEXTS = (Kind.TEXT, Kind.OTHER)
"""Kinds of what may hold texts; of expressions nobody knows."""
MOST_TEXTS = 1_000_000
"""So many different texts are compared; an attribute with more is none of categories."""
DIFFER = "Some values of {} differ only in case, spaces or characters that nobody sees, and a reader takes them for one"
"""How what is said of such values begins."""
Merged = tuple[tuple[int, int], ...]
"""Lanes of values, each with the lane of the value that it is written like."""


def folded(text: str) -> str:
    """A text as a reader takes it: compatible forms, case, spaces and invisible characters do not count.

    Accents and punctuation do: they tell words apart.

    Example:
        >>> [folded(one) == folded(other) for one, other in ((" H\\u200bIV ", "hiv"), ("ü", "u\\u0308"), ("ê", "e"))]
        [True, True, False]
    """
    seen = "".join(one for one in text if one.isspace() or not _is_unseen(one))
    words = unicodedata.normalize("NFKC", seen).casefold().split()
    return unicodedata.normalize("NFKC", " ".join(words))


def _is_unseen(one: str) -> bool:
    return one in _UNSEEN or unicodedata.category(one) in ("Cf", "Cc")


def merged_lanes(table: SensitiveTable) -> Merged:
    """The lanes of values that another value before them is written like, each with the lane of that one.

    Example:
        >>> values = ("HIV", "flu", "hiv ", None)
        >>> merged_lanes(SensitiveTable("d", (1, 2, 3, 1), has_null=True, ordered=False, text=True, values=values))
        ((2, 0),)
    """
    return _merged(table.values)


def _merged(values: Sequence[Any]) -> Merged:
    first: dict[str, int] = {}
    lanes = [(lane, value) for lane, value in enumerate(values) if isinstance(value, str)]
    known = [(lane, first.setdefault(folded(value), lane)) for lane, value in lanes]
    return tuple((lane, other) for lane, other in known if lane != other)


def refuse_spellings(engine: Engine, attribute: str, places: Sequence[tuple[str, str]], required: str) -> None:
    """Nothing, where no two values of an attribute are spellings of one.

    Args:
        attribute: how the user calls it. places: FROM items that have it, each with its expression there.
        required: what is required of its values, as the user wrote it.

    Raises:
        UsageError: some are, so that what is required would be found in spellings.
    """
    statement = render(
        "classes/texts_of.sql",
        engine.dialect,
        step=f"spellings of {attribute}",
        places=[{"source": Raw(source), "value": Raw(value)} for source, value in places],
        most=MOST_TEXTS,
    )
    if _merged([row[0] for row in engine.run(statement)]):
        raise unsure(attribute, required)


def unsure(attribute: str, required: str) -> UsageError:
    """What is said where a requirement may be found in spellings of values alone."""
    found = f"what {required!r} finds in them as they are written need not be there"
    return UsageError(f"{DIFFER.format(attribute)}: {found}. {way_out(attribute)}")


def way_out(name: str) -> str:
    """What to do where the values of an attribute of this name are spelled in several ways."""
    one_way, apart = spelled("sensitive", f"lower(trim({name}))"), spelled("sensitive", f"md5({name})")
    return (
        f"Write them in one way, as {one_way} does for case and spaces; or, if they are different values, say so by an "
        f"expression that nobody reads: {apart}."
    )


def alike_statement(frame: Frame, table: SensitiveTable, merged: Merged, dialect: str) -> Statement:
    """The rows (q1, q2, …, e, s) of a frame with a sensitive attribute, `s` one number for all spellings of a value."""
    return render(
        "classes/spelled_alike.sql",
        dialect,
        step="values however they are spelled",
        source=Raw(frame.source),
        keys=[Raw(key) for key in frame.keys],
        sensitive=Raw(str(frame.sensitive)),
        entity=None if frame.entity is None else Raw(frame.entity),
        text=table.text,
        merged=[list(pair) for pair in merged],
    )
