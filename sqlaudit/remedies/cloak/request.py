"""What is cloaked, for whom, and how coarse it may become; or which boxes are to be audited."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from sqlaudit.base.errors import UsageError
from sqlaudit.base.spec import Target
from sqlaudit.base.words import about, spelled
from sqlaudit.remedies.cloak.grid import Divide, GridLevel, check_smallest, grid

BOUNDS = ("x_min", "x_max", "y_min", "y_max", "t_min", "t_max")
"""The names of a box's bounds, in this order, as they are published and as they are looked for."""
FINEST = 16
"""The side and the interval of the smallest cell are this part of the largest's, unless something else is asked for."""
_MOST_DIGITS = 1_000_000


@dataclass(frozen=True)
class Places:
    """Which columns (or expressions) of a table say who was where and when."""

    user: str
    x: str
    y: str
    time: str

    def __post_init__(self) -> None:
        for option, text in vars(self).items():
            if not text:
                raise UsageError(f"Name the column with {about(option)}: who sent a message, where (x, y) and when.")


@dataclass(frozen=True)
class Tolerances:
    """Columns with what a single message asks for; empty = the same for all.

    Args:
        k: as many users at least. box, interval: no larger box (metres) or interval (seconds).
    """

    k: str = ""
    box: str = ""
    interval: str = ""

    def named(self) -> dict[str, str]:
        """The columns that were named, by their field."""
        return {f"{name}_column": text for name, text in vars(self).items() if text}


@dataclass(frozen=True)
class Background:
    """What an attacker may know, for the attacks on boxes.

    Args:
        properties: a table of rectangles and whom they belong to. property_bounds: its columns of x_min, x_max, y_min,
            y_max. owner: its column of owners.
        observations: a table of who was seen where and when, with the same columns as the messages.
    """

    properties: Target | None = None
    property_bounds: tuple[str, ...] = BOUNDS[:4]
    owner: str = "owner"
    observations: Target | None = None

    def __post_init__(self) -> None:
        if len(self.property_bounds) != 4:
            raise UsageError(f"{spelled('property_bounds')} takes four columns: x_min,x_max,y_min,y_max.")

    def targets(self) -> Iterator[Target]:
        """The tables that are read."""
        yield from (target for target in (self.properties, self.observations) if target is not None)


@dataclass(frozen=True)
class CloakRequest:
    """What `sqlaudit cloak` is asked for.

    Args:
        target: the messages. places: who, where and when. k: as many different users at least in every box.
        box, interval: the largest box (side in metres) and interval (seconds).
        smallest_box, smallest_interval: no box is smaller; None = a sixteenth of the largest.
        divide: what is divided first. tolerances: columns with what single messages ask for.
        suppress: the share of the messages that could be published which may be dropped for finer boxes of the others.
        lonlat: whether x and y are longitude and latitude in degrees. identifiers: columns that are not published.
        background: what attackers may know.

    Raises:
        UsageError: a number out of its range.
    """

    target: Target
    places: Places
    k: int
    box: Fraction
    interval: Fraction
    smallest_box: Fraction | None = None
    smallest_interval: Fraction | None = None
    divide: Divide = Divide.ALTERNATELY
    tolerances: Tolerances = Tolerances()
    suppress: Fraction = Fraction(0)
    lonlat: bool = False
    identifiers: tuple[str, ...] = ()
    background: Background = field(default_factory=Background)

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UsageError(f"{spelled('k')} is at least 1; it is {self.k}.")
        if not 0 <= self.suppress <= 1 or self.suppress.denominator > _MOST_DIGITS:
            raise UsageError(f"{spelled('suppress')} is a share from 0 to 1, with at most six decimals.")
        check_smallest(self.box, self.smallest_box or self.box, "box")
        check_smallest(self.interval, self.smallest_interval or self.interval, "interval")
        if self.lonlat and self.box > 1_000_000:
            raise UsageError(
                f"{spelled('lonlat', True)} takes a {about('box')} of at most 1000km; larger ones are not flat."
            )

    def levels(self, whole_microseconds: bool) -> tuple[GridLevel, ...]:
        """The grid, from the largest cell to the smallest; intervals of timestamps are whole microseconds."""
        smallest_box = self.smallest_box or self.box / FINEST
        smallest_interval = self.smallest_interval or self.interval / FINEST
        return grid(self.box, self.interval, smallest_box, smallest_interval, self.divide, whole_microseconds)

    def targets(self) -> tuple[Target, ...]:
        """Everything that is read."""
        return (self.target, *self.background.targets())


@dataclass(frozen=True)
class BoxRequest:
    """Which boxes, made by somebody else, are to be audited.

    Args:
        target: the messages with their boxes. bounds: its columns of x_min, x_max, y_min, y_max, t_min, t_max.
        places: the user's column in it (if it has one), and the columns of `positions` and of observations.
        k: as many different users at least. positions: a table of true positions. background: what attackers may know.

    Raises:
        UsageError: a number out of its range, or not six bounds.
    """

    target: Target
    k: int
    bounds: tuple[str, ...] = BOUNDS
    places: Places = Places("user", "x", "y", "time")
    positions: Target | None = None
    background: Background = field(default_factory=Background)

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UsageError(f"{spelled('k')} is at least 1; it is {self.k}.")
        if len(self.bounds) != 6:
            raise UsageError(f"{spelled('bounds')} takes six columns: {','.join(BOUNDS)}.")

    def targets(self) -> tuple[Target, ...]:
        """Everything that is read."""
        return (self.target, *((self.positions,) if self.positions else ()), *self.background.targets())
