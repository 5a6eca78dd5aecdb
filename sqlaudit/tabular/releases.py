"""Older releases of a table: a pattern such as `releases/*.parquet` names one in each file."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Relation
from sqlaudit.base.spec import Target
from sqlaudit.base.words import spelled
from sqlaudit.engines.contract import Engine
from sqlaudit.engines.overwriting import files_named


def each_release(engine: Engine, before: Sequence[Target], newest: Target | Relation) -> list[Target]:
    """The older releases one by one: those of a pattern in the order of their names, without the newest itself.

    A folder, and a pattern that is the name of a table or file, is one release.

    Args:
        before: as they were named. newest: what they are compared with, which may lie beside them.

    Raises:
        UsageError: a pattern names no release but the newest.
    """
    own = set(files_named(newest.relation)) if isinstance(newest, Target) and newest.relation else set()
    found: list[Target] = []
    for target in before:
        paths = _files(engine, target)
        if paths is None:
            found.append(target)
            continue
        older = [path for path in paths if path not in own]
        if not older:
            raise UsageError(f"{spelled('before')}: no file but the newest release fits the pattern {target.name!r}.")
        found += (replace(target, relation=str(path), label=path.name) for path in older)
    return found


def _files(engine: Engine, target: Target) -> list[Path] | None:
    """The files of a pattern; None of anything else, and of a pattern that no file fits, which opening it says."""
    text = target.relation
    if not text or not glob.has_magic(text):
        return None
    if text in set(_tables(engine)):
        return None
    paths = files_named(text)
    return paths if paths and not any(path.name == Path(text).name for path in paths) else None


def _tables(engine: Engine) -> Iterator[str]:
    for schema, name in engine.catalog_tables() or ():
        yield name
        yield f"{schema}.{name}"
