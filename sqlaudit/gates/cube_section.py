"""The section `cube` of a table in a policy: which cube is made of it, and by which rules."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.files import DATABASE, is_duckdb
from sqlaudit.base.names import untyped
from sqlaudit.base.nodes import Node
from sqlaudit.base.options import options_of
from sqlaudit.base.spec import Roles, Target
from sqlaudit.cubes.request import CubePublication, CubeRequest
from sqlaudit.gates.keys import SOME_TEXTS, Keys, described, key_of
from sqlaudit.gates.nodes import Mistakes, option_value, texts
from sqlaudit.gates.release_section import FILES as ROWS_FILES
from sqlaudit.gates.release_section import RELEASE_KEYS, made_file, read_hierarchies_key
from sqlaudit.gates.result import CubeLimit, Place, TestSpec
from sqlaudit.models.registry import CELL_RULES, parse_requirements

CUBE = "cube"
FILES = (*ROWS_FILES, DATABASE)
"""The endings of files that a policy's cube is written to."""
_OPTIONS = {
    name: option
    for name, option in options_of(CubeRequest)
    if name in ("dimensions", "measures", "holdings", "negative", "uniform", "known_contributors", "suppression")
}
"""The options of a cube that a policy has keys for; people and their spelling are those of the table."""
CUBE_KEYS: Keys = {
    **{option.name: key_of(option) for option in _OPTIONS.values()},
    "hierarchies": RELEASE_KEYS["hierarchies"],
    "require": described(f"Rules for blocks: {', '.join(CELL_RULES)}.", SOME_TEXTS),
    "before": described("Older cubes of changed data: files, relative to the policy.", SOME_TEXTS),
    "margins": described(
        "Totals of the table that are published elsewhere: files, relative to the policy.", SOME_TEXTS
    ),
    "to": described("The file of the cube, relative to the policy."),
}


def read_cube(node: Node, mistakes: Mistakes, target: Target, roles: Roles, folder: Path) -> CubeLimit | None:
    """Return the cube that a section describes; None after a mistake.

    Args:
        node: the section. mistakes: takes those that are found. target, roles: of the table.
        folder: what relative paths start from.

    Raises:
        UsageError: a cube that cannot be made.
    """
    earlier = len(mistakes)
    section = mistakes.section(node, f"{CUBE!r}", CUBE_KEYS).filled
    for key in ("dimensions", "require"):
        if key not in section:
            mistakes.add(node, f"{CUBE!r} needs {key!r}.")
    fields: dict[str, Any] = {
        name: section.take(option.name, option_value, None, option)
        for name, option in _OPTIONS.items()
        if option.name in section
    }
    # A cube has names as its options give them, without the quotes in which a policy has odd ones
    fields |= {key: tuple(map(untyped, fields[key] or ())) for key in ("dimensions", "measures") if key in fields}
    fields["hierarchies"] = section.take("hierarchies", read_hierarchies_key, None, folder)
    rules = section.take("require", texts, ())
    fields |= {
        key: tuple(Target(relation=str(folder / name), label=name) for name in section.take(key, texts, ()))
        for key in ("before", "margins")
    }
    file = section.take("to", made_file, None, folder, FILES)
    if len(mistakes) > earlier:
        return None
    try:
        requirements = tuple(
            one for rule in rules for one in parse_requirements("".join(rule.split()), among=CELL_RULES)
        )
        request = CubeRequest(
            target, entity=untyped(roles.entity or ""), values=roles.values, requirements=requirements, **fields
        )
    except UsageError as error:
        mistakes.keep(error, node)
        return None
    return CubeLimit(request, file)


def cube_tests(cube: CubeLimit, to: str, place: Place, severity: str) -> list[TestSpec]:
    """Return the tests of a cube: that the file is the cube, and that its blocks meet each rule.

    Args:
        cube: the cube. to: its file, as the policy names it. place, severity: of the tests.
    """
    limits = [cube, *(replace(cube, rule=rule) for rule in cube.request.rules)]
    names = [to, *(rule.text for rule in cube.request.rules)]
    return [
        TestSpec(f"{CUBE}={name}".rstrip("="), place, limit=limit, severity=severity)
        for name, limit in zip(names, limits, strict=True)
    ]


def with_destination(limit: CubeLimit, file: Path | None, *, over: bool = False) -> CubeRequest:
    """Return the request for a cube that is written to a file; None = nowhere.

    Args:
        limit: the cube. file: its file. over: whether a DuckDB file that is a cube is replaced.

    Raises:
        UsageError: the file cannot be written. InputError: the DuckDB file that would be replaced is no cube.
    """
    if file is not None and over and is_duckdb(file):
        from sqlaudit.engines.duckdb.cube import describe_cube

        describe_cube(file, repr(str(file)))
    return replace(limit.request, publication=CubePublication(file=file, over=over))
