"""The results of cloaking and of audits of boxes, and their reports. Frozen; `to_dict` gives the JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from itertools import accumulate
from typing import Annotated, Any, ClassVar, Literal, TypedDict

from sqlaudit.base import result as base
from sqlaudit.reports import document as doc
from sqlaudit.reports.notebook import Shown
from sqlaudit.reports.report import MeasuredReport


class MessageOutcome(IntEnum):
    """The outcome of a message."""

    PUBLISHED = 0
    MISSING = 1
    NO_PLACE = 2
    NO_TOLERANCE = 3
    TOO_FEW = 4
    GIVEN_UP = 5

    @property
    def reason(self) -> str:
        """Its name in JSON."""
        return self.name.lower()


@dataclass(frozen=True)
class CloakLevel(base.Documented):
    """The boxes of one size.

    Args:
        side: metres. seconds: of the interval. boxes, messages: published ones. fewest_users: of a box, None without
            boxes.
    """

    side: Fraction = field(metadata=base.AS_FLOAT)
    seconds: Fraction = field(metadata=base.AS_FLOAT)
    boxes: int
    messages: int
    fewest_users: int | None

    @property
    def area(self) -> Fraction:
        """Square metres."""
        return self.side * self.side


@dataclass(frozen=True)
class Spread(base.Documented):
    """The smallest, the median and the largest of what published messages have, each message counted."""

    smallest: Fraction = field(metadata=base.key("min") | base.AS_FLOAT)
    median: Fraction = field(metadata=base.AS_FLOAT)
    largest: Fraction = field(metadata=base.key("max") | base.AS_FLOAT)


@dataclass(frozen=True)
class RestrictedSpace(base.Documented):
    """Restricted space identification: boxes within one known property (Barriers, section 4.3).

    Args:
        boxes: different boxes in space. inside: boxes inside a known property.
        exposed: boxes inside properties of a single owner. messages: messages in the exposed boxes.
        skipped: properties without bounds or owner.
    """

    boxes: int
    inside: int
    exposed: int
    messages: int
    skipped: int


@dataclass(frozen=True)
class Observed(base.Documented):
    """Observation identification: boxes with an observed user (Barriers, section 4.3).

    Args:
        boxes: different boxes. observed: boxes with an observed user. linkable: boxes with exactly one.
        messages: messages in the linkable boxes, which an attacker links to that user.
        right: correct links, None when the boxes have no users.
        skipped: observations without user, place or time.
    """

    boxes: int
    observed: int
    linkable: int
    messages: int
    right: int | None
    skipped: int


@dataclass(frozen=True)
class Attacks(base.Documented):
    """The two attacks on boxes, None without their table."""

    restricted_space: RestrictedSpace | None = field(default=None, metadata=base.key("restricted_space_identification"))
    observation: Observed | None = field(default=None, metadata=base.key("observation_identification"))


@dataclass(frozen=True)
class Holding(base.Documented):
    """The numbers of different users of boxes, compared with k.

    Args:
        boxes, messages: all of them. fewest: the fewest users of a box, None without boxes.
        failing_boxes: with fewer than k users. failing_messages: in these boxes.
    """

    boxes: int
    messages: int
    fewest: int | None = field(metadata=base.key("fewest_users"))
    failing_boxes: int
    failing_messages: int

    @property
    @base.told("")
    def passed(self) -> bool:
        """True if every box has k users."""
        return not self.failing_boxes


class _DroppedMessages(TypedDict):
    """Messages that are dropped, by reason.

    Args:
        missing: without user, place or time.
        no_place: with a place or time that is infinite, not a number, or out of range.
        no_tolerance: with limits below the smallest box. too_few: with too few users in any box within their limits.
        given_up: dropped for finer boxes of others.
    """

    missing: int
    no_place: int
    no_tolerance: int
    too_few: int
    given_up: int


def _by_reason(dropped: Mapping[MessageOutcome, int]) -> Annotated[dict[str, int], _DroppedMessages]:
    return {outcome.reason: dropped.get(outcome, 0) for outcome in MessageOutcome if outcome}


OwnColumn = Annotated[str, base.json_schema(pattern="^--(k|box|interval|delay)-column$")]


@dataclass(frozen=True, kw_only=True, repr=False)
class CloakResult(base.MeasuredResult, Shown):
    """Cloaked messages: boxes in space and time that hide each message among k users.

    Args:
        engine: the engine and its version. target: the messages. k: different users that a box must have.
        lonlat: whether places are longitude and latitude in degrees.
        own: the options of columns with limits of single messages.
        suppress: maximum share of the publishable messages to drop for finer boxes.
        divide: whether boxes are divided in space or in time first.
        delay: maximum delay of a message in seconds, where they were cloaked as they arrived; None = at once.
        rows: messages in all. dropped: dropped messages, by reason.
        levels: the grid, from the largest box to the smallest. columns: columns that are published unchanged.
        audit: the audit of the result, None when nothing was published.
        attacks: the attacks that have a table. file: the written file.
        sql: their SELECT, if requested.
    """

    schema: ClassVar = "sqlaudit-cloak/1"
    shown_by: ClassVar = "sqlaudit.remedies.cloak.result:CloakReport"
    frame_of: ClassVar = "levels"

    engine: str = ""
    target: str
    k: Annotated[int, base.FROM_1]
    lonlat: bool
    own: tuple[OwnColumn, ...] = field(metadata=base.key("own_columns"))
    suppress: Annotated[Fraction, base.BELOW_ONE] = field(metadata=base.AS_FLOAT)
    divide: Annotated[str, Literal["alternately", "space-first", "time-first"]]
    delay: Annotated[Fraction, base.json_schema(exclusiveMinimum=0)] | None = field(
        default=None, metadata=base.AS_FLOAT
    )
    rows: int
    dropped: Mapping[MessageOutcome, int] = field(metadata=base.shown(_by_reason))
    levels: Annotated[tuple[CloakLevel, ...], base.NOT_EMPTY]
    columns: tuple[str, ...]
    audit: Holding | None
    attacks: Attacks
    file: str = field(default="", metadata=base.OR_NULL)
    sql: str = field(default="", repr=False, metadata=base.OR_NULL)

    @property
    @base.told("rows")
    def published(self) -> int:
        """Messages that were published."""
        return sum(level.messages for level in self.levels)

    @property
    @base.told("dropped")
    def boxes(self) -> int:
        """Different boxes."""
        return sum(level.boxes for level in self.levels)

    @property
    @base.told("boxes")
    def fewest_users(self) -> int | None:
        """The fewest users of a box; None without boxes."""
        return min((level.fewest_users for level in self.levels if level.fewest_users is not None), default=None)

    @property
    @base.told("fewest_users")
    def areas(self) -> Spread | None:
        """Areas of boxes in square metres, over published messages."""
        return self._spread(lambda level: level.area)

    @property
    @base.told("areas")
    def intervals(self) -> Spread | None:
        """Lengths of intervals in seconds, over published messages."""
        return self._spread(lambda level: level.seconds)

    @property
    def passed(self) -> bool:
        """True if something was published (or there was nothing), and the audit found every box safe."""
        return self.audit.passed if self.audit is not None else not self.rows

    def _spread(self, size: Callable[[CloakLevel], Fraction]) -> Spread | None:
        sizes = sorted((size(level), level.messages) for level in self.levels if level.messages)
        if not sizes:
            return None
        reached = accumulate(messages for _, messages in sizes)
        median = next(number for (number, _), seen in zip(sizes, reached, strict=True) if 2 * seen >= self.published)
        return Spread(sizes[0][0], median, sizes[-1][0])


@dataclass(frozen=True, kw_only=True, repr=False)
class BoxAudit(base.MeasuredResult, Shown):
    """The audit of existing boxes.

    Args:
        engine: the engine and its version. target: the messages with their boxes.
        k: different users that a box must have. rows: messages in all.
        unboxed: messages without a complete box, which count in `classes` only.
        classes: users by identical boxes; None without a column of users.
        presence: users whose true position is in the box; None without positions.
        skipped_positions: positions without user, place or time. attacks: the attacks that have a table.
    """

    schema: ClassVar = "sqlaudit-boxes/1"
    shown_by: ClassVar = "sqlaudit.remedies.cloak.result:BoxAuditReport"
    engine: str = ""
    target: str
    k: Annotated[int, base.FROM_1]
    rows: int
    unboxed: int
    classes: Holding | None
    presence: Holding | None
    skipped_positions: int
    attacks: Attacks

    def rows_of_frame(self) -> list[dict[str, Any]]:
        """A row for each definition that could be checked: users by identical boxes, users who are in the box."""
        found = base.plain(self)
        return [{"name": name, **found[name]} for name in ("classes", "presence") if found[name] is not None]

    @property
    @base.told("unboxed")
    def passed(self) -> bool:
        """True if every box has k users, by each definition that could be checked."""
        return all(held.passed for held in (self.classes, self.presence) if held is not None)


# The reports of cloaking, and of an audit of boxes.

_REASONS = {
    MessageOutcome.MISSING: "user, place or time is missing",
    MessageOutcome.NO_PLACE: "place or time is infinite, not a number, or out of range",
    MessageOutcome.NO_TOLERANCE: "its limits are below the smallest box",
    MessageOutcome.TOO_FEW: "too few users in any box within its limits",
    MessageOutcome.GIVEN_UP: "dropped for finer boxes of others",
}
_AXES = {
    "alternately": "alternately in space and in time",
    "space-first": "in space, then in time",
    "time-first": "in time, then in space",
}


class CloakReport(MeasuredReport[CloakResult]):
    """The report on cloaked messages: how many are published, and in how crowded and how large boxes."""

    kind = "Cloaked messages"
    method_title = "How it was cloaked"

    def headline(self, result: CloakResult) -> doc.Toned:
        if not result.rows:
            return doc.warning(f"{result.target}: there are no messages")
        if not result.published:
            return doc.bad("FAIL: no message can be published")
        return doc.good(f"PASS: every published box has at least {doc.plural(result.k, 'different user')}")

    def key_figures(self, result: CloakResult) -> Iterator[doc.KeyFigure]:
        if result.rows:
            published = doc.with_share(result.published, result.rows)
            yield doc.KeyFigure(published, "Messages published", doc.bad_if(not result.published))
        if result.fewest_users is not None:
            yield doc.KeyFigure(doc.count(result.fewest_users), "Fewest users in a box")
        if result.areas is not None:
            yield doc.KeyFigure(area(result.areas.median), "Median area")

    def opening(self, result: CloakResult) -> Iterator[doc.Content]:
        boxes = f" in {doc.plural(result.boxes, 'box', 'boxes')}" if result.published else ""
        yield f"{result.target}: {doc.plural(result.rows, 'message')}{boxes}."

    def lead(self, result: CloakResult) -> Iterator[doc.Words]:
        if result.audit is not None:
            if any(option.endswith("-k-column") for option in result.own):
                yield "Messages that require more users are in boxes with as many."
            yield (
                "No two boxes overlap."
                if result.delay is None
                else "Boxes of one cell follow each other; one may start in the time step in which the last one ends."
            )
        if result.areas and result.intervals:
            most = "at most " if result.lonlat else ""
            yield f"Area: {most}{_spread(result.areas, area)}. Interval: {_spread(result.intervals, duration)}."
        if dropped := result.rows - result.published:
            share, were = doc.part(dropped, result.rows), "was" if dropped == 1 else "were"
            yield doc.warning(f"{doc.plural(dropped, 'message')} ({share}) {were} dropped.")
        if result.columns and result.published:
            yield doc.warning(f"Published unchanged and not protected by cloaking: {doc.listed(result.columns)}.")

    def sections(self, result: CloakResult) -> Iterator[tuple[doc.Section, ...]]:
        dropped = (
            (reason, messages, doc.part(messages, result.rows))
            for outcome, reason in _REASONS.items()
            if (messages := result.dropped.get(outcome))
        )
        yield doc.section("Boxes", *_levels(result))
        yield doc.section("Dropped messages", doc.table(("Reason", "#Messages", "#Share"), dropped))
        yield doc.section("Attacks on the boxes", _attacks(result.attacks))

    def closing(self, result: CloakResult) -> Iterator[tuple[doc.Section, ...]]:
        method, *limits_and_statements = super().closing(result)
        yield from (method, doc.section("The SELECT of the cloaked messages", doc.Code("SQL", result.sql)))
        yield from limits_and_statements

    def method(self, result: CloakResult) -> Iterator[tuple[str, doc.Cell]]:
        yield "messages", result.rows
        if result.delay is not None:
            yield "delay", f"at most {duration(result.delay)}"
        else:
            for name, level in (("largest box", result.levels[0]), ("smallest box", result.levels[-1])):
                yield name, f"{length(level.side)} for {duration(level.seconds)}"
            yield "division", _AXES[result.divide]
        yield "coordinates", "longitude and latitude in degrees" if result.lonlat else "metres on a plane"
        if result.suppress:
            yield "dropped for finer boxes", f"at most {doc.limit(result.suppress)} of publishable messages"
        yield "limits of single messages", doc.listing(result.own)


class BoxAuditReport(MeasuredReport[BoxAudit]):
    """The report on existing boxes: whether each has enough users, by each definition that could be checked."""

    kind = "Audit of cloaked messages"
    method_title = "How it was measured"

    def headline(self, result: BoxAudit) -> doc.Words:
        if result.classes is None and result.presence is None:
            return doc.Toned("Users of boxes could not be counted")
        passing, failing = doc.good("PASS: every box has enough users"), doc.bad("FAIL: some boxes have too few users")
        return passing if result.passed else failing

    def opening(self, result: BoxAudit) -> Iterator[doc.Content]:
        boxes = f" in {doc.plural(result.classes.boxes, 'box', 'boxes')}" if result.classes else ""
        yield f"{result.target}: {doc.plural(result.rows, 'message')}{boxes}."
        yield _box_lines(result)
        enough = {
            name: [doc.Portion(holding.boxes - holding.failing_boxes, holding.boxes)]
            for name, holding in _definitions(result)
        }
        title = f"Boxes: with at least {doc.plural(result.k, 'user')} (solid) and with fewer (faint)"
        yield doc.portions(title, enough)

    def lead(self, result: BoxAudit) -> Iterator[doc.Words]:
        if result.classes is None:
            yield doc.warning("The messages have no column of users, so users who share a box cannot be counted.")
        if result.unboxed:
            yield doc.warning(f"{doc.out_of(result.unboxed, result.rows, 'message')} without a complete box.")
        yield from _skipped(result.skipped_positions, "position", "without user, place or time")

    def sections(self, result: BoxAudit) -> Iterator[tuple[doc.Section, ...]]:
        yield doc.section("Attacks on the boxes", _attacks(result.attacks))

    def method(self, result: BoxAudit) -> Iterator[tuple[str, doc.Cell]]:
        yield "messages", result.rows
        yield "k", result.k


def length(metres: Fraction | float) -> str:
    """A length as people write it.

    Example:
        >>> length(Fraction(1000)), length(62.5)
        ('1 km', '62.5 m')
    """
    return f"{doc.figure(Fraction(metres) / 1000)} km" if metres >= 1000 else f"{doc.figure(Fraction(metres))} m"


def duration(seconds: Fraction | float) -> str:
    """A duration as people write it.

    Example:
        >>> duration(Fraction(600)), duration(Fraction(75, 2)), duration(7200)
        ('10 min', '37.5 s', '2 h')
    """
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size and not (Fraction(seconds) * 4) % size:
            return f"{doc.figure(Fraction(seconds) / size)} {unit}"
    return f"{doc.figure(Fraction(seconds))} s"


def area(square_metres: Fraction | float) -> str:
    """An area as people write it."""
    if square_metres >= 100_000:
        return f"{doc.figure(Fraction(square_metres) / 1_000_000)} km²"
    return f"{doc.figure(Fraction(square_metres))} m²"


def _spread(spread: Spread, words: Callable[[Fraction], str]) -> str:
    said = [words(number) for number in (spread.smallest, spread.median, spread.largest)]
    return said[0] if said[0] == said[2] else f"{said[0]} to {said[2]}, median {said[1]}"


def _levels(result: CloakResult) -> Iterator[doc.Block]:
    """Yield the boxes by size, as a table and a picture."""
    if not result.published:
        return
    used = [level for level in result.levels if level.messages]
    yield doc.table_of(
        used,
        ("#Side", lambda level: length(level.side)),
        ("#Interval", lambda level: duration(level.seconds)),
        "#boxes #messages",
        ("#Share", lambda level: doc.part(level.messages, result.published)),
        "#fewest_users",
        caption="Boxes by size, largest first",
    )
    if len(used) > 1:
        names = (f"{length(level.side)}, {duration(level.seconds)}" for level in used)
        series = {"messages": [level.messages for level in used]}
        yield doc.bars("Published messages by size of the box", names, series, "messages")


def _attacks(attacks: Attacks) -> Iterator[doc.Words]:
    if (found := attacks.restricted_space) is not None:
        yield from _restricted(found)
        yield from _skipped(found.skipped, "property", "without bounds or owner", "properties")
    if (observed := attacks.observation) is not None:
        yield from _observation(observed)
        yield from _skipped(observed.skipped, "observation", "without user, place or time")


def _skipped(number: int, one: str, why: str, many: str = "") -> Iterator[doc.Toned]:
    if number:
        yield doc.warning(f"{doc.plural(number, one, many)} {why} {'was' if number == 1 else 'were'} left out.")


def _restricted(found: RestrictedSpace) -> Iterator[doc.Words]:
    boxes = doc.plural(found.boxes, "box", "boxes")
    some, verb = doc.count(found.exposed), "is" if found.exposed == 1 else "are"
    messages = f" ({doc.plural(found.messages, 'message')})" if found.exposed else ""
    said = f"{some} of {boxes} in space {verb} within the property of a single owner{messages}."
    yield doc.Toned(f"Restricted space identification: {said}", "bad" if found.exposed else "good")
    if found.inside > found.exposed:
        several = found.inside - found.exposed
        yield f"{doc.count(several)} more {'is' if several == 1 else 'are'} within properties of several owners."


def _observation(found: Observed) -> Iterator[doc.Words]:
    """Yield how many messages an attacker links with observed users."""
    yield doc.Toned(
        f"Observation identification: {doc.count(found.linkable)} of {doc.plural(found.boxes, 'box', 'boxes')} "
        f"{'has' if found.linkable == 1 else 'have'} a single observed user, to whom an attacker links "
        f"{doc.plural(found.messages, 'message')}.",
        "warn" if found.linkable else "good",
    )
    if found.linkable and found.right is not None:
        share = doc.part(found.right, found.messages)
        yield f"{doc.plural(found.right, 'link is', 'links are')} correct ({share})."
    if found.observed > found.linkable:
        several = doc.plural(found.observed - found.linkable, "more box has", "more boxes have")
        yield f"{several} several observed users."


def _definitions(result: BoxAudit) -> list[tuple[str, Holding]]:
    """Return the definitions of a box's users that could be checked, with what was found."""
    definitions = (("Users in a box", result.classes), ("Users present", result.presence))
    return [(name, holding) for name, holding in definitions if holding is not None]


def _box_lines(result: BoxAudit) -> doc.Table:
    """Return a line for each definition of a box's users that could be checked."""
    return doc.lines(
        doc.Line(
            doc.good("passes") if holding.passed else doc.bad("FAILS"),
            name,
            holding.fewest,
            f"at least {doc.count(result.k)}",
            f"{doc.plural(holding.failing_boxes, 'box', 'boxes')} ({doc.plural(holding.failing_messages, 'message')})"
            if holding.failing_boxes
            else None,
        )
        for name, holding in _definitions(result)
    )
