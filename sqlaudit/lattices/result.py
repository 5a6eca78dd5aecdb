"""What a search in the generalization lattice found. Frozen; reports read it, `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar

from sqlaudit.base.result import Number, Timing, plain
from sqlaudit.reports.notebook import Shown

SCHEMA = "sqlaudit-lattice/1"
Levels = tuple[int, ...]
_SIGNS: Mapping[bool | None, str] = {True: "s", False: "u", None: "?"}
"""Verdicts in the JSON: safe, unsafe, unknown."""


@dataclass(frozen=True)
class LatticeColumn:
    """A quasi-identifier in the lattice.

    Args:
        name: as it was given. height: its highest level, where every value is `*`; 0 = it is kept as it is.
        levels: what its levels are called, from level 0 on. form: how its hierarchy was written.
        use: `generalize`, `keep`, or `drop` for a column that is left out of the release and of the lattice.
        values: different values in the table. weight: in the loss; None when no weights were given.
    """

    name: str
    height: int
    levels: tuple[str, ...]
    form: str
    use: str
    values: int | None = None
    weight: Fraction | None = None

    def to_dict(self) -> dict[str, Any]:
        """The column as the JSON has it."""
        return {
            "name": self.name,
            "height": self.height,
            "levels": list(self.levels),
            "form": self.form,
            "use": self.use,
            "values": self.values,
            "weight": plain(self.weight),
        }


@dataclass(frozen=True)
class Shortfall:
    """Why a node is not safe, or which of its rows have to be suppressed.

    Args:
        requirement: as it was written. sensitive: the attribute it speaks of, None for requirements on sizes.
        classes, rows: what falls short; None for a figure of the whole table. level: that figure.
    """

    requirement: str
    sensitive: str | None
    classes: int | None
    rows: int | None
    level: Number | None = None

    def to_dict(self) -> dict[str, Any]:
        """The shortfall as the JSON has it."""
        return {
            "requirement": self.requirement,
            "sensitive": self.sensitive,
            "classes": self.classes,
            "rows": self.rows,
            "level": plain(self.level),
        }


@dataclass(frozen=True)
class LatticeNode:
    """A node that was decided.

    Args:
        levels: in the order of the columns. safe: the verdict.
        classes: equivalence classes, failing ones included. smallest: rows (persons) of the smallest one.
        failing_rows: rows in classes that fail; what a release of the node suppresses.
        fails: the requirements that classes fail, one entry a sensitive attribute.
        loss: under the measure of the search, None where nobody asked.
    """

    levels: Levels
    safe: bool
    classes: int
    smallest: int
    failing_rows: int
    fails: tuple[Shortfall, ...] = ()
    loss: float | None = None

    @property
    def suppressed_rows(self) -> int | None:
        """Rows that a release of this node leaves out; None for a node that is not safe."""
        return self.failing_rows if self.safe else None

    def to_dict(self) -> dict[str, Any]:
        """The node as the JSON has it."""
        return {
            "levels": list(self.levels),
            "safe": self.safe,
            "loss": self.loss,
            "suppressed_rows": self.suppressed_rows,
            "failing_rows": self.failing_rows,
            "classes": self.classes,
            "smallest_class": self.smallest,
            "fails": [one.to_dict() for one in self.fails],
        }


@dataclass(frozen=True)
class Checked:
    """The audit of what was published, a check of the whole way from the table to the release.

    Args:
        status: the verdict of the audit. rows, classes: of the release.
        suppressed: rows of the table that it leaves out or stars.
        failing: the requirements that fail in it, as they were written.
        note: why a requirement may fail there although the node is safe.
    """

    status: str
    rows: int
    classes: int
    suppressed: int
    failing: tuple[str, ...] = ()
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The audit as the JSON has it."""
        return {
            "status": self.status,
            "rows": self.rows,
            "classes": self.classes,
            "suppressed_rows": self.suppressed,
            "failing": list(self.failing),
            "note": self.note,
        }


@dataclass(frozen=True)
class Published:
    """The release of the best node.

    Args:
        levels: of the node. sql: the statement that makes the view, or the query of a file as it ran in the session;
            holds no value of the table beyond those that the hierarchies list. select: the query alone.
        view: the view's name, empty for a file. file: the file's name, empty for a view.
        executed: whether the view was made. suppressed: `drop` or `star`.
        columns: of the release, in order. keys: those that are quasi-identifiers. unnamed: those that no role was given
            to, which are in it as they are.
        audit: what an audit of it says, None when nothing could be read.
    """

    levels: Levels
    sql: str
    view: str = ""
    file: str = ""
    executed: bool = False
    suppressed: str = "drop"
    columns: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    audit: Checked | None = None
    select: str = field(default="", repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The release as the JSON has it."""
        return {
            "levels": list(self.levels),
            "view": self.view or None,
            "file": self.file or None,
            "executed": self.executed,
            "suppressed": self.suppressed,
            "columns": list(self.columns),
            "keys": list(self.keys),
            "unnamed": list(self.unnamed),
            "sql": self.sql,
            "audit": self.audit.to_dict() if self.audit else None,
        }


@dataclass(frozen=True)
class LatticeResult(Shown):
    """What a search in the generalization lattice found.

    Args:
        target: the table's name. rows: its rows. engine: what counted them. time: when it ended, UTC.
        roles: the roles of columns. columns: the quasi-identifiers, dropped ones last.
        requirements: as they were written; `warnings` those that only warn.
        suppression, limit_rows: the share and number of rows that may be suppressed.
        find, measure, algorithm: what was asked, and what was done. monotone: whether the search could rely on every
            node coarser than a safe one being safe.
        nodes: of the lattice. checked: decided by counting. tagged_safe, tagged_unsafe: that follow from others.
        safe: safe nodes in all, None when not every node was decided.
        minimal: the minimal safe nodes, None when they are not known.
        best: the safe node of smallest loss among those known; with `complete` it is the best one of all.
        chain: with `find` chain the nodes of the chain. safe_nodes: with `find` all every safe node, smallest loss
            first. top: the coarsest node of all; when it is not safe no node may be.
        bound: when the search was stopped, a loss below which there is no safe node; None when not known.
        complete: whether the question was answered. stopped: why not: `budget`, `interrupted` or `limit`.
        unknown: nodes that are not decided when it was not.
        verdicts: whether each node of the lattice is safe, None where that is not known, in the order of `every_node`;
            empty for a chain, and for more nodes than a result tells of one by one.
        walk: every node that was counted, in order, when that was asked for.
        why: why there is no safe node, in sentences. published: the release, if one was asked for.
        statements: what ran in the database. versions: of programs.
    """

    shown_by: ClassVar = "sqlaudit.lattices.report:lattice_document"

    target: str
    rows: int
    engine: str
    time: str
    roles: Mapping[str, Any]
    columns: tuple[LatticeColumn, ...]
    requirements: tuple[str, ...]
    suppression: Fraction
    limit_rows: int
    find: str
    measure: str
    algorithm: str
    monotone: bool
    nodes: int
    checked: int
    tagged_safe: int | None
    tagged_unsafe: int | None
    safe: int | None
    minimal: tuple[LatticeNode, ...] | None
    best: LatticeNode | None
    top: LatticeNode | None = None
    chain: tuple[Levels, ...] = ()
    safe_nodes: tuple[LatticeNode, ...] = ()
    bound: float | None = None
    complete: bool = True
    stopped: str = ""
    unknown: int | None = 0
    verdicts: tuple[bool | None, ...] = field(default=(), repr=False)
    walk: tuple[LatticeNode, ...] = field(default=(), repr=False)
    warn_only: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    published: Published | None = None
    statements: tuple[Timing, ...] = field(default=(), repr=False)
    versions: Mapping[str, str] = field(default_factory=dict)
    access: str = ""

    @property
    def searched(self) -> tuple[LatticeColumn, ...]:
        """The columns of the lattice, in the order of a node's levels."""
        return tuple(column for column in self.columns if column.use != "drop")

    @property
    def passed(self) -> bool:
        """Whether a safe node is known."""
        return self.best is not None

    def every_node(self) -> Iterator[Levels]:
        """All nodes of the lattice, the levels of the last column changing fastest."""
        return product(*(range(column.height + 1) for column in self.searched))

    def verdict(self, levels: Levels) -> bool | None:
        """Whether a node is safe, as far as the search found out or proved; None where it is not known."""
        if not self.verdicts:
            return next((node.safe for node in self.walk if node.levels == tuple(levels)), None)
        place = 0
        for level, column in zip(levels, self.searched, strict=True):
            if not 0 <= level <= column.height:
                return None
            place = place * (column.height + 1) + level
        return self.verdicts[place]

    def named(self, levels: Levels) -> dict[str, str]:
        """What a node does to each column: `{"age": "width 10", "sex": "values"}`."""
        return {column.name: column.levels[level] for column, level in zip(self.searched, levels, strict=True)}

    def to_dict(self) -> dict[str, Any]:
        """The result as the documented JSON (`sqlaudit/lattices/schema.json`)."""
        return {
            "schema": SCHEMA,
            "versions": dict(self.versions),
            "time": self.time,
            "access": self.access,
            "target": {"name": self.target, "rows": self.rows, "engine": self.engine},
            "roles": dict(self.roles),
            "requirements": list(self.requirements),
            "warn_only": list(self.warn_only),
            "suppression": {"share": plain(self.suppression), "rows": self.limit_rows},
            "find": self.find,
            "measure": self.measure,
            "algorithm": self.algorithm,
            "monotone": self.monotone,
            "complete": self.complete,
            "stopped": self.stopped,
            "hierarchies": [column.to_dict() for column in self.columns],
            "lattice": self._lattice(),
            "why": list(self.why),
            "published": self.published.to_dict() if self.published else None,
            "statements": [timing.to_dict() for timing in self.statements],
        }

    def _lattice(self) -> dict[str, Any]:
        known = self.minimal
        return {
            "columns": [column.name for column in self.searched],
            "heights": [column.height for column in self.searched],
            "nodes": self.nodes,
            "checked": self.checked,
            "tagged_safe": self.tagged_safe,
            "tagged_unsafe": self.tagged_unsafe,
            "unknown": self.unknown,
            "safe": self.safe,
            "minimal": None if known is None else [list(node.levels) for node in known],
            "minimal_nodes": None if known is None else [node.to_dict() for node in known],
            "best": self.best.to_dict() if self.best else None,
            "bound": self.bound,
            "verdicts": "".join(_SIGNS[verdict] for verdict in self.verdicts) if self.verdicts else None,
            "top": self.top.to_dict() if self.top else None,
            "chain": [list(levels) for levels in self.chain],
            "safe_nodes": [node.to_dict() for node in self.safe_nodes],
            "walk": [node.to_dict() for node in self.walk],
        }
