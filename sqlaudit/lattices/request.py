"""The request for a search in the lattice: the nodes, the requirements and the limits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from numbers import Integral
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.options import (
    FLAG,
    LEVELS,
    NOT_NEGATIVE,
    SECONDS,
    SHARE,
    SOURCE,
    VIEW,
    WEIGHTS,
    Given,
    Option,
    OptionKind,
    check_bounds,
    choice,
    listed,
    nested,
    option,
    part,
)
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.publication import RELEASE, BucketPublication, Suppressed, ViewPublication
from sqlaudit.base.spec import NullPolicy, Requirement, Roles, Target, roles_part, target_part
from sqlaudit.lattices.search.choice import AUTO, FITS
from sqlaudit.lattices.verdicts import Node
from sqlaudit.models.measures import OF_NODES, find_measure
from sqlaudit.models.required import inputs_option, requirements_part


class Find(StrEnum):
    """Which nodes are wanted.

    `BEST`: the safe node of smallest loss. `MINIMAL`: all safe nodes with no finer safe node. `ALL`:
    a verdict on every node. `CHAIN`: the finest safe node along one chain.
    """

    BEST = "best"
    MINIMAL = "minimal"
    ALL = "all"
    CHAIN = "chain"


_NODES = "Search"

_ALGORITHMS = (AUTO, *dict.fromkeys(name for names in FITS.values() for name in names))


def hierarchies_option() -> object:
    """Return the option of hierarchies."""
    text = "A YAML file, or a folder with …COLUMN.csv files; other columns have default levels."
    return option(None, SOURCE, text, "Hierarchies", metavar="FILE|DIR")


@dataclass(frozen=True)
class LatticePublication(ViewPublication, BucketPublication):
    """The publication of the best node.

    Args:
        suppressed: what happens to rows of failing classes.

    Raises:
        UsageError: a combination that is not defined.
    """

    with_sql: bool = False
    view: str = option(
        "", VIEW, "Print the CREATE VIEW of the best node.", RELEASE, name="publish_view", metavar="NAME"
    )
    suppressed: Suppressed = option(
        Suppressed.DROP,
        choice(Suppressed),
        "Leave out rows in failing classes, or replace their quasi-identifiers by *.",
        RELEASE,
        shown="drop",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.buckets is not None and (self.view or self.suppressed is Suppressed.STAR):
            raise UsageError(
                f"{spelled('buckets_to')} needs {spelled('to')}, and leaves out rows of failing classes. Views and "
                "starred rows have no buckets."
            )
        if self.suppressed is Suppressed.STAR and not self.wanted:
            raise UsageError(
                f"{spelled('suppressed')} needs a release. Add {spelled('publish_view')} or {spelled('to')}."
            )


def _keep_walk(given: Given, _: str) -> bool:
    """Return True if every decided node is to be kept, by the option of Python or else of the command line."""
    keep = given.get("walk", given.get("show_walk"))
    return keep is not None and bool(FLAG.read("walk", keep))


def _walk_options() -> Iterator[Option]:
    """Yield the option of Python and that of the command line, which differ by their default.

    A notebook can look at a walk later, without a second search.
    """
    text = "Show the checked nodes, and the requirements that they fail."
    yield Option("walk", FLAG, text, _NODES, default=True, only_python=True)
    yield Option("show_walk", FLAG, text, _NODES, default=False, only_command_line=True)


@dataclass(frozen=True)
class LatticeRequest:
    """A search in the generalization lattice.

    Args:
        target: the table. roles: its quasi-identifiers (in the order of a node), sensitive columns, entity.
        requirements: of the release, at least one.
        hierarchies: of quasi-identifiers: a YAML file, a folder of CSV files, or a mapping. A column
            without one has default levels.
        inputs: further inputs of models by name.
        suppression: the share of the rows that may be left out, in classes that fail.
        find, measure, algorithm: which nodes, by which loss, in which way (`auto`: what fits best).
        weights: of columns in the loss, by name. beta: the exponent of the height weights of `whd-height`; 0 = even.
        level: the one level of columns in every searched node, by name; others are searched.
        chain: the nodes of the chain, from fine to coarse; empty = one that the search takes.
        knowledge: numbers of pieces of knowledge for the maximum disclosure of each node; empty = none.
        time_budget: seconds, None = no limit. walk: whether every decided node is kept in the result.
        publication: the destination of the best node's release.

    Raises:
        UsageError: a number out of its range, a combination that is not defined, or a file that cannot be written.
    """

    target: Target = target_part()
    roles: Roles = roles_part(sampling=("sampling_fraction", "population_size"))
    requirements: tuple[Requirement, ...] = requirements_part()
    inputs: Mapping[str, object] = inputs_option()
    hierarchies: Any = hierarchies_option()
    suppression: Fraction = option(
        Fraction(0),
        SHARE,
        "Maximum share of rows to suppress, in failing classes: 5%.",
        _NODES,
        name="suppress",
        metavar="SHARE",
        least=0,
        most=1,
    )
    find: Find = option(Find.BEST, choice(Find), "Safe nodes to find.", _NODES, shown="best")
    measure: str = option("loss", listed(OF_NODES), "Loss that the best node minimizes.", _NODES, shown="loss")
    weights: Mapping[str, Fraction] = option(
        {}, WEIGHTS, "Weights of columns in the loss: age=2,sex=1.", _NODES, metavar="COLUMN=NUMBER"
    )
    beta: Fraction = option(
        Fraction(1), NOT_NEGATIVE, "For whd-height: weights 1/(j-1)^beta.", _NODES, metavar="NUMBER", shown="1", least=0
    )
    algorithm: str = option(AUTO, listed(_ALGORITHMS), "Search algorithm; auto chooses one.", _NODES, shown=AUTO)
    level: Mapping[str, str] = option(
        {},
        LEVELS,
        "Search only nodes with these levels, by name or number: age=5 years.",
        _NODES,
        metavar="COLUMN=LEVEL",
    )
    chain: Sequence[Node] = option(
        (),
        OptionKind("text", lambda _, value: parse_chain(value) if value else (), python="Sequence[Sequence[int]]"),
        'Nodes of a chain, from fine to coarse: "0,0 1,0 2,1".',
        _NODES,
        metavar="NODES",
    )
    knowledge: Sequence[int] = option(
        (),
        OptionKind("text", lambda _, value: parse_knowledge(value), python="Sequence[int] | int | str"),
        "With --find all: worst-case disclosure at every node, by pieces of knowledge: 1,3,5 or 0..12.",
        _NODES,
        metavar="K,…",
    )
    time_budget: float | None = option(
        None, SECONDS, "Stop after this time and report the best node so far.", _NODES, metavar="TIME"
    )
    walk: bool = part(_keep_walk, _walk_options, default=False)
    publication: LatticePublication = nested(LatticePublication)

    def __post_init__(self) -> None:
        check_bounds(self)
        if not self.roles.quasi_identifiers:
            raise UsageError(
                "No quasi-identifiers are named. Name the columns to generalize, for example "
                f"{spelled('qi', 'age', 'sex')}."
            )
        if find_measure(self.measure).sensitive and len(self.roles.sensitive) != 1:
            raise UsageError(
                f"{spelled('measure', self.measure)} needs one sensitive column. Name it with {about('sensitive')}."
            )
        if not self.requirements:
            raise UsageError(f"No requirement is given. Add one, for example {spelled('require', 'k=5')}.")
        if all(requirement.severity != "error" for requirement in self.requirements):
            raise UsageError("All requirements only warn, so every node is safe. Add one that fails.")
        if self.algorithm not in (AUTO, *FITS[self.find]):
            fitting = ", ".join((AUTO, *FITS[self.find]))
            raise UsageError(f"{spelled('algorithm', self.algorithm)} cannot find {self.find}. Use one of {fitting}.")
        if self.chain and self.find is not Find.CHAIN:
            raise UsageError(f"{spelled('chain')} needs {spelled('find', 'chain')}.")
        if self.chain and self.level:
            raise UsageError(f"{spelled('chain')} and {spelled('level')} exclude each other: a chain names all levels.")
        if self.knowledge:
            self._check_knowledge()
        self.publication.check()

    @property
    def targets(self) -> tuple[Target, ...]:
        """Everything that the search reads: the table, and a population table that the inputs name."""
        if not self.inputs:
            return (self.target,)
        from sqlaudit.classes.inputs import further_targets  # `--help` reads no inputs

        return (self.target, *further_targets(self.inputs, self.target))

    def _check_knowledge(self) -> None:
        """Raise UsageError if maximum disclosure is not defined for these pieces of knowledge."""
        from sqlaudit.models.belief import MAX_KNOWLEDGE

        if not 0 <= self.knowledge[0] <= self.knowledge[-1] <= MAX_KNOWLEDGE:
            raise UsageError(f"{spelled('knowledge')} takes numbers from 0 to {MAX_KNOWLEDGE}.")
        if self.find is not Find.ALL:
            raise UsageError(f"{spelled('knowledge')} needs {spelled('find', 'all')}.")
        if not self.roles.sensitive:
            raise UsageError(f"{spelled('knowledge')} needs a sensitive column. Name one with {about('sensitive')}.")
        if self.suppression:
            raise UsageError(
                f"{spelled('knowledge')} cannot be combined with {spelled('suppress')}, because maximum disclosure is "
                "a figure of the whole table."
            )
        if self.roles.nulls is NullPolicy.WILDCARD:
            raise UsageError(
                f"{spelled('knowledge')}: maximum disclosure is not defined with {spelled('nulls', 'wildcard')}, "
                f"because classes overlap. Use {spelled('nulls', 'equal')} or distinct."
            )


def parse_knowledge(value: int | str | Iterable[int]) -> tuple[int, ...]:
    """Return numbers of pieces of knowledge, ascending, from `1,3,5`, `0..12` or both, or as Python gives them.

    Raises:
        UsageError: no such text or numbers.

    Example:
        >>> parse_knowledge("7,0..3"), parse_knowledge([5, 2]), parse_knowledge("")
        ((0, 1, 2, 3, 7), (2, 5), ())
    """
    if not isinstance(value, str):
        numbers = tuple(value) if isinstance(value, Iterable) else (value,)
        if not all(isinstance(number, Integral) and not isinstance(number, bool) for number in numbers):
            example = spelled("knowledge", "1,3,5")
            raise UsageError(f"{spelled('knowledge')} takes whole numbers, for example {example}.")
        return tuple(sorted({int(number) for number in numbers}))
    pieces: set[int] = set()
    for text in value.split(",") if value else ():
        first, _, last = text.strip().partition("..")
        ends = (first, last or first)
        if not all(end.isascii() and end.isdecimal() and len(end) < 5 for end in ends) or int(ends[0]) > int(ends[1]):
            raise UsageError(f"{spelled('knowledge')} takes numbers such as 1,3,5 or 0..12, not {value[:60]!r}.")
        pieces |= set(range(int(ends[0]), int(ends[1]) + 1))
    return tuple(sorted(pieces))


def parse_chain(text: str | Sequence[Sequence[int]]) -> tuple[Node, ...]:
    """Return the nodes of a chain from `0,0 0,1 1,1`: levels separated by commas, nodes by spaces or semicolons; or as
    Python gives them.

    Raises:
        UsageError: no such text, nodes of different length, or a node that is not coarser than the one before.

    Example:
        >>> parse_chain("0,0 0,1 2,1")
        ((0, 0), (0, 1), (2, 1))
    """
    if not isinstance(text, str):
        return tuple(tuple(node) for node in text)
    nodes = []
    for node_text in text.replace(";", " ").split():
        levels = node_text.split(",")
        if not all(level.isascii() and level.isdecimal() for level in levels):
            raise UsageError(f"{spelled('chain')} takes nodes such as 0,0 0,1 1,1, not {node_text!r}.")
        nodes.append(tuple(map(int, levels)))
    if not nodes:
        raise UsageError(f"{spelled('chain')} takes at least one node.")
    return tuple(nodes)
