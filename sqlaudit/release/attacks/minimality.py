"""Minimality: the release is a minimal node of a full-domain search, so every finer node was not safe, and that tells.

What is modelled, exactly: the attacker knows the release; who is in it with exact quasi-identifiers (the identified
table holds these people and no one else); the hierarchies; the requirement; and that the search gives a minimal safe
node (all minimal nodes of Incognito are, and the end of a chain of OLA), with no suppression. Requirements are those
that counts alone decide (k, l, alpha, entropy l, recursive (c,l)). Finer nodes are used one at a time: each direct
predecessor, in which one column is one level finer. An attacker who combines several can know more, never less in sum.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from sqlaudit.base.columns_of import Resolved, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.relation import Kind, Relation
from sqlaudit.base.spec import NullPolicy, Requirement
from sqlaudit.base.sql import Raw, render
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.dictionary import dictionary
from sqlaudit.hierarchies.levels import Hierarchy, plain
from sqlaudit.models.base import Context
from sqlaudit.models.registry import REGISTRY
from sqlaudit.release.attacks.base import MAX_VALUES, SPELLED, Attack, AttackedRelease, CannotTry, chance, of_all, some
from sqlaudit.release.attacks.request import KnownSearch
from sqlaudit.release.attacks.result import Exposure, Figure

# Requirements that the counts of a block's values decide, and what its size alone decides already.

Counts = tuple[int, ...]
"""How often each value occurs, zeros left out, largest first."""


@dataclass(frozen=True)
class Rule:
    """A requirement on blocks of people.

    Args:
        holds: whether a block with these counts satisfies it.
        decided: whether every (True) or no (False) block of this size satisfies it whose values are drawn from a class
            with these counts; None when that depends on the draw.
    """

    holds: Callable[[Counts], bool]
    decided: Callable[[int, Counts], bool | None] = lambda _size, _counts: None


def rule_of(requirements: Sequence[Requirement]) -> Rule:
    """All the requirements together; each must be of a model that counts decide (`by_counts`).

    Example:
        >>> from sqlaudit.models.registry import parse_requirement
        >>> rule = rule_of([parse_requirement("k=2"), parse_requirement("l=2")])
        >>> rule.holds((2,)), rule.holds((1, 1)), rule.decided(1, (3, 2)), rule.decided(4, (3, 2))
        (False, True, False, True)
    """
    models = [REGISTRY[requirement.model](requirement.parameters, Context(None, 0)) for requirement in requirements]

    def holds(counts: Counts) -> bool:
        by_value = dict(enumerate(counts))
        return all(model.holds(by_value) for model in models)

    def decided(size: int, counts: Counts) -> bool | None:
        decisions = [model.verdict_by_counts(size, counts) for model in models]
        return False if False in decisions else None if None in decisions else True

    return Rule(holds, decided)


# What follows from knowing that a finer node was not safe: probabilities over all possible worlds, exactly.
#
# A world says which sensitive value belongs to whom, within each class of the release. Before, all worlds are equally
# likely. The attacker knows how a finer node splits each class into blocks of people, and that this node was not safe,
# so that in some class some block falls short. Worlds where the node is safe are ruled out (Wong, Fu, Wang, Pei:
# Minimality Attack in Privacy Preserving Data Publishing, VLDB 2007).
#
# With A = probability that all blocks of a class are safe, R = the product of A over the other classes, p = share of a
# value in the class, and t = probability that a person of a block has the value and the class is safe:
#
#     P(person has the value | the node is not safe) = (p − t R) / (1 − A R) = (p − t + t (1 − R)) / (1 − A + A (1 − R))
#
# The second form is the one computed: it adds only what is not negative, so nothing is lost when A R is nearly 1.

MAX_STEPS = 100_000
"""Up to this many ways to fill a block are looked at for one finer node."""
MAX_SIZE = 1_000
"""Worlds of larger classes are not counted (unless the sizes of the blocks decide)."""
_factorial = functools.cache(math.factorial)


class TooLarge(Exception):
    """A class has too many possible worlds to count."""


class Budget:
    """How many ways to fill a block may still be looked at."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.left = steps

    def spend(self) -> None:
        """Take one.

        Raises:
            TooLarge: there is none left.
        """
        self.left -= 1
        if self.left < 0:
            raise TooLarge


@dataclass(frozen=True)
class Posterior:
    """What is learned about the people of one block and one value.

    Args:
        block: the block's size. people: how many people lie in such blocks, over all classes of this kind.
        prior, posterior: the probability of the value before and after.
        certain: whether it became certain, exactly.
    """

    block: int
    people: int
    prior: Fraction
    posterior: float
    certain: bool


class Split:
    """A class of the release with the blocks of a finer node.

    Only blocks whose safety depends on the world are filled. The people of blocks that are safe in every world are
    exchangeable, whatever their block, so the others leave an equal chance of each value to all of them.

    Args:
        blocks: sizes of the blocks. counts: how often each sensitive value occurs in the class.
        rule: the requirement. budget: shared by all classes of a node.

    Raises:
        TooLarge: there are too many ways to fill the blocks.
    """

    def __init__(self, blocks: Sequence[int], counts: Sequence[int], rule: Rule, budget: Budget | None = None) -> None:
        self.blocks = tuple(sorted(blocks))
        self.counts = tuple(sorted(counts))
        self.size = sum(counts)
        self._rule = rule
        self._budget = budget or Budget()
        self._known: dict[tuple[Counts, Counts], int] = {}
        largest_first = self.counts[::-1]
        self._decided = {size: rule.decided(size, largest_first) for size in set(self.blocks)}
        self._open = tuple(size for size in self.blocks if self._decided[size] is None)
        self.all_safe = self._all_safe()

    def _all_safe(self) -> Fraction:
        """The probability that all blocks are safe."""
        if False in self._decided.values():
            return Fraction(0)
        if not self._open:
            return Fraction(1)
        if self.size > MAX_SIZE:
            raise TooLarge
        return Fraction(self._ways(self._open, self.counts), _worlds(self.counts))

    def joint(self, block: int, count: int) -> Fraction:
        """The probability that a person of a block of this size has a value that occurs so often, and all is safe."""
        prior = Fraction(count, self.size)
        if self.all_safe in (0, 1):
            return prior * self.all_safe
        if self._decided[block] is None:
            return self._joint(block, count)
        elsewhere = sum(
            (size * times * self._joint(size, count) for size, times in Counter(self._open).items()), Fraction(0)
        )
        return (count * self.all_safe - elsewhere) / (self.size - sum(self._open))

    def _joint(self, block: int, count: int) -> Fraction:
        rest = list(self._open)
        rest.remove(block)
        index = self.counts.index(count)
        arrangements = 0
        for filled, ways, left in self._fillings(block, self.counts):
            if filled[index]:
                arrangements += filled[index] * ways * self._ways(tuple(rest), left)
        return Fraction(arrangements, _worlds(self.counts) * block)

    def _ways(self, blocks: Counts, counts: Counts) -> int:
        """Return the number of arrangements of the values that make all these blocks safe; the other people take the
        rest."""
        if not blocks:
            return _worlds(counts)
        key = blocks, counts
        if key not in self._known:
            self._known[key] = sum(
                ways * self._ways(blocks[1:], left) for _, ways, left in self._fillings(blocks[0], counts)
            )
        return self._known[key]

    def _fillings(self, size: int, counts: Counts) -> Iterator[tuple[Counts, int, Counts]]:
        """Yield how often each value occurs in a safe block, the number of arrangements, and what is left in order."""
        for filled in _parts(size, counts):
            self._budget.spend()
            if self._rule.holds(tuple(sorted((count for count in filled if count), reverse=True))):
                left = tuple(sorted(a - b for a, b in zip(counts, filled, strict=True)))
                yield filled, _worlds(filled), left


def _worlds(counts: Counts) -> int:
    """In how many ways values that occur so often belong to so many people."""
    return _factorial(sum(counts)) // math.prod(map(_factorial, counts))


def _parts(size: int, counts: Counts) -> Iterator[Counts]:
    """All vectors below the counts that add up to the size."""
    if not counts:
        if size == 0:
            yield ()
        return
    left = sum(counts[1:])
    for first in range(max(0, size - left), min(size, counts[0]) + 1):
        for rest in _parts(size - first, counts[1:]):
            yield first, *rest


def posteriors(splits: Sequence[tuple[Split, int]]) -> tuple[float, list[tuple[Split, list[Posterior]]]]:
    """Return what is learned about every kind of class when the finer node is known not to be safe.

    Args:
        splits: each kind of class, with how many classes are of that kind.

    Returns:
        how likely it was that the node is not safe (0: impossible, so nothing can be said), and what is learned.
    """
    logs = [_log(split.all_safe) for split, _ in splits]
    times_logs = [times * log for log, (_, times) in zip(logs, splits, strict=True)]
    log_all_safe = math.fsum(times_logs)
    if not log_all_safe:
        return 0.0, []
    before = [0.0, *itertools.accumulate(times_logs)]
    after = [0.0, *itertools.accumulate(times_logs[::-1])]
    learned = []
    for index, (split, times) in enumerate(splits):
        log_own_kind = (times - 1) * logs[index] if times > 1 else 0.0
        others = before[index] + after[len(splits) - 1 - index] + log_own_kind
        learned.append((split, list(_of_class(split, times, others))))
    return -math.expm1(log_all_safe), learned


def _log(share: Fraction) -> float:
    if not share:
        return -math.inf
    return math.log(share) if share < Fraction(1, 2) else math.log1p(-float(1 - share))


def _of_class(split: Split, times: int, others: float) -> Iterator[Posterior]:
    """Each block size with each count. `others`: the logarithm of R; 0 exactly when no other class can be unsafe."""
    unsafe = -math.expm1(others)
    for block, blocks in Counter(split.blocks).items():
        for count in sorted(set(split.counts)):
            prior = Fraction(count, split.size)
            joint = split.joint(block, count)
            above, below = prior - joint, 1 - split.all_safe
            if not unsafe:
                exact = above / below if below else prior
                yield Posterior(block, block * blocks * times, prior, float(exact), exact == 1 != prior)
                continue
            chance = (float(above) + float(joint) * unsafe) / (float(below) + float(split.all_safe) * unsafe)
            yield Posterior(block, block * blocks * times, prior, min(1.0, chance), False)


WONG = "Wong, Fu, Wang, Pei: Minimality Attack in Privacy Preserving Data Publishing, VLDB 2007"


@dataclass(frozen=True)
class Labelled:
    """A quasi-identifier of the release and of the people, with every value's labels at levels 0, 1, …"""

    mine: Resolved
    theirs: Resolved
    values: Sequence[tuple[str, ...]]
    level: int


class Minimality(Attack):
    """What follows from the search having stopped where it did."""

    name: ClassVar[str] = "minimality"
    title: ClassVar[str] = "Minimality of the generalization"
    source: ClassVar[str] = WONG

    def lacks(self, release: AttackedRelease) -> str:
        """Return why the attack cannot be tried, for example without the requirement of the search or the people."""
        published = release.request.published
        if published is None:
            return f"It needs the requirement of the search that made the release ({spelled('require')})."
        if release.identified is None:
            return f"It needs the exact quasi-identifiers of the people in the release ({spelled('identified')})."
        if (
            len(release.attributes) != 1
            or release.roles.entity is not None
            or release.request.roles.nulls is not NullPolicy.EQUAL
        ):
            return f"It needs one sensitive attribute, one row per person, and {spelled('nulls', 'equal')}."
        if release.workbench is None:
            return "It needs a DuckDB workbench for hierarchies."
        unknown = [
            requirement.text or requirement.model
            for requirement in published.requirements
            if not REGISTRY[requirement.model].by_counts
        ]
        if unknown:
            return f"It supports k, l, alpha, entropy_l and recursive_l, not {unknown[0]}."
        return ""

    def run(self, release: AttackedRelease) -> Iterator[Exposure]:
        """Yield one exposure over all direct predecessors."""
        published = release.request.published
        assert published is not None
        columns = _columns(release, published)
        rule = rule_of(published.requirements)
        steps = [_step(release, columns, position, rule) for position, column in enumerate(columns) if column.level > 0]
        if not steps:
            raise CannotTry("The release is the finest node, so no finer node was rejected.")
        if all(step["chance_unsafe"] is None for step in steps):
            raise CannotTry("The groups of the release have too many possible worlds to count.")
        label = release.attributes[0].label
        best = max(steps, key=lambda step: (int(step["newly_certain"] or 0), _gain(step)))
        impossible = [step["column"] for step in steps if step["chance_unsafe"] == 0]
        missing = sum(step["chance_unsafe"] is None for step in steps)
        yield self.exposure(
            about=label,
            exposed=int(best["newly_certain"] or 0),
            of=release.rows,
            unit="people",
            highest=max(float(step["highest"] or 0) for step in steps),
            sentence=_sentence(release, label, best),
            figures={
                "nearly_sure": max(int(step["newly_nearly_sure"] or 0) for step in steps),
                "finer_nodes": len(steps),
                "finer_nodes_not_counted": missing,
            },
            steps=tuple(steps),
            note=_note(impossible, missing, len(steps)),
        )


def _gain(step: Mapping[str, Figure]) -> float:
    return float(step["posterior"] or 0) - float(step["prior"] or 0)


def _sentence(release: AttackedRelease, label: str, best: Mapping[str, Figure]) -> str:
    if _gain(best) <= 0:
        return f"The rejected finer nodes reveal nothing about {label}."
    prior, posterior = float(best["prior"] or 0), float(best["posterior"] or 0)
    sentence = (
        f"The coarsening of {best['column']} raises the chance of a value of {label} from {chance(prior)} to "
        f"{chance(posterior)} for at least one person"
    )
    exposed = int(best["newly_certain"] or 0)
    return f"{sentence} and makes {of_all(exposed, release.rows, 'people')} certain." if exposed else f"{sentence}."


def _note(impossible: Sequence[Figure], missing: int, steps: int) -> str:
    if impossible:
        return (
            f"With {impossible[0]} one level finer, every possible world meets the requirement: the release is not a "
            "minimal node for it."
        )
    if missing:
        return f"Not counted: {missing} of {some(steps, 'finer nodes')}, with too many possible worlds."
    return "Finer nodes are used one at a time; in combination they may reveal more."


# --- one finer node ---


def _step(release: AttackedRelease, columns: Sequence[Labelled], finer: int, rule: Rule) -> dict[str, Figure]:
    """Return what is learned from one column's having to be a level coarser."""
    column = columns[finer]
    names = ("chance_unsafe", "newly_certain", "newly_nearly_sure", "prior", "posterior", "highest")
    step: dict[str, Figure] = {"column": column.mine.label, "level": column.level, **dict.fromkeys(names)}
    kinds = _kinds(release, columns, finer)
    if any(rule.decided(size, counts) is False for blocks, counts, _ in kinds for size in blocks):
        highest = max(Fraction(max(counts), sum(counts)) for _, counts, _ in kinds)
        return step | {"chance_unsafe": 1, "newly_certain": 0, "newly_nearly_sure": 0, "highest": highest}
    try:
        budget = Budget()
        learned = posteriors([(Split(blocks, counts, rule, budget), classes) for blocks, counts, classes in kinds])
    except TooLarge:
        return step
    return step | _learned(*learned, float(release.request.sure))


def _learned(
    chance_unsafe: float, kinds: Sequence[tuple[Split, Sequence[Posterior]]], sure: float
) -> dict[str, Figure]:
    """Return how much the attack adds to what was known before."""
    blocks: list[Posterior] = []  # the most likely value of a block's people before and after
    for _, learned in kinds:
        for size in dict.fromkeys(posterior.block for posterior in learned):
            values = [posterior for posterior in learned if posterior.block == size]
            most, prior = (
                max(values, key=lambda posterior: posterior.posterior),
                max(posterior.prior for posterior in values),
            )
            blocks.append(replace(most, prior=prior, certain=any(posterior.certain for posterior in values)))
    best = max(blocks, key=lambda block: block.posterior - float(block.prior), default=None)
    return {
        "chance_unsafe": chance_unsafe,
        "newly_certain": sum(block.people for block in blocks if block.certain),
        "newly_nearly_sure": sum(block.people for block in blocks if block.posterior >= sure > float(block.prior)),
        "prior": None if best is None else best.prior,
        "posterior": None if best is None else best.posterior,
        "highest": max((block.posterior for block in blocks), default=None),
    }


def _kinds(
    release: AttackedRelease, columns: Sequence[Labelled], finer: int
) -> list[tuple[list[int], tuple[int, ...], int]]:
    """The kinds of classes under a finer node: (sizes of blocks, counts of values with the largest first, classes).

    Raises:
        CannotTry: the people are not those of the release.
    """
    parameters: list[object] = []
    column_parameters = []
    for position, column in enumerate(columns):
        places = [Raw(f"${len(parameters) + further}") for further in (1, 2, 3)]
        fine = column.level - (position == finer)
        # the labels at a level, one a value, in the spelling of statements
        parameters += [[labels[level] for labels in column.values] for level in (0, column.level, fine)]
        column_parameters.append(
            {
                "name": f"q{position + 1}",
                "labels": places,
                "mine": column.mine,
                "theirs": column.theirs,
                "form": SPELLED.get(column.mine.kind, ""),
                "other_form": SPELLED.get(column.theirs.kind, ""),
            }
        )
    rows = release.ask(
        "attack_minimality",
        f"without the level of {columns[finer].mine.label}",
        parameters,
        identified=release.identified,
        columns=column_parameters,
        finer=f"q{finer + 1}",
        sensitive=release.roles.sensitive[0],
    )
    others = sum(int(row[3]) for row in rows if not row[2])
    if others:
        have = "has" if others == 1 else "have"
        raise CannotTry(
            f"It needs exactly the people of the release, but {some(others, 'groups')} {have} a different size in the "
            "identified table."
        )
    return [(_sizes(row[0]), tuple(sorted(_sizes(row[1]), reverse=True)), int(row[3])) for row in rows]


def _sizes(text: str) -> list[int]:
    return [int(size) for size in text.split(",")]


# --- the node of the release ---


def _columns(release: AttackedRelease, published: KnownSearch) -> list[Labelled]:
    """The quasi-identifiers with their levels in the release.

    Raises:
        UsageError: a column that the people lack, or cells that are of no level.
    """
    assert release.identified is not None
    people = dict(release.request.match)
    labels = [role.label for role in release.roles.quasi_identifiers]
    node = published.node
    if node is not None and len(node) != len(labels):
        raise UsageError(f"{spelled('node')} has {len(node)} levels, but there are {len(labels)} quasi-identifiers.")
    columns = []
    for position, role in enumerate(release.roles.quasi_identifiers):
        hierarchy = release.request.hierarchies.get(role.label) or plain(role.label)
        name = people.get(role.label, role.label)
        theirs = resolve(name, release.identified, release.engine.dialect, about("match"))
        if theirs.kind is Kind.FLOAT:
            raise UsageError(f"{about('match')}: {name} has floats, which have no exact spelling. Round them.")
        values = _values(release, release.identified, theirs, hierarchy, position)
        level = _level(release, role, hierarchy, values, None if node is None else node[position])
        columns.append(Labelled(role, theirs, values, level))
    return columns


def _values(
    release: AttackedRelease, people: Relation, column: Resolved, hierarchy: Hierarchy, position: int
) -> list[tuple[str, ...]]:
    """Every value of the people with its labels at levels 0, 1, …, in the spelling of statements."""
    workbench = release.workbench
    assert isinstance(workbench, Engine)
    name = f"sqlaudit_attack_labels_{position}"
    labels = dictionary(release.engine, workbench, people, column, hierarchy, name)
    levels = list(range(1, hierarchy.height + 1))
    rows = workbench.run(
        render("release/attacks/attack_labels.sql", workbench.dialect, source=labels.relation, levels=levels)
    )
    workbench.drop(name)
    if len(rows) > MAX_VALUES:
        raise UsageError(f"{column.label} has more than {MAX_VALUES:,} different values. Leave it out.")
    return [tuple("" if label is None else f"={label}" for label in row) for row in rows]


def _level(
    release: AttackedRelease,
    role: Resolved,
    hierarchy: Hierarchy,
    values: Sequence[tuple[str, ...]],
    stated: int | None,
) -> int:
    """The lowest level that has every cell of the release, or the one that is given."""
    rows = release.ask(
        "attack_texts",
        f"cells of {role.label}",
        column=role,
        form=SPELLED.get(role.kind, ""),
        null="",
        pattern="",
        limit=MAX_VALUES,
    )
    cells = {str(row[0]) for row in rows}
    levels = range(hierarchy.height + 1) if stated is None else [stated]
    for level in levels:
        if 0 <= level <= hierarchy.height and cells <= {value[level] for value in values}:
            return level
    where = "any level of its hierarchy" if stated is None else f"level {stated}"
    raise UsageError(f"{role.label}: some cells of the release are not labels of the people's values at {where}.")
