"""What is searched for in the lattice: which nodes, under which requirements, and how far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from numbers import Integral
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import (
    FLAG,
    NOT_NEGATIVE,
    SECONDS,
    SHARE,
    SOURCE,
    VIEW,
    WEIGHTS,
    OptionKind,
    check_bounds,
    choice,
    listed,
    option,
)
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.publication import RELEASE, BucketPublication, Suppressed
from sqlaudit.base.spec import NullPolicy, Requirement, Roles, Target
from sqlaudit.lattices.search.choice import AUTO, FITS
from sqlaudit.lattices.verdicts import Node
from sqlaudit.models.measures import OF_NODES, find_measure


class Find(StrEnum):
    """Which nodes are wanted.

    `BEST`: the safe node of smallest loss. `MINIMAL`: all safe nodes with no finer safe node. `ALL`:
    a verdict on every node. `CHAIN`: the finest safe node along one chain.
    """

    BEST = "best"
    MINIMAL = "minimal"
    ALL = "all"
    CHAIN = "chain"


_NODES = "Which nodes"

_ALGORITHMS = (AUTO, *dict.fromkeys(name for names in FITS.values() for name in names))


def hierarchies_option() -> Any:
    """The option of how columns become coarser."""
    said = "A YAML file, or a folder with …COLUMN.csv files; other columns have default levels."
    return option(None, SOURCE, said, "How columns become coarser", metavar="FILE|DIR")


@dataclass(frozen=True)
class LatticeRequest:
    """A search in the generalization lattice.

    Args:
        target: the table. roles: its quasi-identifiers (in the order of a node), sensitive columns, entity.
        requirements: what the release must satisfy, at least one.
        hierarchies: how quasi-identifiers are coarsened: a YAML file, a folder of CSV files, or a mapping. A column
            without one has default levels.
        inputs: further inputs of models by name.
        suppression: the share of the rows that may be left out, in classes that fail.
        find, measure, algorithm: which nodes, by which loss, in which way (`auto`: what fits best).
        weights: of columns in the loss, by name. beta: the exponent of the height weights of `whd-height`; 0 = even.
        chain: the nodes of the chain, from fine to coarse; empty = one that the search takes.
        knowledge: for how many pieces of knowledge each node's maximum disclosure is told; empty = not.
        time_budget: seconds, None = no limit. walk: whether every decided node is kept in the result.

    Raises:
        UsageError: a number out of its range, or a combination that has no meaning.
    """

    target: Target
    roles: Roles
    requirements: tuple[Requirement, ...]
    inputs: Mapping[str, Any] = field(default_factory=dict, repr=False)
    hierarchies: Any = hierarchies_option()
    suppression: Fraction = option(
        Fraction(0),
        SHARE,
        "Rows that may be left out, in failing classes: 5%.",
        _NODES,
        name="suppress",
        metavar="SHARE",
        least=0,
        most=1,
    )
    find: Find = option(Find.BEST, choice(Find), "Which safe nodes are wanted.", _NODES, shown="best")
    measure: str = option("loss", listed(OF_NODES), "The loss that the best node minimizes.", _NODES, shown="loss")
    weights: Mapping[str, Fraction] = option(
        {}, WEIGHTS, "How much columns weigh in the loss: age=2,sex=1.", _NODES, metavar="COLUMN=NUMBER"
    )
    beta: Fraction = option(
        Fraction(1), NOT_NEGATIVE, "Of whd-height: weights 1/(j-1)^beta.", _NODES, metavar="NUMBER", shown="1", least=0
    )
    algorithm: str = option(
        AUTO, listed(_ALGORITHMS), "How they are searched; auto takes what fits.", _NODES, shown=AUTO
    )
    chain: Sequence[Node] = option(
        (),
        OptionKind("text", lambda _, value: parse_chain(value) if value else (), python="Sequence[Sequence[int]]"),
        'The nodes of a chain, from fine to coarse: "0,0 1,0 2,1".',
        _NODES,
        metavar="NODES",
    )
    knowledge: Sequence[int] = option(
        (),
        OptionKind("text", lambda _, value: parse_knowledge(value), python="Sequence[int] | int | str"),
        "With --find all: what so many pieces of knowledge can reveal at every node: 1,3,5 or 0..12.",
        _NODES,
        metavar="K,…",
    )
    time_budget: float | None = option(
        None, SECONDS, "Stop after this time with the best node so far.", _NODES, metavar="TIME", least=0
    )
    walk: bool = option(
        False, FLAG, "Show the nodes that were counted, and what they fall short of.", _NODES, flags=("--show-walk",)
    )

    def __post_init__(self) -> None:
        check_bounds(self)
        if not self.roles.quasi_identifiers:
            raise UsageError(
                f"Name the quasi-identifiers that are to be coarsened, for instance {spelled('qi', 'age', 'sex')}."
            )
        if find_measure(self.measure).sensitive and len(self.roles.sensitive) != 1:
            raise UsageError(
                f"{spelled('measure', self.measure)} compares the values of one sensitive column before and after; "
                f"name one with {about('sensitive')}."
            )
        if not self.requirements:
            raise UsageError(f"Say what the release must satisfy, for instance {spelled('require', 'k=5')}.")
        if not any(one.severity == "error" for one in self.requirements):
            raise UsageError("Every requirement only warns, so every node would be safe; require at least one.")
        if self.algorithm not in (AUTO, *FITS[self.find]):
            listed = ", ".join((AUTO, *FITS[self.find]))
            raise UsageError(f"{spelled('algorithm', self.algorithm)} does not find {self.find}; there are: {listed}.")
        if self.chain and self.find is not Find.CHAIN:
            raise UsageError(
                f"{spelled('chain')} names the nodes of a chain; it belongs to {spelled('find', 'chain')}."
            )
        if self.knowledge:
            self._check_knowledge()

    def _check_knowledge(self) -> None:
        from sqlaudit.models.belief import MAX_KNOWLEDGE

        if not 0 <= self.knowledge[0] <= self.knowledge[-1] <= MAX_KNOWLEDGE:
            raise UsageError(f"{spelled('knowledge')} takes numbers from 0 to {MAX_KNOWLEDGE}.")
        if self.find is not Find.ALL:
            raise UsageError(f"{spelled('knowledge')} tells of every node; it belongs to {spelled('find', 'all')}.")
        if not self.roles.sensitive:
            raise UsageError(f"{spelled('knowledge')} needs a sensitive attribute; name one with {about('sensitive')}.")
        if self.suppression:
            raise UsageError(
                f"{spelled('knowledge')}: maximum disclosure is about the whole table and names no rows to leave out; "
                f"search without {spelled('suppress')}."
            )
        if self.roles.nulls is NullPolicy.WILDCARD:
            raise UsageError(
                f"{spelled('knowledge')}: maximum disclosure has no meaning with {spelled('nulls', 'wildcard')}, where "
                f"classes overlap. Use {spelled('nulls', 'equal')} or distinct."
            )


@dataclass(frozen=True)
class LatticePublication(BucketPublication):
    """What becomes of the best node.

    Args:
        view: the view to write, empty = none. execute: make it in the database, too. replace: a view of that name may
            be replaced.
        suppressed: what happens to rows of classes that fall short.

    Raises:
        UsageError: a combination that has no meaning.
    """

    with_sql: bool = False
    view: str = option(
        "", VIEW, "Print the CREATE VIEW of the best node.", RELEASE, name="publish_view", metavar="NAME"
    )
    execute: bool = option(False, FLAG, "Make that view in the database; the one thing that writes there.", RELEASE)
    replace: bool = option(
        False, FLAG, "A view of that name may be replaced.", RELEASE, name="replace_view", flags=("--replace",)
    )
    suppressed: Suppressed = option(
        Suppressed.DROP,
        choice(Suppressed),
        "Rows in classes that fall short are left out, or their quasi-identifiers become *.",
        RELEASE,
        shown="drop",
    )

    def __post_init__(self) -> None:
        if self.view and self.file is not None:
            raise UsageError(f"Give {spelled('publish_view')} or {spelled('to')}, not both.")
        if self.buckets is not None and (self.view or self.suppressed is Suppressed.STAR):
            raise UsageError(
                f"{spelled('buckets_to')} takes a file beside that of {spelled('to')}, and leaves rows whose classes "
                "fall short out; a view and starred rows have no buckets."
            )
        if self.execute and not self.view:
            raise UsageError(f"{spelled('execute', True)} makes a view; name it with {spelled('publish_view')}.")
        if self.replace and not self.execute:
            raise UsageError(
                f"{spelled('replace_view', True)} is for a view that is made; add {spelled('execute', True)}."
            )
        if self.suppressed is Suppressed.STAR and not self.wanted:
            raise UsageError(
                f"{spelled('suppressed')} says what a release does; add {spelled('publish_view')} or {spelled('to')}."
            )

    @property
    def is_sql(self) -> bool:
        """Whether it is SQL that others will run, so that the table must mean the same outside of this session."""
        return bool(self.view) or super().is_sql


def parse_knowledge(value: int | str | Iterable[int]) -> tuple[int, ...]:
    """Numbers of pieces of knowledge, ascending, from `1,3,5`, `0..12` or both, or as Python gives them.

    Raises:
        UsageError: no such text or numbers.

    Example:
        >>> parse_knowledge("7,0..3"), parse_knowledge([5, 2]), parse_knowledge("")
        ((0, 1, 2, 3, 7), (2, 5), ())
    """
    if not isinstance(value, str):
        given = tuple(value) if isinstance(value, Iterable) else (value,)
        if not all(isinstance(one, Integral) and not isinstance(one, bool) for one in given):
            example = spelled("knowledge", "1,3,5")
            raise UsageError(f"{spelled('knowledge')} takes whole numbers, for instance {example}.")
        return tuple(sorted({int(one) for one in given}))
    found: set[int] = set()
    for part in value.split(",") if value else ():
        first, _, last = part.strip().partition("..")
        ends = (first, last or first)
        if not all(end.isascii() and end.isdecimal() and len(end) < 5 for end in ends) or int(ends[0]) > int(ends[1]):
            raise UsageError(f"{spelled('knowledge')} takes numbers such as 1,3,5 or 0..12, not {value[:60]!r}.")
        found |= set(range(int(ends[0]), int(ends[1]) + 1))
    return tuple(sorted(found))


def parse_chain(text: str | Sequence[Sequence[int]]) -> tuple[Node, ...]:
    """The nodes of a chain from `0,0 0,1 1,1`: levels separated by commas, nodes by spaces or semicolons; or as Python
    gives them.

    Raises:
        UsageError: no such text, nodes of different length, or a node that is not coarser than the one before.

    Example:
        >>> parse_chain("0,0 0,1 2,1")
        ((0, 0), (0, 1), (2, 1))
    """
    if not isinstance(text, str):
        return tuple(tuple(node) for node in text)
    nodes = []
    for part in text.replace(";", " ").split():
        levels = part.split(",")
        if not all(level.isascii() and level.isdecimal() for level in levels):
            raise UsageError(f"{spelled('chain')} takes nodes such as 0,0 0,1 1,1, not {part!r}.")
        nodes.append(tuple(map(int, levels)))
    if not nodes:
        raise UsageError(f"{spelled('chain')} takes at least one node.")
    return tuple(nodes)
