"""The result of a search in the generalization lattice. Frozen; `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Annotated, Any, ClassVar, Literal

from sqlaudit.base.parameter_names import spelled
from sqlaudit.base.result import (
    AS_FLOAT,
    BELOW_ONE,
    FROM_0,
    IF_ANY,
    LEFT_OUT,
    OR_NULL,
    Documented,
    MeasuredResult,
    ShownRoles,
    Status,
    after,
    json_schema,
    key,
    plain,
    shown,
    told,
)
from sqlaudit.lattices.verdicts import Shortfall
from sqlaudit.models.base import Check
from sqlaudit.models.disclosure.exact import DisclosurePoint
from sqlaudit.reports.notebook import Shown

Levels = tuple[int, ...]
Use = Annotated[str, Literal["generalize", "keep", "drop"]]
_SIGNS: Mapping[bool | None, str] = {True: "s", False: "u", None: "?"}
"""Verdicts in the JSON: safe, unsafe, unknown."""
_SAME_ENTROPY = 10
"""Entropies that agree to so many decimals are one: the same classes may be added up in another order."""


@dataclass(frozen=True)
class LatticeColumn(Documented):
    """A quasi-identifier in the lattice.

    Args:
        name: as it was given. height: its highest level, where every value is `*`; 0 = it is unchanged.
        levels: the names of its levels, from level 0 on.
        form: of its hierarchy: widths, mask, dates, tree, csv, values, sql, keep, drop, or empty.
        use: `generalize`, `keep`, or `drop` for a column that is left out of the release and of the lattice.
        values: different values in the table; missing is one. weight: in the loss; None when no weights were given.
        by_default: whether its levels are default ones.
        examples: a label at each level, invented or from the hierarchy's file, never from the table; empty where there
            is none.
        fixed: the one level that it has in every searched node, if one was requested.
        groups: different labels at each level, in the table; missing is one. Empty where they were not counted.
    """

    name: str
    height: int
    levels: tuple[str, ...]
    form: str
    use: Use
    values: int | None = None
    weight: Annotated[Fraction, FROM_0] | None = None
    examples: tuple[str, ...] = field(default=(), metadata=LEFT_OUT, compare=False)
    by_default: bool = False
    fixed: int | None = field(default=None, metadata=IF_ANY)
    groups: tuple[int, ...] = field(default=(), metadata=IF_ANY)

    def example(self, level: int) -> str:
        """A label at a level, empty where there is none."""
        return self.examples[level] if level < len(self.examples) else ""

    def called(self, level: int) -> str:
        """The name of a level for people: of a listed one by an example."""
        name = self.levels[level]
        if not name.startswith("listed"):
            return name
        return f"groups such as {self.example(level)}" if self.example(level) else f"groups of level {level}"


@dataclass(frozen=True)
class LatticeNode(Documented):
    """A node that was decided.

    Args:
        levels: in the order of the columns. safe: the verdict. classes: equivalence classes, failing ones included.
        smallest: rows (persons, with an entity) of the smallest class.
        failing_rows: rows in classes that fail; what a release of the node suppresses.
        fails: the requirements that classes fail, one entry a sensitive attribute.
        loss: under the measure of the search, None if not computed.
        smallest_left: rows (persons) of the smallest class that does not fail; None where that is not known.
    """

    levels: Levels
    safe: bool
    classes: int
    smallest: int = field(metadata=key("smallest_class"))
    failing_rows: int = field(metadata=after("suppressed_rows"))
    fails: tuple[Shortfall, ...] = ()
    loss: Annotated[float, FROM_0] | None = field(default=None, metadata=after("safe"))
    smallest_left: int | None = field(default=None, metadata=LEFT_OUT, compare=False)

    @property
    @told("loss")
    def suppressed_rows(self) -> int | None:
        """Rows that a release of this node leaves out; None for a node that is not safe."""
        return self.failing_rows if self.safe else None


@dataclass(frozen=True)
class LatticeProposal(Documented):
    """A safe node that differs from the others for a reader; see `lattices.proposals`.

    Args:
        name: what it keeps that others do not, or `Leave out no one`.
        levels: in the order of the columns. loss: under the measure of the search.
        suppressed_rows: rows that its release leaves out.
    """

    name: str
    levels: Levels
    loss: float
    suppressed_rows: int


@dataclass(frozen=True)
class DisclosedNode(Documented):
    """Worst-case disclosure of one sensitive attribute at a node.

    Args:
        levels: in the order of the columns. sensitive: the attribute.
        entropy: of the class in which it is least, in nats.
        curve: the maximum disclosure for each requested number of pieces of knowledge.
    """

    levels: Levels
    sensitive: str
    entropy: Annotated[float, FROM_0] = field(metadata=key("smallest_entropy"))
    curve: tuple[DisclosurePoint, ...]


@dataclass(frozen=True)
class LocalOptimum(Documented):
    """The safe node of smallest loss of some strategies.

    Args:
        levels: in the order of the columns. loss: under the measure of the search.
        strategies: the number of strategies with this local optimum.
    """

    levels: Levels
    loss: float
    strategies: int


@dataclass(frozen=True)
class Strategies(Documented):
    """The paths from the finest node to the coarsest, one level of one column a step, by their local optimum.

    Args:
        strategies: their number. without: those without a safe node.
        loss_decreases: steps from a safe node to a next coarser safe one with less loss.
        optima: the local optima, smallest loss first; None where counting their strategies takes too long.
    """

    strategies: int
    without: int
    loss_decreases: int
    optima: tuple[LocalOptimum, ...] | None


@dataclass(frozen=True)
class Checked(Documented):
    """The audit of the release, a check of all steps from the table to the release.

    Args:
        status: the verdict of the audit. classes: equivalence classes of the release. rows: rows of the release.
        suppressed: rows of the table that the release leaves out or stars.
        failing: the requirements that fail in it, as they were written.
        note: why a requirement may fail there although the node is safe. checks: its requirements with their figures.
    """

    status: Annotated[str, Status]
    rows: int
    classes: int
    suppressed: int = field(metadata=key("suppressed_rows"))
    failing: tuple[str, ...] = ()
    note: str = ""
    checks: tuple[Check, ...] = field(default=(), repr=False, compare=False, metadata=LEFT_OUT)


@dataclass(frozen=True)
class Published(Documented):
    """The release of the best node.

    Args:
        levels: of the node.
        sql: the statement that makes the view or table, or the query of a file as it ran in the session; holds no value
            of the table beyond those that the hierarchies list. select: the query alone.
        view: the view's name, empty for a file. file: the file's name, or `table:` and a table's; empty for a view.
        executed: whether the view or table was created. suppressed: what happens to suppressed rows.
        columns: columns of the release, in order. keys: columns of the release that are quasi-identifiers.
        unnamed: columns without a role, which are in the release unchanged.
        audit: its audit, None when nothing could be read.
        buckets: the file of the values of its buckets, empty for a release in one table.
    """

    levels: Levels
    sql: str = field(metadata=after("unnamed"))
    view: str = field(default="", metadata=OR_NULL)
    file: str = field(default="", metadata=OR_NULL)
    executed: bool = False
    suppressed: Annotated[str, Literal["drop", "star"]] = "drop"
    columns: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    audit: Checked | None = None
    select: str = field(default="", repr=False, metadata=LEFT_OUT)
    buckets: str = field(default="", metadata=LEFT_OUT)


def _levels(nodes: tuple[LatticeNode, ...] | None) -> list[Levels] | None:
    return None if nodes is None else [node.levels for node in nodes]


def _signs(verdicts: tuple[bool | None, ...]) -> Annotated[str, json_schema(pattern="^[su?]*$")] | None:
    return "".join(_SIGNS[verdict] for verdict in verdicts) or None


@dataclass(frozen=True, kw_only=True, repr=False)
class LatticeResult(MeasuredResult, Shown):
    """The result of a search in the generalization lattice.

    Args:
        target: the table's name. rows: rows of the table. engine: the engine and its version.
        roles: the roles of columns as they were given. columns: the quasi-identifiers, dropped ones last.
        requirements: as they were written. warn_only: requirements that only warn.
        suppression: the share of rows that may be suppressed. limit_rows: the number of rows that may be.
        find: the nodes to find. measure: the loss measure. algorithm: the algorithm that was used.
        monotone: whether the search could rely on every node coarser than a safe one being safe.
        nodes: nodes of the lattice, or of the chain. checked: nodes that were decided by counting.
        tagged_safe: nodes that are safe because of others; None where nodes are not tagged one by one.
        tagged_unsafe: nodes that are unsafe because of others; None where nodes are not tagged one by one.
        safe: safe nodes in all, None when not every node was decided.
        minimal: the minimal safe nodes, None when they are not known.
        best: the safe node of smallest loss; when the search was stopped, of those known. For a chain its finest safe
            node. chain: with `find` chain its nodes, from fine to coarse.
        safe_nodes: with `find` all every safe node, smallest loss first.
        proposals: at most three safe nodes that differ for a reader, that of least loss first; None for the reason in
            `why_no_proposals`.
        top: the coarsest node; when it is not safe, no node may be. None when it was not decided.
        bound: no safe node has a smaller loss; None when nothing is known. complete: whether the search was finished.
        stopped: why not: `budget`, `interrupted` or `limit`.
        unknown: nodes whose verdict is not known; None where nodes are not tagged.
        verdicts: whether each node of the lattice is safe, in JSON a letter a node, s safe, u unsafe, ? unknown: the
            nodes in the order of their levels, those of the last column changing fastest. None (in Python empty) for a
            chain, for columns at a requested level, and for very large lattices.
        walk: every checked node, in order, if requested.
        disclosures: worst-case disclosure at every node, safe or not, if requested with `knowledge`.
        local: with `find` all the strategies of generalization by their local optimum; None when nodes are not decided
            or not priced. why: why there is no safe node, in sentences. published: the release, if requested.
        beta: the exponent of the height weights of whd-height; None for other measures.
        loss_monotone: whether the search could rely on coarser nodes having no less loss than finer safe ones.
    """

    schema: ClassVar = "sqlaudit-lattice/1"
    shown_by: ClassVar = "sqlaudit.lattices.report:LatticeReport"

    target: str = field(metadata=key("target.name"))
    rows: int = field(metadata=key("target.rows"))
    engine: str = field(metadata=key("target.engine"))
    roles: ShownRoles
    requirements: tuple[str, ...]
    warn_only: tuple[str, ...] = ()
    suppression: Annotated[Fraction, BELOW_ONE] = field(metadata=key("suppression.share"))
    limit_rows: int = field(metadata=key("suppression.rows"))
    find: Annotated[str, Literal["best", "minimal", "all", "chain"]]
    measure: str
    algorithm: Annotated[str, Literal["bounds", "best-first", "ola", "incognito", "exhaustive", "chain"]]
    monotone: bool
    loss_monotone: bool
    complete: bool = True
    stopped: Annotated[str, Literal["", "budget", "interrupted", "limit"]] = ""
    columns: tuple[LatticeColumn, ...] = field(metadata=key("hierarchies"))
    nodes: int = field(metadata=key("lattice.nodes"))
    checked: int = field(metadata=key("lattice.checked"))
    tagged_safe: int | None = field(metadata=key("lattice.tagged_safe"))
    tagged_unsafe: int | None = field(metadata=key("lattice.tagged_unsafe"))
    unknown: int | None = field(default=0, metadata=key("lattice.unknown"))
    safe: int | None = field(metadata=key("lattice.safe"))
    minimal: tuple[LatticeNode, ...] | None = field(metadata=key("lattice.minimal") | shown(_levels))
    best: LatticeNode | None = field(metadata=key("lattice.best"))
    proposals: tuple[LatticeProposal, ...] | None = field(default=None, metadata=key("lattice.proposals"))
    bound: Annotated[float, FROM_0] | None = field(default=None, metadata=key("lattice.bound"))
    verdicts: tuple[bool | None, ...] = field(default=(), repr=False, metadata=key("lattice.verdicts") | shown(_signs))
    top: LatticeNode | None = field(default=None, metadata=key("lattice.top"))
    chain: tuple[Levels, ...] = field(default=(), metadata=key("lattice.chain"))
    safe_nodes: tuple[LatticeNode, ...] = field(default=(), metadata=key("lattice.safe_nodes"))
    walk: tuple[LatticeNode, ...] = field(default=(), repr=False, metadata=key("lattice.walk"))
    disclosures: tuple[DisclosedNode, ...] = field(default=(), repr=False, metadata=key("lattice.disclosures") | IF_ANY)
    local: Strategies | None = field(default=None, repr=False, metadata=key("lattice.local") | IF_ANY)
    why: tuple[str, ...] = ()
    published: Published | None = None
    beta: Annotated[Fraction, FROM_0] | None = field(default=None, metadata=AS_FLOAT)

    @property
    @told("proposals", key("lattice.why_no_proposals"))
    def why_no_proposals(self) -> str | None:
        """Why there are no proposals, in one sentence; None where they were computed."""
        if self.proposals is not None:
            return None
        if not self.complete:
            return "Not computed, because the search was stopped."
        if self.find == "chain":
            return "Not computed for a chain."
        if any(column.fixed is not None for column in self.columns):
            return "Not computed for requested levels."
        if self.find == "all":
            return "Not computed, because the lattice has too many nodes."
        return f"Not computed, because the search left too many nodes open; {spelled('find', 'all')} decides them."

    @property
    def searched(self) -> tuple[LatticeColumn, ...]:
        """The columns of the lattice, in the order of a node's levels."""
        return tuple(column for column in self.columns if column.use != "drop")

    @property
    def passed(self) -> bool:
        """True if a safe node is known."""
        return self.best is not None

    def every_node(self) -> Iterator[Levels]:
        """All nodes of the lattice, the levels of the last column changing fastest."""
        return product(*(range(column.height + 1) for column in self.searched))

    def verdict(self, levels: Levels) -> bool | None:
        """True if a node is safe, by counting or by proof; None where it is not known."""
        if not self.verdicts:
            return next((node.safe for node in self.walk if node.levels == tuple(levels)), None)
        place = 0
        for level, column in zip(levels, self.searched, strict=True):
            if not 0 <= level <= column.height:
                return None
            place = place * (column.height + 1) + level
        return self.verdicts[place]

    def named(self, levels: Levels) -> dict[str, str]:
        """The level of each column at a node: `{"age": "10 years", "sex": "unchanged"}`."""
        return {column.name: column.levels[level] for column, level in zip(self.searched, levels, strict=True)}

    def least_disclosure(self, k: int, sensitive: str = "", *, negated: bool = False) -> list[tuple[float, Fraction]]:
        """For each value that the smallest entropy of a class takes, the least disclosure of the nodes with it.

        Args:
            k: pieces of knowledge, one of those requested. sensitive: the attribute; default: the first one.
            negated: whether the attacker knows negated atoms only.

        Returns:
            (entropy in nats, disclosure), ascending by entropy. Source: Martin et al., Worst-Case Background Knowledge,
            section 4 and Figure 6.
        """
        least: dict[float, Fraction] = {}
        for node in self.disclosures:
            if node.sensitive == (sensitive or self.disclosures[0].sensitive):
                point = next((point for point in node.curve if point.k == k), None)
                if point is not None:
                    share = point.negated if negated else point.maximum
                    place = round(node.entropy, _SAME_ENTROPY)
                    least[place] = min(least.get(place, share), share)
        return sorted(least.items())

    def rows_of_frame(self) -> list[dict[str, Any]]:
        """The safe nodes that are known, one a row: minimal ones, else all that were found, else the best."""
        best = () if self.best is None else (self.best,)
        return [plain(node) | self.named(node.levels) for node in self.minimal or self.safe_nodes or best]

    @told("columns", key("lattice.columns"))
    def _searched_names(self) -> tuple[str, ...]:
        """The columns of the lattice; levels are in their order."""
        return tuple(one.name for one in self.searched)

    @told("_searched_names", key("lattice.heights"))
    def _heights(self) -> Levels:
        """Their highest levels."""
        return tuple(one.height for one in self.searched)

    @told("minimal", key("lattice.minimal_nodes"))
    def _minimal_nodes(self) -> tuple[LatticeNode, ...] | None:
        """The minimal safe nodes with their figures."""
        return self.minimal
