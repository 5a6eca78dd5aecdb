"""The result of making a cube, and its report. Frozen; `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, ClassVar

from sqlaudit.base import result as base
from sqlaudit.base.options import written
from sqlaudit.base.parameter_names import spelled
from sqlaudit.reports import document as doc
from sqlaudit.reports.notebook import Shown
from sqlaudit.reports.report import MeasuredReport


@dataclass(frozen=True)
class CubeDimension(base.Documented):
    """A dimension of a cube.

    Args:
        name: its column in the cube. level: the level of its hierarchy; None (in Python empty) = it is unchanged.
    """

    name: str
    level: str = field(default="", metadata=base.OR_NULL)


@dataclass(frozen=True)
class CubeRule(base.Documented):
    """A rule for blocks.

    Args:
        text: as it was required, or `full_cell=any` by default. blocks: blocks that fail it, and are left out.
    """

    text: str
    blocks: int


@dataclass(frozen=True)
class LevelChoice(base.Documented):
    """The levels that were chosen so that few people are left out.

    Args:
        limit: the largest share of people that may be left out. fits: whether levels were found.
        nodes: combinations of levels. tried: those whose blocks were counted and judged.
        blocks_before: blocks of the cube at the levels of the request. left_out_before: the share of people in blocks
            that are left out there, rounded to whole percents; None where they are fewer than the threshold.
    """

    limit: Annotated[Fraction, base.FROM_0_TO_1]
    fits: bool
    nodes: int
    tried: int
    blocks_before: int
    left_out_before: Annotated[Fraction, base.FROM_0_TO_1] | None


@dataclass(frozen=True)
class CubeChange(base.Documented):
    """The change of a count from an older cube to this one.

    Args:
        before: the older cube. count: the column. changed: blocks in which it, or the sum beside it, is another.
        unsafe: those that changed by fewer than the threshold. undecided: those of which that is not known.
        passed: whether the change reveals no few people. note: why that is not known.
    """

    before: str
    count: str
    changed: int
    unsafe: int
    undecided: int
    passed: bool
    note: str = ""


@dataclass(frozen=True)
class CubeMargins(base.Documented):
    """What totals that are published elsewhere reveal of the people who are left out.

    Args:
        files: with the totals. dimensions: that they are by, all together.
        groups: of left-out people by these dimensions. unsafe: those that fail a rule.
    """

    files: tuple[str, ...]
    dimensions: tuple[str, ...]
    groups: int
    unsafe: int


@dataclass(frozen=True, kw_only=True, repr=False)
class CubeResult(base.MeasuredResult, Shown):
    """A cube, and what was left out of it.

    Args:
        target: the table's name. engine: the engine and its version.
        dimensions: of the cube. measures: numbers that are added up in each block.
        rules: for blocks, with the blocks that fail each. threshold: the fewest people of a block, with those whose
            values an attacker may know. known_contributors: how many these are.
        blocks: blocks of the cube. people: people of these; who is in several blocks counts in each.
        rows: rows of these. smallest: people of the smallest block; None without a block.
        left_out_blocks: blocks that fail a rule. left_out_people: their people; None where they are fewer than the
            threshold, or where people are in several blocks.
        left_out_share: of the people of all blocks, each of whom counts in each of their blocks (then it is rounded to
            whole percents); None where they are fewer than the threshold.
        people_repeat: whether some people are in several blocks.
        sums_limited: whether a rule limits how much of a sum is from one person or few.
        uniform: `leave-out` or `keep`, for the uniform blocks. uniform_blocks: those that meet the required rules, and
            where everyone has the same value of a measure.
        choice: how the levels were chosen; None = the request names them. changes: beside older cubes.
        margins: what totals published elsewhere reveal; None without any.
        columns: of the cube, in order. first_blocks: the first blocks as texts, if requested.
        file: of the cube, or `table:` and a table's name. view: the view's name.
        sql: the SELECT of the cube, or the statement that makes its view or table; only if requested.
        executed: whether the view or table was created.
    """

    schema: ClassVar = "sqlaudit-cube/1"
    shown_by: ClassVar = "sqlaudit.cubes.result:CubeReport"
    frame_of: ClassVar = "rules"

    target: str = field(metadata=base.key("target.name"))
    engine: str = field(metadata=base.key("target.engine"))
    dimensions: tuple[CubeDimension, ...]
    measures: tuple[str, ...]
    rules: tuple[CubeRule, ...]
    threshold: int
    known_contributors: int
    blocks: int
    people: int
    rows: int
    smallest: int | None = field(metadata=base.key("smallest_block"))
    left_out_blocks: int
    left_out_people: int | None
    left_out_share: Annotated[Fraction, base.FROM_0_TO_1] | None
    people_repeat: bool
    sums_limited: bool
    uniform: str
    uniform_blocks: int
    choice: LevelChoice | None = None
    changes: tuple[CubeChange, ...] = ()
    margins: CubeMargins | None = None
    columns: tuple[str, ...]
    first_blocks: tuple[tuple[str | None, ...], ...] = field(default=(), metadata=base.IF_ANY)
    file: str = field(default="", metadata=base.OR_NULL)
    view: str = field(default="", metadata=base.OR_NULL)
    executed: bool = False
    sql: str = field(default="", metadata=base.OR_NULL)
    select: str = field(default="", repr=False, metadata=base.LEFT_OUT)

    @property
    def passed(self) -> bool:
        """True if the cube has a block, leaves out no more people than allowed, and reveals none beside older cubes."""
        return not self.why

    @property
    def why(self) -> str:
        """Why it is not made; empty = it is."""
        if not self.blocks:
            return "no block meets the rules" if self.left_out_blocks else "the table has no rows"
        if self.choice is not None and not self.choice.fits:
            return "no levels leave out so few people"
        if not all(change.passed for change in self.changes):
            return "with an older cube, this one may reveal few people"
        return "with the totals, this cube reveals few people" if self.margins and self.margins.unsafe else ""


class CubeReport(MeasuredReport[CubeResult]):
    """The report on a cube: its blocks, what is left out, why any query may run, and what that does not cover."""

    kind = "Cube"
    limits_title = "Limits of this cube"

    def headline(self, result: CubeResult) -> doc.Toned:
        """Return the verdict."""
        if not (result.blocks or result.left_out_blocks):
            return doc.warning(f"UNDETERMINED: {result.why}")
        if result.why:
            return doc.bad(f"FAIL: {result.why}")
        blocks, fewest = doc.plural(result.blocks, "block"), result.threshold - result.known_contributors
        if result.uniform_blocks and result.uniform == "keep":
            return doc.warning(f"{blocks}: in {doc.count(result.uniform_blocks)}, everyone has the same value")
        return doc.good(f"{blocks}: no query isolates fewer than {doc.plural(fewest, 'person', 'people')}")

    def key_figures(self, result: CubeResult) -> Iterator[doc.KeyFigure]:
        yield doc.KeyFigure(doc.count(result.blocks), "Blocks")
        if result.smallest is not None:
            yield doc.KeyFigure(doc.count(result.smallest), "People in the smallest block")
        yield doc.KeyFigure(_left_out(result), "Left out")

    def opening(self, result: CubeResult) -> Iterator[doc.Content]:
        levels = [
            written(dimension.name) + (f" ({dimension.level})" if dimension.level else "")
            for dimension in result.dimensions
        ]
        measures = f"; sums of {doc.listed(result.measures)}" if result.measures else ""
        yield f"{result.target}: people by {doc.listing(levels, None)}{measures}."
        yield _parts_kept(result)

    def lead(self, result: CubeResult) -> Iterator[doc.Words]:
        if not (result.blocks or result.left_out_blocks):
            yield doc.warning(f"Nothing was written. Check the table and the {spelled('where')} condition.")
            return
        if not result.blocks:
            yield doc.bad(
                "Nothing was written.",
                f"Use fewer dimensions or coarser levels, or let {spelled('suppress', '5%')} choose.",
            )
            yield from _left_out_as_uniform(result)
            return
        if not all(change.passed for change in result.changes):
            yield doc.bad(
                "Nothing was written. Blocks changed by fewer people than the threshold, or by an unknown number.",
                "Use coarser levels in both cubes, or publish when more has changed.",
            )
        margins = result.margins
        if margins is not None and margins.unsafe:
            by = f" by {doc.listing(margins.dimensions, None)}" * bool(margins.dimensions)
            yield doc.bad(
                "Nothing was written. Less the cube, the totals are sums of those who are left out: "
                f"{doc.plural(margins.unsafe, 'group')}{by} fail{'s' * (margins.unsafe == 1)} a rule.",
                f"Use coarser levels, or let {spelled('suppress', '0')} choose levels that leave out no one.",
            )
        elif margins is not None:
            left_out = "those who are left out meet the rules as well" if margins.groups else "no one is left out"
            yield f"With the totals of {doc.listed(margins.files)}, {left_out}."
        if result.left_out_blocks:
            yield f"{doc.plural(result.left_out_blocks, 'block')} left out of the cube: {_left_out(result)}."
        yield from _left_out_as_uniform(result)
        if result.choice is not None:
            before = result.choice
            share = "some people" if before.left_out_before is None else doc.percent(before.left_out_before)
            yield (
                f"At the levels of the request, {doc.plural(before.blocks_before, 'block')} meet the rules and {share} "
                f"are left out. Here, {doc.plural(result.blocks, 'block')} and {_left_out(result)}."
            )
        if result.passed:
            least = doc.plural(result.threshold, "person", "people")
            yield (
                f"Why any query may run: each block is the sum over at least {least}, and the cube has nothing finer. "
                "A query, however it filters, groups or subtracts, combines whole blocks. It reveals nothing that the "
                "cube does not show."
            )

    def sections(self, result: CubeResult) -> Iterator[tuple[doc.Section, ...]]:
        changes = doc.table_of(
            result.changes,
            ("Older cube", "before"),
            ("Column", "count"),
            ("#Changed blocks", "changed"),
            ("#By few people", "unsafe"),
            ("#Not known", "undecided"),
        )
        notes = dict.fromkeys(change.note for change in result.changes if change.note)
        if result.changes:
            yield doc.section("Changes", changes, *notes)
        yield doc.section("Rules", doc.table_of(result.rules, ("Rule", "text"), ("#Blocks left out", "blocks")))
        if result.first_blocks:
            shown = doc.table(
                map(written, result.columns), ([cell or "" for cell in row] for row in result.first_blocks)
            )
            yield doc.section("First blocks", shown)
        if result.sql:
            yield doc.section("The SELECT of the cube", doc.Code("SQL", result.sql))

    def method(self, result: CubeResult) -> Iterator[tuple[str, doc.Cell]]:
        yield "Columns", doc.listed(result.columns, 20)
        yield "Written to", result.file or result.view
        if result.known_contributors:
            yield "Threshold", f"{result.threshold} people, of which an attacker may know {result.known_contributors}"
        if result.choice is not None:
            yield (
                "Levels",
                f"{doc.plural(result.choice.tried, 'combination')} of {doc.count(result.choice.nodes)} counted",
            )

    def limits(self, result: CubeResult) -> Iterator[str]:
        other = " other than those that were judged" if result.margins else ""
        yield (
            f"Totals of the whole table that are published elsewhere{other}: less the cube, they are the sum of what "
            "was left out."
        )
        if result.uniform_blocks and result.uniform != "keep":
            yield (
                "Blocks that are missing: someone who knows that enough people belong to one learns that a rule left "
                "it out, perhaps because everyone in it has the same value."
            )
        if result.people_repeat:
            yield (
                "People are in several blocks: the number of people is exact for each block, and does not add up over "
                "blocks."
            )
            if result.measures:
                yield (
                    "Measures that differ little between the rows of a person: the difference of two blocks with "
                    "nearly the same people is close to the values of those who are in one of them only."
                )
        if result.changes:
            yield (
                "People who move between blocks: the changes of single blocks are compared. If ten people leave one "
                "block and eleven come to another, both changes together may be of one person."
            )
        others = " beside those that were compared" if result.changes else ""
        yield f"A second cube of changed data{others}: blocks that differ by a few people reveal them."
        if result.measures and not result.sums_limited:
            yield (
                "Sums that are mostly from one person: no rule limits that person's share. "
                f"{spelled('require', 'p_percent=10')} leaves out blocks where others can estimate it."
            )
        if result.uniform_blocks and result.uniform == "keep":
            yield (
                f"In {doc.plural(result.uniform_blocks, 'block')}, everyone has the same value of a measure. Someone "
                f"who is known to be in such a block has this value. Without {spelled('uniform', 'keep')}, these "
                "blocks are left out."
            )
        if result.view:
            yield "A view changes with its table: compare it with what was read before as a second cube."


def _parts_kept(result: CubeResult) -> doc.Picture:
    """Return a picture of the blocks that are kept, and of their people where their number may be said."""
    kept = {"Blocks": [doc.Portion(result.blocks, result.blocks + result.left_out_blocks)]}
    share = result.left_out_share if result.left_out_blocks else Fraction(0)
    if share is not None:
        kept["People"] = [doc.Portion(float(1 - share), 1.0, doc.percent(1 - share))]
    return doc.portions("Blocks and people: in the cube (solid) and left out (faint)", kept)


def _left_out_as_uniform(result: CubeResult) -> Iterator[str]:
    """Yield how many blocks fail no rule but that on equal values, and the option that keeps them."""
    if result.uniform_blocks and result.uniform != "keep":
        verb = "was" if result.uniform_blocks == 1 else "were"
        yield (
            f"{doc.plural(result.uniform_blocks, 'block')} {verb} left out only because everyone has the same value of "
            f"a measure. {spelled('uniform', 'keep')} keeps such blocks, which show the value of everyone in them."
        )


def _left_out(result: CubeResult) -> str:
    """Return how many people are left out, as far as that may be said."""
    if not result.left_out_blocks:
        return "no one"
    if result.left_out_share is None:
        return f"fewer than {result.threshold} people"
    share = doc.percent(result.left_out_share)
    if result.left_out_people is None:
        return f"{share} of people"
    return f"{doc.plural(result.left_out_people, 'person', 'people')} ({share})"
