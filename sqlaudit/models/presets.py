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
"""The presets whose sections every report by criteria has."""


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
        """Return the line of a report that names the preset."""
        return f"{self.name}: {self.title}, {self.clause} ({self.date})"

    @property
    def size(self) -> int:
        """The smallest group in which the highest risk is not above its limit; 1 without such a limit."""
        parameters = (parse_requirement(text).parameters for text in self.audit)
        return max((math.ceil(1 / Fraction(values["risk"])) for values in parameters if "risk" in values), default=1)


def _construct(kind: type[object], fields: Mapping[str, object], **further_fields: object) -> Any:
    """Construct an object of a class from a table of the file; the class has tuples in place of lists."""
    return kind(
        **{key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()} | further_fields
    )


@functools.cache
def presets() -> Mapping[str, Preset]:
    """Return every published rule by its name, in the order of the file."""
    import tomllib  # few commands take presets

    tables = tomllib.loads(Path(__file__).with_name("presets.toml").read_text(encoding="utf-8"))
    part_kinds = {"sections": PresetClause, "identifiers": Identifier}
    by_name = {}
    for name, table in tables.items():
        parts = {key: tuple(_construct(kind, part) for part in table.get(key, ())) for key, kind in part_kinds.items()}
        by_name[name] = _construct(Preset, table, name=name, **parts)
    return by_name


def find_preset(name: str) -> Preset:
    """Return the published rule of this name.

    Raises:
        UsageError: there is no such rule; the message suggests the closest.
    """
    by_name = presets()
    if name not in by_name:
        raise UsageError(f"There is no preset {name!r}.{closest(name, by_name)} Available: {', '.join(by_name)}.")
    return by_name[name]


def of_rows(names: Iterable[str]) -> tuple[Requirement, ...]:
    """Return what presets require of rows.

    Raises:
        UsageError: an unknown one, or one without a limit on rows, which must not pass by requiring nothing.
    """
    return tuple(requirement for name in names for requirement in _required(name, "audit"))


def of_cells(names: Iterable[str]) -> tuple[Requirement, ...]:
    """Return what presets require of cells of published tables.

    Raises:
        UsageError: an unknown one, or one without a rule for cells.
    """
    return tuple(requirement for name in names for requirement in _required(name, "aggregates"))


def _required(name: str, command_name: str) -> tuple[Requirement, ...]:
    preset = find_preset(name)
    texts, among = (preset.audit, REGISTRY) if command_name == "audit" else (preset.aggregates, CELL_RULES)
    if not texts:
        raise UsageError(_without(preset, command_name))
    return tuple(replace(parse_requirement(text, among=among), preset=name) for text in texts)


def _without(preset: Preset, command_name: str) -> str:
    """Return why a preset cannot be required here, and where it can."""
    if preset.name == SafeHarbor.preset:
        return f"{preset.name} is a check of columns. Use it in {command('audit')}, or in a policy."
    if preset.audit or preset.aggregates:
        other, what = ("aggregates", "groups of rows") if command_name == "audit" else ("audit", "cells")
        return f"{preset.name} sets no limit on {what}. Use it in {command(other)}."
    return f"{preset.name} sets no limit. `sqlaudit audit --criteria internal` with this preset reports its clauses."
