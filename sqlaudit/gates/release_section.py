"""The section `release` of a table in a policy: which release is made of it, and at which levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from sqlaudit.base.names import closest_column, untyped
from sqlaudit.base.nodes import Node
from sqlaudit.base.options import options_of
from sqlaudit.base.publication import RELEASE_SUFFIXES
from sqlaudit.base.spec import Roles, Target
from sqlaudit.classes.inputs import Inputs
from sqlaudit.gates.keys import COLUMN_LIST, Keys, described, keys_of
from sqlaudit.gates.nodes import Mistakes, column_list, number, text
from sqlaudit.gates.result import ReleaseLimit, TestSpec
from sqlaudit.hierarchies.read import Hierarchies, read_hierarchies, read_section
from sqlaudit.lattices.request import LatticePublication, LatticeRequest
from sqlaudit.models.registry import REGISTRY

RELEASE = "release"
OF_FILES = tuple(name for name, _ in options_of(LatticePublication) if name in ("suppressed", "bom"))
"""The options of a release that decide what its file has."""
RELEASE_KEYS: Keys = {
    "hierarchies": {
        "type": ["string", "object"],
        "description": "A file, relative to the policy, or its content. Other columns have default levels.",
    },
    "levels": {
        "type": "object",
        "additionalProperties": {"type": ["string", "integer"]},
        "description": "The level of a quasi-identifier, by its name. Default: levels that lose least.",
    },
    "suppress": {"type": ["number", "string"], "description": "Maximum share of rows to suppress: 2%."},
    **keys_of(LatticePublication, *OF_FILES),
    "keep_column": COLUMN_LIST | {"description": "Columns to write although they look like direct identifiers."},
    "to": described("The file of the release, relative to the policy."),
}
FILES = tuple(suffix for suffix in RELEASE_SUFFIXES if suffix != ".sql")
"""The endings of files that a policy's release is written to: those with rows, which a test can read."""


def read_release(
    node: Node,
    mistakes: Mistakes,
    target: Target,
    roles: Roles,
    tests: Sequence[TestSpec],
    inputs: Inputs,
    folder: Path,
) -> ReleaseLimit | None:
    """Return the release that a section describes; None after a mistake.

    Args:
        node: the section. mistakes: takes those that are found. target, roles, tests, inputs: of the table.
        folder: what relative paths start from.

    Raises:
        UsageError: a release that no search makes.
    """
    earlier = len(mistakes)
    section = mistakes.section(node, f"'{RELEASE}'", RELEASE_KEYS).filled
    for test in tests:
        if problem := _unfit(test):
            mistakes.add(node, f"{test.requirement!r} {problem}")
    hierarchies = section.take("hierarchies", read_hierarchies_key, Hierarchies(), folder)
    levels = section.take("levels", _levels, {}, roles.quasi_identifiers)
    suppression = section.take("suppress", number, Fraction(0))
    written = section.take_options(LatticePublication, *OF_FILES)
    written["keep"] = section.take("keep_column", column_list, ())
    file = section.take("to", made_file, None, folder)
    if len(mistakes) > earlier:
        return None
    required = tuple(replace(test.model, severity=test.severity) for test in tests if test.model)
    # A search has names as its options give them, without the quotes in which a policy has odd ones
    names = {untyped(column): column for column in roles.quasi_identifiers}
    levels = {name: levels[column] for name, column in names.items() if column in levels}
    roles = replace(roles, quasi_identifiers=tuple(names))
    request = LatticeRequest(target, roles, required, inputs, hierarchies, suppression, level=levels)
    return ReleaseLimit(request, file, written)


def _unfit(test: TestSpec) -> str:
    """Return why a release cannot be made for a requirement, which would be ignored then; empty = it can."""
    if test.mistake:
        return "has a mistake, so there is no release."
    if test.limit is not None:
        return "is not searched for. Test it in an entry of its own, whose 'file' is the release."
    if test.warn_if is not None or test.error_if is not None:
        return "has a threshold, but a release has no failing rows: leave it out, and write 'suppress'."
    if test.sensitive:
        return "is for some sensitive columns, but a release meets it for all: leave out its 'sensitive'."
    if test.model is not None and "original_qi" in REGISTRY[test.model.model].needs:
        return "compares with original values, which the file of a release does not have. Leave it out."
    return ""


def read_hierarchies_key(node: Node, what: str, folder: Path) -> Hierarchies:
    """Return the hierarchies that a key has, or that are in the file or folder that it names."""
    return read_section(node, folder) if node.is_mapping else read_hierarchies(folder / text(node, what))


def _levels(node: Node, what: str, columns: Sequence[str]) -> dict[str, str]:
    """Return the level of each column that has one, the column as the roles name it."""
    folded = {untyped(column).casefold(): column for column in columns}
    levels: dict[str, str] = {}
    for key, value in node.pairs(f"'{what}'"):
        name = key.text("a column's name")
        column = name if name in columns else folded.get(untyped(name).casefold())
        if column is None:
            hint = closest_column(name, columns) or f" Available: {', '.join(columns)}."
            raise key.fail(f"{name!r} is not a quasi-identifier of this table.{hint}")
        if column in levels:
            raise key.fail(f"{column!r} has two levels.")
        levels[column] = value.text("a level")
    return levels


def made_file(node: Node, what: str, folder: Path, endings: Sequence[str] = FILES) -> Path:
    """Return the file that a policy makes of a table.

    Args:
        node: names it. what: the key. folder: what relative paths start from. endings: that it may have.

    Raises:
        UsageError: it has an ending that a test cannot read.
    """
    file = folder / text(node, what)
    if file.suffix.lower() not in endings:
        raise node.fail(f"{what!r} must end in {' or '.join(endings)}.")
    return file


# The search that makes the release.


def with_destination(limit: ReleaseLimit, file: Path | None) -> LatticeRequest:
    """Return the search for a release that is written to a file; None = nowhere.

    Raises:
        UsageError: the file cannot be written.
    """
    return replace(limit.request, publication=LatticePublication(file=file, **limit.written))
