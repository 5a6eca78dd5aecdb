"""Limits on the columns of a table, as a policy writes them: column sets, and identifiers of HIPAA's Safe Harbor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import all_options_of
from sqlaudit.base.spec import Roles, SafeHarbor
from sqlaudit.column_sets.request import ColumnRequest
from sqlaudit.gates.keys import TEXT_OR_TEXTS, TEXTS_OF_IT, Keys, described, key_of, keys_of
from sqlaudit.gates.nodes import PolicySection, choice, option_value, share, texts, whole
from sqlaudit.gates.result import ColumnLimit, SafeHarborLimit
from sqlaudit.models.base import COLUMN_SETS, SAFE_HARBOR

# Limits on column sets.

_AMONG = ("quasi_identifiers", "all")
_SEARCH = {option.name: option for option in all_options_of(ColumnRequest)}
COLUMN_NUMBERS = {"max_size": _SEARCH["max_size"], "k": _SEARCH["k"], "share": _SEARCH["tolerance"]}
"""The numbers of a search for column sets that a policy has, by key."""
COLUMN_KEYS: Keys = {
    "max_size": described("Largest number of columns that an attacker knows.", key_of(COLUMN_NUMBERS["max_size"])),
    "k": described("Minimum rows with the same values.", key_of(COLUMN_NUMBERS["k"])),
    "share": described(
        "A share of the rows: 1% or 0.01.",
        {"oneOf": [{"type": "number", "minimum": 0, "exclusiveMaximum": 1}, {"type": "string"}]},
    ),
    "among": {"oneOf": [{"enum": list(_AMONG)}, TEXTS_OF_IT]},
    "exclude": TEXT_OR_TEXTS,
}


def read_columns(section: PolicySection, *_: object) -> tuple[ColumnLimit, ...]:
    """Read the limit of column sets."""
    if "max_size" not in section:
        raise section.node.fail("column_sets needs max_size, the largest number of columns that an attacker knows.")
    max_size = section.take("max_size", option_value, 1, COLUMN_NUMBERS["max_size"], whole)
    k = section.take("k", option_value, COLUMN_NUMBERS["k"].default, COLUMN_NUMBERS["k"], whole)
    allowed = section.take("share", option_value, 0, COLUMN_NUMBERS["share"], share)
    one_word = "among" in section and isinstance(section["among"].value, str)
    among = section.take("among", choice, "", _AMONG) if one_word else section.take("among", texts, _AMONG[0])
    return (ColumnLimit(max_size, k, Fraction(allowed), among, section.take("exclude", texts, ())),)


def column_limit_text(limit: ColumnLimit) -> str:
    """A limit on column sets, the same text however it was written.

    Example:
        >>> column_limit_text(ColumnLimit(3, share=Fraction(1, 100)))
        'column_sets=max_size:3,k:5,share:1%'
    """
    among = "" if limit.among == _AMONG[0] else f",among:{_joined(limit.among)}"
    exclude = f",exclude:{_joined(limit.exclude)}" if limit.exclude else ""
    share = f"{Decimal((limit.share * 100).numerator) / (limit.share * 100).denominator:f}%"
    return f"{COLUMN_SETS}=max_size:{limit.max_size},k:{limit.k},share:{share}{among}{exclude}"


def _joined(names: str | Sequence[str]) -> str:
    return names if isinstance(names, str) else "+".join(names)


def check_columns(limit: ColumnLimit, roles: Roles) -> None:
    if limit.among == _AMONG[0] and not roles.quasi_identifiers:
        raise UsageError("column_sets searches the quasi-identifiers, but the table has none. Add 'among'.")
    if limit.among != _AMONG[0]:  # persons may have further quasi-identifiers
        columns_to_search(limit, roles)


def columns_to_search(limit: ColumnLimit, roles: Roles) -> tuple[str, ...]:
    """The columns that a limit on column sets is about; none where these are all of the table.

    Raises:
        UsageError: every one of them is excluded.
    """
    if limit.among == "all":
        return ()
    named = roles.quasi_identifiers if limit.among == _AMONG[0] else limit.among
    left = tuple(name for name in named if name not in limit.exclude)
    if named and not left:
        raise UsageError("No column is left to search. Exclude fewer.")
    return left


# HIPAA's Safe Harbor, as a policy writes it: `preset: hipaa-safe-harbor`, or with its details.

HARBOR_KEYS: Keys = keys_of(SafeHarbor)


def read_harbor(section: PolicySection, _: str, folder: Path) -> tuple[SafeHarborLimit, ...]:
    """The limit in a section; its file is looked for beside the policy."""
    details = section.take_request(SafeHarbor)
    if details.zip_areas is not None:
        details = replace(details, zip_areas=folder / details.zip_areas)
    return (SafeHarborLimit(details),)


def harbor_text(limit: SafeHarborLimit) -> str:
    """The check, the same text however it was written.

    Example:
        >>> harbor_text(SafeHarborLimit()), harbor_text(SafeHarborLimit(SafeHarbor(Path("a/zips.csv"), ("visit",))))
        ('safe_harbor', 'safe_harbor=zip_areas:zips.csv,reviewed:visit')
    """
    details = limit.request
    parts = [f"zip_areas:{details.zip_areas.name}"] if details.zip_areas else []
    parts += [f"reviewed:{'+'.join(details.reviewed)}"] if details.reviewed else []
    return SAFE_HARBOR + (f"={','.join(parts)}" if parts else "")
