"""What cloaking did, and what an audit of boxes found. Frozen; reports read it, `to_dict` gives the documented JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from typing import Any, ClassVar

from sqlaudit.base.documents import AS_FLOAT, OR_NULL, Documented, key, plain, shown, told
from sqlaudit.base.result import MeasuredResult
from sqlaudit.reports.notebook import Shown


class MessageOutcome(IntEnum):
    """What became of a message."""

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
class CloakLevel(Documented):
    """The boxes of one size.

    Args:
        side: metres. seconds: their interval. boxes, messages: how many were published. fewest_users: of a box, None
            when there is none.
    """

    side: Fraction = field(metadata=AS_FLOAT)
    seconds: Fraction = field(metadata=AS_FLOAT)
    boxes: int
    messages: int
    fewest_users: int | None

    @property
    def area(self) -> Fraction:
        """Square metres."""
        return self.side * self.side


@dataclass(frozen=True)
class Spread(Documented):
    """The smallest, the median and the largest of what published messages have, each message counted."""

    smallest: Fraction = field(metadata=key("min") | AS_FLOAT)
    median: Fraction = field(metadata=AS_FLOAT)
    largest: Fraction = field(metadata=key("max") | AS_FLOAT)


@dataclass(frozen=True)
class RestrictedSpace(Documented):
    """Restricted space identification: boxes that lie in one known property (Barriers, section 4.3).

    Args:
        boxes: different boxes in space. inside: those inside properties. exposed: those inside properties of a single
            owner. messages: of these. skipped: properties without bounds or owner.
    """

    boxes: int
    inside: int
    exposed: int
    messages: int
    skipped: int


@dataclass(frozen=True)
class Observed(Documented):
    """Observation identification: boxes that hold somebody who was seen (Barriers, section 4.3).

    Args:
        boxes: different boxes. observed: those that hold an observed user. linkable: those that hold exactly one.
        messages: of the linkable ones, which an attacker links to that user. right: those of them that this user sent,
            None when the boxes come without users. skipped: observations without user, place or time.
    """

    boxes: int
    observed: int
    linkable: int
    messages: int
    right: int | None
    skipped: int


@dataclass(frozen=True)
class Attacks(Documented):
    """The two attacks on boxes, None where what they need was not given."""

    restricted_space: RestrictedSpace | None = field(default=None, metadata=key("restricted_space_identification"))
    observation: Observed | None = field(default=None, metadata=key("observation_identification"))


@dataclass(frozen=True)
class Holding(Documented):
    """How many different users boxes have, against k.

    Args:
        boxes, messages: all of them. fewest: users of a box, None when there is none. failing_boxes, failing_messages:
            those with fewer than k.
    """

    boxes: int
    messages: int
    fewest: int | None = field(metadata=key("fewest_users"))
    failing_boxes: int
    failing_messages: int

    @property
    @told("")
    def passed(self) -> bool:
        """Whether every box has k users."""
        return not self.failing_boxes


def _by_reason(dropped: Mapping[MessageOutcome, int]) -> dict[str, int]:
    return {outcome.reason: dropped.get(outcome, 0) for outcome in MessageOutcome if outcome}


@dataclass(frozen=True, kw_only=True, repr=False)
class CloakResult(MeasuredResult, Shown):
    """Messages with boxes in space and time that hide each of them among k users.

    Args:
        target: the messages. k: as many different users at least. lonlat: whether places are degrees.
        own: the options that named columns with what single messages ask for. suppress: what may be dropped for finer
            boxes. divide: what is divided first.
        delay: how many seconds a message was held back at most, where they were cloaked as they came; None = at once.
        rows: messages in all. dropped: how many, by reason. levels: the grid, from the largest box to the smallest.
        columns: what is published besides the boxes, as it is.
        audit: the audit of the result, None when nothing was published. attacks: what attackers find in it.
        file: where the messages were written. sql: their SELECT, when it was asked for.
        engine, time, statements, versions, access: as in an audit.
    """

    schema: ClassVar = "sqlaudit-cloak/1"
    shown_by: ClassVar = "sqlaudit.remedies.cloak.report:cloak_document"
    frame_of: ClassVar = "levels"

    engine: str = ""
    target: str
    k: int
    lonlat: bool
    own: tuple[str, ...] = field(metadata=key("own_columns"))
    suppress: Fraction = field(metadata=AS_FLOAT)
    divide: str
    delay: Fraction | None = field(default=None, metadata=AS_FLOAT)
    rows: int
    dropped: Mapping[MessageOutcome, int] = field(metadata=shown(_by_reason))
    levels: tuple[CloakLevel, ...]
    columns: tuple[str, ...]
    audit: Holding | None
    attacks: Attacks
    file: str = field(default="", metadata=OR_NULL)
    sql: str = field(default="", repr=False, metadata=OR_NULL)

    @property
    @told("rows")
    def published(self) -> int:
        """Messages that were published."""
        return sum(level.messages for level in self.levels)

    @property
    @told("dropped")
    def boxes(self) -> int:
        """Different boxes."""
        return sum(level.boxes for level in self.levels)

    @property
    @told("boxes")
    def fewest_users(self) -> int | None:
        """Users of the box that has fewest; None when there is none."""
        return min((level.fewest_users for level in self.levels if level.fewest_users is not None), default=None)

    @property
    @told("fewest_users")
    def areas(self) -> Spread | None:
        """Areas of boxes in square metres, over published messages."""
        return self._spread(lambda level: level.area)

    @property
    @told("areas")
    def intervals(self) -> Spread | None:
        """Lengths of intervals in seconds, over published messages."""
        return self._spread(lambda level: level.seconds)

    @property
    def passed(self) -> bool:
        """Whether something was published (or nothing was there), and the audit found every box safe."""
        return self.audit.passed if self.audit is not None else not self.rows

    def _spread(self, size: Callable[[CloakLevel], Fraction]) -> Spread | None:
        sizes = sorted((size(level), level.messages) for level in self.levels if level.messages)
        if not sizes:
            return None
        half, seen, median = Fraction(self.published, 2), 0, sizes[-1][0]
        for number, messages in sizes:
            seen += messages
            if seen >= half:
                median = number
                break
        return Spread(sizes[0][0], median, sizes[-1][0])


@dataclass(frozen=True, kw_only=True, repr=False)
class BoxAudit(MeasuredResult, Shown):
    """What an audit of boxes found that somebody else made.

    Args:
        target: the messages with their boxes. k: as many different users at least.
        rows: messages. unboxed: those without a whole box, which are left out of everything but `classes`.
        classes: users by identical boxes; None without a column of users.
        presence: users whose true position lies in the box; None without positions.
        skipped_positions: positions without user, place or time.
        attacks: what attackers find. engine, time, statements, versions, access: as in an audit.
    """

    schema: ClassVar = "sqlaudit-boxes/1"
    shown_by: ClassVar = "sqlaudit.remedies.cloak.report:box_audit_document"
    engine: str = ""
    target: str
    k: int
    rows: int
    unboxed: int
    classes: Holding | None
    presence: Holding | None
    skipped_positions: int
    attacks: Attacks

    def rows_of_frame(self) -> list[dict[str, Any]]:
        """A row for each definition that could be checked: users by identical boxes, users who are in the box."""
        found = plain(self)
        return [{"name": name, **found[name]} for name in ("classes", "presence") if found[name] is not None]

    @property
    @told("unboxed")
    def passed(self) -> bool:
        """Whether every box has k users, by each definition that could be checked."""
        return all(held.passed for held in (self.classes, self.presence) if held is not None)
