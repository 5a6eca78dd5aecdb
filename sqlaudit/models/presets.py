"""Published rules by their names, as the file `presets.toml` beside this module has them."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import closest
from sqlaudit.base.parameter_names import command
from sqlaudit.base.spec import Requirement, SafeHarbor
from sqlaudit.models.registry import CELL_RULES, REGISTRY, parse_requirement

ALWAYS = ("wp216", "hipaa-expert", "ema-0070")
"""Those whose sections every report by criteria has."""


@dataclass(frozen=True)
class PresetClause:
    """A clause in a report by criteria: what it asks, the figures that answer it, and what no figure answers."""

    name: str
    title: str
    question: str
    figures: tuple[str, ...]
    open: tuple[str, ...]
    clause: str = ""
    quotation: str = ""


@dataclass(frozen=True)
class Identifier:
    """An identifier that a table may not have: the words of a name, concepts and shapes of columns that mean it."""

    clause: str
    title: str
    words: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Preset:
    """A published rule.

    Args:
        title, clause, source, link, date: what it is and where it stands; of which day, month or year (ISO 8601).
        quotation: its exact words. unquoted: why there are none. note: what else a reader should know.
        audit: what it requires of rows. aggregates: what it requires of cells.
        sections: its clauses in reports by criteria. identifiers: what a check of columns looks for.
    """

    name: str
    title: str
    clause: str
    source: str
    date: str
    link: str = ""
    quotation: str = ""
    unquoted: str = ""
    note: str = ""
    audit: tuple[str, ...] = ()
    aggregates: tuple[str, ...] = ()
    sections: tuple[PresetClause, ...] = ()
    identifiers: tuple[Identifier, ...] = ()

    @property
    def line(self) -> str:
        """What a report says of it."""
        return f"{self.name}: {self.title}, {self.clause} ({self.date})"

    @property
    def size(self) -> int:
        """The smallest group in which the highest risk is not above its limit; 1 without such a limit."""
        given = (parse_requirement(one).parameters for one in self.audit)
        return max((math.ceil(1 / Fraction(one["risk"])) for one in given if "risk" in one), default=1)


def _made(kind: type[Any], given: Mapping[str, Any], **more: Any) -> Any:
    return kind(**{key: tuple(one) if isinstance(one, list) else one for key, one in given.items()} | more)


@functools.cache
def presets() -> Mapping[str, Preset]:
    """Every published rule by its name, in the order of the file."""
    import tomllib  # few commands take presets

    read = tomllib.loads(Path(__file__).with_name("presets.toml").read_text(encoding="utf-8"))
    kinds = {"sections": PresetClause, "identifiers": Identifier}
    return {
        name: _made(
            Preset,
            one,
            name=name,
            **{key: tuple(_made(kind, part) for part in one.get(key, ())) for key, kind in kinds.items()},
        )
        for name, one in read.items()
    }


def find_preset(name: str) -> Preset:
    """The published rule of that name.

    Raises:
        UsageError: there is none; the sentence names the closest.
    """
    known = presets()
    if name not in known:
        raise UsageError(f"There is no preset {name!r}.{closest(name, known)} There are: {', '.join(known)}.")
    return known[name]


def of_rows(names: Iterable[str]) -> tuple[Requirement, ...]:
    """What presets require of rows.

    Raises:
        UsageError: an unknown one, or one without a limit on rows, which must not pass by requiring nothing.
    """
    return tuple(one for name in names for one in _required(name, "audit"))


def of_cells(names: Iterable[str]) -> tuple[Requirement, ...]:
    """What presets require of cells of published tables.

    Raises:
        UsageError: an unknown one, or one without a rule for cells.
    """
    return tuple(one for name in names for one in _required(name, "aggregates"))


def _required(name: str, given: str) -> tuple[Requirement, ...]:
    found = find_preset(name)
    texts, among = (found.audit, REGISTRY) if given == "audit" else (found.aggregates, CELL_RULES)
    if not texts:
        raise UsageError(_without(found, given))
    return tuple(replace(parse_requirement(text, among=among), preset=name) for text in texts)


def _without(found: Preset, given: str) -> str:
    """Why a preset cannot be required here, and where it can."""
    if found.name == SafeHarbor.preset:
        return f"{found.name} is a check of columns. Use it in {command('audit')}, or in a policy."
    if found.audit or found.aggregates:
        other, what = ("aggregates", "groups of rows") if given == "audit" else ("audit", "cells")
        return f"{found.name} sets no limit on {what}. Use it in {command(other)}."
    return f"{found.name} sets no limit. `sqlaudit audit --criteria internal` with this preset reports its clauses."
