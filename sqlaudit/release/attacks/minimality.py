"""Minimality: the release is a minimal node of a full-domain search, so every finer node was not safe, and that tells.

What is modelled, exactly: the attacker knows the release; who is in it with exact quasi-identifiers (the identified
table holds these people and nobody else); the hierarchies; the requirement; and that the search gives a minimal safe
node (all minimal nodes of Incognito are, and the end of a chain of OLA), with no suppression. Requirements are those
that counts alone decide (k, l, alpha, entropy l, recursive (c,l)). Finer nodes are used one at a time: each direct
predecessor, in which one column is one level finer. An attacker who combines several can know more, never less in sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from sqlaudit.base.columns_of import Resolved, resolve
from sqlaudit.base.errors import UsageError
from sqlaudit.base.relation import Kind, Relation
from sqlaudit.base.spec import NullPolicy
from sqlaudit.base.sql import Raw, render
from sqlaudit.base.words import about, spelled
from sqlaudit.engines.contract import Engine
from sqlaudit.hierarchies.dictionary import dictionary
from sqlaudit.hierarchies.hierarchy import Hierarchy, plain
from sqlaudit.models.registry import REGISTRY
from sqlaudit.release.attacks.base import Attack, CannotTry, Scene, chance, of_all, some
from sqlaudit.release.attacks.count_rules import Rule, rule_of
from sqlaudit.release.attacks.fits import MAX_VALUES, SPELLED
from sqlaudit.release.attacks.request import KnownSearch
from sqlaudit.release.attacks.result import Exposure, Figure
from sqlaudit.release.attacks.worlds import Budget, Posterior, Split, TooLarge, posteriors

WONG = "Wong, Fu, Wang, Pei: Minimality Attack in Privacy Preserving Data Publishing, VLDB 2007"


@dataclass(frozen=True)
class Labelled:
    """A quasi-identifier of the release and of the people, with every value's labels at levels 0, 1, …"""

    hierarchy: Hierarchy
    mine: Resolved
    theirs: Resolved
    values: Sequence[tuple[str, ...]]
    level: int

    def labels(self, number: int) -> list[str]:
        """The labels at a level, one a value, in the spelling of statements."""
        return [value[number] for value in self.values]


class Minimality(Attack):
    """What follows from the search having stopped where it did."""

    name: ClassVar[str] = "minimality"
    title: ClassVar[str] = "Minimality of the generalization"
    source: ClassVar[str] = WONG

    def lacks(self, scene: Scene) -> str:
        """The requirement, the people, one sensitive attribute, and classes that do not overlap."""
        published = scene.request.published
        if published is None:
            return f"It needs the requirement that the release is a minimal node for ({spelled('require')})."
        if scene.identified is None:
            return f"It needs the exact quasi-identifiers of the people in the release ({spelled('identified')})."
        if len(scene.attributes) != 1 or scene.roles.entity is not None or scene.given.nulls is not NullPolicy.EQUAL:
            return f"It needs one sensitive attribute, a row a person, and {spelled('nulls', 'equal')}."
        if scene.workbench is None:
            return "It needs a workbench for hierarchies beside this database."
        unknown = [one.text or one.model for one in published.requirements if not REGISTRY[one.model].by_counts]
        if unknown:
            return f"It is modelled for k, l, alpha, entropy_l and recursive_l, not for {unknown[0]}."
        return ""

    def run(self, scene: Scene) -> Iterator[Exposure]:
        """One exposure over all direct predecessors."""
        published = scene.request.published
        assert published is not None
        columns = _columns(scene, published)
        rule = rule_of(published.requirements)
        steps = [_step(scene, columns, position, rule) for position, column in enumerate(columns) if column.level > 0]
        if not steps:
            raise CannotTry("The release is the finest node, so there is no finer one that could have been unsafe.")
        if all(step["chance_unsafe"] is None for step in steps):
            raise CannotTry("The classes of the release have too many possible worlds to count.")
        yield _exposure(scene, scene.attributes[0].label, steps)


def _exposure(scene: Scene, label: str, steps: Sequence[dict[str, Figure]]) -> Exposure:
    best = max(steps, key=lambda step: (int(step["newly_certain"] or 0), _gain(step)))
    exposed = int(best["newly_certain"] or 0)
    impossible = [step["column"] for step in steps if step["chance_unsafe"] == 0]
    missing = sum(step["chance_unsafe"] is None for step in steps)
    return Exposure(
        attack=Minimality.name,
        title=Minimality.title,
        about=label,
        exposed=exposed,
        of=scene.rows,
        unit="people",
        probability=Fraction(1),
        highest=max(float(step["highest"] or 0) for step in steps),
        sentence=_sentence(scene, label, best),
        figures={
            "nearly_sure": max(int(step["newly_nearly_sure"] or 0) for step in steps),
            "finer_nodes": len(steps),
            "finer_nodes_not_counted": missing,
        },
        steps=tuple(steps),
        source=WONG,
        note=_note(impossible, missing, len(steps)),
    )


def _gain(step: Mapping[str, Figure]) -> float:
    return float(step["posterior"] or 0) - float(step["prior"] or 0)


def _sentence(scene: Scene, label: str, best: Mapping[str, Figure]) -> str:
    if _gain(best) <= 0:
        return f"That no finer node was safe tells nothing about anybody's {label}."
    prior, posterior = float(best["prior"] or 0), float(best["posterior"] or 0)
    said = (
        f"That {best['column']} had to be so coarse raises the chance of a value of {label} from {chance(prior)} to "
        f"{chance(posterior)} for somebody"
    )
    exposed = int(best["newly_certain"] or 0)
    return f"{said}, and makes {of_all(exposed, scene.rows, 'people')} certain." if exposed else f"{said}."


def _note(impossible: Sequence[Figure], missing: int, steps: int) -> str:
    if impossible:
        return (
            f"With {impossible[0]} one level finer the requirement would have held in every possible world: the "
            "release is no minimal node for it."
        )
    if missing:
        return f"{missing} of {some(steps, 'finer nodes')} left too many possible worlds to count."
    return "Finer nodes are used one at a time; all together can tell more."


# --- one finer node ---


def _step(scene: Scene, columns: Sequence[Labelled], finer: int, rule: Rule) -> dict[str, Figure]:
    """What is learned from one column's having to be a level coarser."""
    column = columns[finer]
    names = ("chance_unsafe", "newly_certain", "newly_nearly_sure", "prior", "posterior", "highest")
    step: dict[str, Figure] = {"column": column.mine.label, "level": column.level, **dict.fromkeys(names)}
    kinds = _kinds(scene, columns, finer)
    if any(rule.decided(size, counts) is False for blocks, counts, _ in kinds for size in blocks):
        highest = max(Fraction(max(counts), sum(counts)) for _, counts, _ in kinds)
        return step | {"chance_unsafe": 1, "newly_certain": 0, "newly_nearly_sure": 0, "highest": highest}
    try:
        budget = Budget()
        found = posteriors([(Split(blocks, counts, rule, budget), classes) for blocks, counts, classes in kinds])
    except TooLarge:
        return step
    return step | _learned(*found, float(scene.request.sure))


def _learned(
    chance_unsafe: float, kinds: Sequence[tuple[Split, Sequence[Posterior]]], sure: float
) -> dict[str, Figure]:
    blocks = [block for _, learned in kinds for block in _by_block(learned)]
    best = max(blocks, key=lambda block: block.posterior - float(block.prior), default=None)
    return {
        "chance_unsafe": chance_unsafe,
        "newly_certain": sum(block.people for block in blocks if block.certain),
        "newly_nearly_sure": sum(block.people for block in blocks if block.posterior >= sure > float(block.prior)),
        "prior": None if best is None else best.prior,
        "posterior": None if best is None else best.posterior,
        "highest": max((block.posterior for block in blocks), default=None),
    }


@dataclass(frozen=True)
class _Block:
    """The most likely value of a block's people before and after."""

    people: int
    prior: Fraction
    posterior: float
    certain: bool


def _by_block(learned: Sequence[Posterior]) -> Iterator[_Block]:
    for size in dict.fromkeys(one.block for one in learned):
        values = [one for one in learned if one.block == size]
        most = max(values, key=lambda one: one.posterior)
        yield _Block(most.people, max(one.prior for one in values), most.posterior, any(one.certain for one in values))


def _kinds(scene: Scene, columns: Sequence[Labelled], finer: int) -> list[tuple[list[int], tuple[int, ...], int]]:
    """The kinds of classes under a finer node: (sizes of blocks, counts of values with the largest first, classes).

    Raises:
        CannotTry: the people are not those of the release.
    """
    assert scene.identified is not None
    parameters: list[Any] = []
    listed = []
    for position, column in enumerate(columns):
        places = [Raw(f"${len(parameters) + further}") for further in (1, 2, 3)]
        fine = column.level - 1 if position == finer else column.level
        parameters += [column.labels(0), column.labels(column.level), column.labels(fine)]
        listed.append(
            {
                "name": f"q{position + 1}",
                "labels": places,
                "mine": Raw(column.mine.sql),
                "theirs": Raw(column.theirs.sql),
                "form": SPELLED.get(column.mine.kind, ""),
                "other_form": SPELLED.get(column.theirs.kind, ""),
            }
        )
    statement = render(
        "release/attacks/attack_minimality.sql",
        scene.engine.dialect,
        step=f"without the level of {columns[finer].mine.label}",
        source=Raw(scene.relation.sql),
        identified=Raw(scene.identified.sql),
        columns=listed,
        finer=f"q{finer + 1}",
        sensitive=Raw(scene.roles.sensitive[0].sql),
    )
    rows = scene.engine.run(statement, parameters)
    others = sum(int(row[3]) for row in rows if not row[2])
    if others:
        have = "has" if others == 1 else "have"
        raise CannotTry(
            f"It needs exactly the people of the release: {some(others, 'classes')} {have} another number of people in "
            "the identified table."
        )
    return [(_sizes(row[0]), tuple(sorted(_sizes(row[1]), reverse=True)), int(row[3])) for row in rows]


def _sizes(text: str) -> list[int]:
    return [int(size) for size in text.split(",")]


# --- the node of the release ---


def _columns(scene: Scene, published: KnownSearch) -> list[Labelled]:
    """The quasi-identifiers with their levels in the release.

    Raises:
        UsageError: a column that the people lack, or cells that are of no level.
    """
    assert scene.identified is not None
    people = dict(scene.request.match)
    labels = [role.label for role in scene.roles.quasi_identifiers]
    node = published.node
    if node is not None and len(node) != len(labels):
        raise UsageError(f"{spelled('node')} has {len(node)} levels, but there are {len(labels)} quasi-identifiers.")
    found = []
    for position, role in enumerate(scene.roles.quasi_identifiers):
        hierarchy = scene.request.hierarchies.get(role.label) or plain(role.label)
        name = people.get(role.label, role.label)
        theirs = resolve(name, scene.identified, scene.engine.dialect, about("match"))
        if theirs.kind is Kind.FLOAT:
            raise UsageError(f"{about('match')}: {name} holds floats, which have no exact spelling; round them.")
        values = _values(scene, scene.identified, theirs, hierarchy, position)
        level = _level(scene, role, hierarchy, values, None if node is None else node[position])
        found.append(Labelled(hierarchy, role, theirs, values, level))
    return found


def _values(
    scene: Scene, people: Relation, column: Resolved, hierarchy: Hierarchy, position: int
) -> list[tuple[str, ...]]:
    """Every value of the people with its labels at levels 0, 1, …, in the spelling of statements."""
    workbench = scene.workbench
    assert isinstance(workbench, Engine)
    name = f"sqlaudit_attack_labels_{position}"
    made = dictionary(scene.engine, workbench, people, column, hierarchy, name)
    levels = list(range(1, hierarchy.height + 1))
    rows = workbench.run(
        render("release/attacks/attack_labels.sql", workbench.dialect, source=Raw(made.relation.sql), levels=levels)
    )
    workbench.drop(name)
    if len(rows) > MAX_VALUES:
        raise UsageError(f"{column.label} has more than {MAX_VALUES:,} different values; leave it out.")
    return [tuple("" if label is None else f"={label}" for label in row) for row in rows]


def _level(
    scene: Scene, role: Resolved, hierarchy: Hierarchy, values: Sequence[tuple[str, ...]], given: int | None
) -> int:
    """The lowest level that has every cell of the release, or the one that is given."""
    statement = render(
        "release/attacks/attack_texts.sql",
        scene.engine.dialect,
        step=f"cells of {role.label}",
        source=Raw(scene.relation.sql),
        column=Raw(role.sql),
        form=SPELLED.get(role.kind, ""),
        null="",
        pattern="",
        limit=MAX_VALUES,
    )
    cells = {str(row[0]) for row in scene.engine.run(statement)}
    levels = range(hierarchy.height + 1) if given is None else [given]
    for level in levels:
        if 0 <= level <= hierarchy.height and cells <= {value[level] for value in values}:
            return level
    where = "any level of its hierarchy" if given is None else f"level {given}"
    raise UsageError(f"{role.label}: some cells of the release are not labels of the people's values at {where}.")
