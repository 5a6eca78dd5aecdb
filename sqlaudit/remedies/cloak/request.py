"""The requests to cloak messages and to audit existing boxes, and the grid of boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from itertools import accumulate
from typing import Any

from sqlaudit.base.errors import OutOfRange, UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.numbers import Share, exact_number
from sqlaudit.base.options import (
    FLAG,
    NAMES,
    ORDERED,
    SHARE,
    TEXT,
    WHOLE,
    Given,
    Option,
    OptionKind,
    check_bounds,
    choice,
    nested,
    option,
    options_of,
    part,
    request_from,
)
from sqlaudit.base.parameter_names import about, spelled
from sqlaudit.base.publication import Publication
from sqlaudit.base.spec import ROLES, Folding, Target, table_option, target_part, values_option

# The grid that messages are cloaked in: levels of cells, each of which divides the cells of the level before.
#
# Lengths and durations as people write them are read exactly.

GRAIN = Fraction(1, 8)
"""Sizes are multiples of this: halved ten times they are still exact in floats."""

LARGEST = 2**31
"""The largest size, in metres or seconds."""

_METRES = {"": Fraction(1), "m": Fraction(1), "km": Fraction(1000)}

_SECONDS = {
    "": Fraction(1),
    "s": Fraction(1),
    "sec": Fraction(1),
    "min": Fraction(60),
    "h": Fraction(3600),
    "d": Fraction(86400),
}

_SIZE = re.compile(r"([0-9./]+)\s*([a-z]*)", re.IGNORECASE)


def metres(text: Share, field: str = "box") -> Fraction:
    """Read a length in metres, from a number (metres) or a text such as `500m` or `1.5km`.

    Raises:
        UsageError: it is no length, not above 0, or no multiple of an eighth of a metre.

    Example:
        >>> metres("1.5km"), metres(250)
        (Fraction(1500, 1), Fraction(250, 1))
    """
    return _read_size(text, field, _METRES, "a length, for example 500m or 1km", "metre")


def seconds(text: Share, field: str = "interval") -> Fraction:
    """Read a duration in seconds, from a number (seconds) or a text such as `30s`, `10min`, `1h` or `2d`.

    Raises:
        UsageError: it is no duration, not above 0, or no multiple of an eighth of a second.

    Example:
        >>> seconds("10min"), seconds("0.5h")
        (Fraction(600, 1), Fraction(1800, 1))
    """
    return _read_size(text, field, _SECONDS, "a duration, for example 30s, 10min or 1h", "second")


def _read_size(text: Share, field: str, units: Mapping[str, Fraction], what: str, unit: str) -> Fraction:
    """Read a size in these units.

    Raises:
        UsageError: it is no size, out of range, or no multiple of `GRAIN`.
    """
    size = _read_number(text, units)
    if size is None:
        raise UsageError(f"{spelled(field)} takes {what}, not {str(text)[:40]!r}.")
    if not 0 < size <= LARGEST:
        raise OutOfRange(f"{spelled(field)} must be above 0 and at most {LARGEST:,} {unit}s, not {str(text)[:40]!r}.")
    if size % GRAIN:
        raise UsageError(f"{spelled(field)} must be a multiple of an eighth of a {unit}, so that its halves are exact.")
    return size


def _read_number(text: Share, units: Mapping[str, Fraction]) -> Fraction | None:
    """Read a number with an optional unit; None if it is none."""
    try:
        if not isinstance(text, str):
            return exact_number(text)
        match = _SIZE.fullmatch(text.strip())
        return exact_number(match[1]) * units[match[2].lower()] if match else None
    except (UsageError, KeyError):
        return None


MOST_HALVINGS = 10


class Divide(StrEnum):
    """The order of divisions between levels: a cell's sides (into four) or its interval (into two) first."""

    ALTERNATELY = "alternately"
    SPACE_FIRST = "space-first"
    TIME_FIRST = "time-first"


@dataclass(frozen=True)
class GridLevel:
    """One level of the grid.

    Args:
        side: the width and height of its cells, in metres.
        seconds: the length of its cells in time.
        space, time: the number of binary digits of a cell at the finest level that a cell of this level leaves out.
        divisions: the number of parts into which the side of the largest cell is divided.
    """

    side: Fraction
    seconds: Fraction
    space: int
    time: int
    divisions: int


def _halvings(largest: Fraction, smallest: Fraction) -> int:
    """Return how often a size can be halved without getting smaller than the smallest."""
    return next((n for n in range(MOST_HALVINGS) if largest / 2 ** (n + 1) < smallest), MOST_HALVINGS)


def _halvings_of_levels(space: int, time: int, divide: Divide) -> list[tuple[int, int]]:
    """Return (halvings in space, halvings in time) of each level."""
    alternating = min(space, time) if divide is Divide.ALTERNATELY else 0
    rest = [(1, 0)] * (space - alternating), [(0, 1)] * (time - alternating)
    first, second = reversed(rest) if divide is Divide.TIME_FIRST else rest
    steps = [*[(1, 0), (0, 1)] * alternating, *first, *second]
    return list(accumulate(steps, lambda done, step: (done[0] + step[0], done[1] + step[1]), initial=(0, 0)))


# The requests.

BOUNDS = ("x_min", "x_max", "y_min", "y_max", "t_min", "t_max")
"""The names of a box's bounds, in this order, in published files and in boxes to audit."""

FINEST = 16
"""By default, the side and interval of the largest cell are this many times those of the smallest."""

_LARGEST_DENOMINATOR = 1_000_000

_BOXES, _LIMITS = "Boxes", "Limits of single messages"

AUDIT, KNOWLEDGE = "Audit of existing boxes", "Attacker's knowledge"
"""Sections of the help page."""

_LENGTH = OptionKind("text", lambda name, value: metres(value, name), python="Share")

_TIME = OptionKind("text", lambda name, value: seconds(value, name), python="Share")


def _k_option() -> Any:
    return option(5, WHOLE, "Minimum number of different users in every box.", _BOXES, shown="5", least=1, needed=True)


@dataclass(frozen=True)
class Places:
    """The columns (or expressions) of user, place and time."""

    user: str = option("", TEXT, "User who sent a message; never published.", ROLES, metavar="COLUMN")
    x: str = option("", TEXT, "Metres to the east (with --lonlat: longitude).", ROLES, metavar="COLUMN")
    y: str = option("", TEXT, "Metres to the north (with --lonlat: latitude).", ROLES, metavar="COLUMN")
    time: str = option("", TEXT, "Time: a timestamp, a date, or a number of seconds.", ROLES, metavar="COLUMN")

    values: Folding | None = values_option()

    def named(self) -> dict[str, str]:
        """Return the columns by their field."""
        return {name: text or "" for name, text in vars(self).items() if name != "values"}

    def __post_init__(self) -> None:
        for name, text in self.named().items():
            if not text:
                raise UsageError(f"{about(name)} is missing. Name the columns of user, place (x, y) and time.")


PLACE_COLUMNS = ("user", "x", "y", "time")


def _places_needed() -> Any:
    """Return the field of the columns of messages to cloak, all of which must be named."""

    def options() -> Iterator[Option]:
        for _, of_places in options_of(Places):
            yield replace(of_places, needed=of_places.name in PLACE_COLUMNS)

    return part(lambda given, _: request_from(Places, given), options)


def _places_by_name() -> Any:
    """Return the field of columns that have the names of their parameters, unless others are given."""

    def make(given: Given, _: str) -> Places:
        return request_from(Places, {**given, **{name: given.get(name, name) for name in PLACE_COLUMNS}})

    def options() -> Iterator[Option]:
        for _, of_places in options_of(Places):
            yield replace(of_places, default=of_places.name) if of_places.name in PLACE_COLUMNS else of_places

    return part(make, options, default_factory=lambda: Places(*PLACE_COLUMNS))


@dataclass(frozen=True)
class Tolerances:
    """Columns with limits of single messages; empty = the same for all.

    Args:
        k: minimum number of users.
        box, interval: maximum side (metres) and interval (seconds).
        delay: maximum delay in seconds, if messages are cloaked as they arrive.
    """

    k: str = option("", TEXT, "Minimum number of users, above --k.", _LIMITS, name="k_column", metavar="COLUMN")
    box: str = option("", TEXT, "Maximum side in metres.", _LIMITS, name="box_column", metavar="COLUMN")
    interval: str = option("", TEXT, "Maximum interval in seconds.", _LIMITS, name="interval_column", metavar="COLUMN")
    delay: str = option(
        "", TEXT, "With --delay: maximum delay in seconds.", _LIMITS, name="delay_column", metavar="COLUMN"
    )

    def named(self) -> dict[str, str]:
        """Return the columns that are given, by their field."""
        return {f"{name}_column": text for name, text in vars(self).items() if text}


@dataclass(frozen=True)
class Background:
    """An attacker's knowledge, for the attacks on boxes.

    Args:
        properties: a table of rectangles with owners.
        property_bounds: its columns of x_min, x_max, y_min, y_max.
        owner: its column of owners.
        observations: a table of observed users with place and time, with the same columns as the messages.
    """

    properties: Target | None = table_option("Table of rectangles with owners.", KNOWLEDGE, metavar="TABLE")
    property_bounds: tuple[str, ...] = option(
        BOUNDS[:4], ORDERED, f"Bounds in --properties. [default: {','.join(BOUNDS[:4])}]", KNOWLEDGE, metavar="COLUMNS"
    )
    owner: str = option("owner", TEXT, "Owner in --properties. [default: owner]", KNOWLEDGE, metavar="COLUMN")
    observations: Target | None = table_option(
        "Table of observed users, places and times, with the columns of MESSAGES.", KNOWLEDGE, metavar="TABLE"
    )

    def __post_init__(self) -> None:
        if len(self.property_bounds) != 4:
            raise UsageError(f"{spelled('property_bounds')} takes four columns: x_min,x_max,y_min,y_max.")

    @property
    def targets(self) -> tuple[Target, ...]:
        """The tables that are read."""
        return tuple(target for target in (self.properties, self.observations) if target is not None)


@dataclass(frozen=True)
class CloakRequest:
    """The request to cloak messages.

    Args:
        target: the messages.
        places: the columns of user, place and time.
        k: the minimum number of different users in every box.
        box, interval: the largest box (side in metres) and interval (seconds).
        smallest_box, smallest_interval: the smallest box and interval; None = a sixteenth of the largest.
        divide: the order of divisions in space and time.
        delay: cloak messages as they arrive, with at most this delay in seconds. All boxes then have the side `box`,
            and their times are whole multiples of `interval`. None = all messages at once.
        suppress: the maximum share of the publishable messages to drop for finer boxes of the others.
        lonlat: whether x and y are longitude and latitude in degrees.
        identifiers: further columns that are not published.
        tolerances: columns with limits of single messages.
        publication: the destination of the messages.
        background: the attacker's knowledge.

    Raises:
        UsageError: a number is out of its range, options contradict each other, or a file cannot be written.
    """

    target: Target = target_part("messages")
    places: Places = _places_needed()
    k: int = _k_option()
    box: Fraction = option(
        Fraction(0), _LENGTH, "Side of the largest box: 1km, 500m.", _BOXES, metavar="LENGTH", needed=True
    )
    interval: Fraction = option(
        Fraction(0), _TIME, "Interval of the largest box: 10min, 30s, 1h.", _BOXES, metavar="TIME", needed=True
    )
    smallest_box: Fraction | None = option(
        None, _LENGTH, "Side of the smallest box. [default: a sixteenth of --box]", _BOXES, metavar="LENGTH"
    )
    smallest_interval: Fraction | None = option(
        None, _TIME, "Interval of the smallest box. [default: a sixteenth of --interval]", _BOXES, metavar="TIME"
    )
    divide: Divide = option(
        Divide.ALTERNATELY, choice(Divide), "Divide boxes in space or in time first.", _BOXES, shown="alternately"
    )
    delay: Fraction | None = option(
        None,
        _TIME,
        "Cloak messages as they arrive, with at most this delay: 30s. Sides are --box, times multiples of --interval.",
        _BOXES,
        metavar="TIME",
    )
    suppress: Fraction = option(
        Fraction(0), SHARE, "Maximum share of messages to drop for finer boxes: 2%.", _BOXES, metavar="SHARE"
    )
    lonlat: bool = option(False, FLAG, "x and y are longitude and latitude in degrees.", _BOXES)
    identifiers: tuple[str, ...] = option(
        (), NAMES, "Further columns to leave out.", ROLES, name="identifier", metavar="COLUMNS"
    )
    tolerances: Tolerances = nested(Tolerances)
    publication: Publication = nested(Publication)
    background: Background = nested(Background)

    def __post_init__(self) -> None:
        check_bounds(self)
        if not 0 <= self.suppress <= 1 or self.suppress.denominator > _LARGEST_DENOMINATOR:
            raise OutOfRange(f"{spelled('suppress')} must be a share from 0 to 1, with at most six decimals.")
        for name, largest, smallest in (
            ("box", self.box, self.smallest_box),
            ("interval", self.interval, self.smallest_interval),
        ):
            if smallest is not None and smallest > largest:
                raise UsageError(f"{spelled(f'smallest_{name}')} is larger than {spelled(name)}. Make it smaller.")
        if self.lonlat and self.box > 1_000_000:
            raise UsageError(
                f"{spelled('lonlat', True)} needs a {about('box')} of at most 1000km, because larger ones are not flat."
            )
        if self.delay is not None:
            self._check_stream()
        elif self.tolerances.delay:
            raise UsageError(f"{spelled('delay_column')} needs {spelled('delay')}.")
        self.publication.check()
        if self.publication.table:
            raise UsageError(
                f"{spelled('to', str(self.publication.file))}: messages do not become a table. Write them to a .csv or "
                ".parquet file, and load it."
            )
        if self.delay is not None and self.publication.is_sql:
            raise UsageError(
                f"{spelled('delay')}: a SELECT cannot cloak messages as they arrive. Write them to a .csv or .parquet "
                f"file with {about('to')}."
            )

    def _check_stream(self) -> None:
        """Refuse options that need all messages at once.

        Raises:
            UsageError: such an option is given.
        """
        named = self.tolerances.named()
        options = {
            "smallest_box": self.smallest_box,
            "smallest_interval": self.smallest_interval,
            "divide": self.divide is not Divide.ALTERNATELY,
            "suppress": self.suppress,
            "lonlat": self.lonlat,
            "k_column": "k_column" in named,
            "box_column": "box_column" in named,
            "interval_column": "interval_column" in named,
            "properties": self.background.properties,
            "observations": self.background.observations,
        }
        refused = next((name for name, value in options.items() if value), None)
        if refused in ("properties", "observations"):
            raise UsageError(
                f"{spelled('delay')} and {about(refused)} exclude each other. Audit the written file with "
                f"{about(refused)}."
            )
        if refused:
            raise UsageError(
                f"{spelled('delay')} and {about(refused)} exclude each other: with a delay, all boxes have one size "
                "and one k, on a plane."
            )

    def levels(self, whole_microseconds: bool) -> tuple[GridLevel, ...]:
        """Return the grid, from the largest cell to the smallest. Intervals of timestamps are whole microseconds.

        Example:
            >>> sizes = {"box": 1000, "smallest_box": 500, "interval": 600, "smallest_interval": 200}
            >>> lengths = {name: Fraction(size) for name, size in sizes.items()}
            >>> request = CloakRequest(Target(relation="messages"), Places("who", "x", "y", "t"), **lengths)
            >>> [(int(level.side), int(level.seconds)) for level in request.levels(True)]
            [(1000, 600), (500, 600), (500, 300)]
        """
        in_space = _halvings(self.box, self.smallest_box or self.box / FINEST)
        in_time = _halvings(self.interval, self.smallest_interval or self.interval / FINEST)
        if whole_microseconds:
            microseconds = int(self.interval * 1_000_000)
            in_time = min(in_time, (microseconds & -microseconds).bit_length() - 1)  # how often it can be halved
        return tuple(
            GridLevel(self.box / 2**s, self.interval / 2**t, in_space - s, in_time - t, 2**s)
            for s, t in _halvings_of_levels(in_space, in_time, self.divide)
        )

    @property
    def targets(self) -> tuple[Target, ...]:
        """Everything that is read."""
        return (self.target, *self.background.targets)


@dataclass(frozen=True)
class BoxRequest:
    """The existing boxes to audit.

    Args:
        target: the messages with their boxes.
        places: the user's column in it (if it has one), and the columns of `positions` and of observations.
        k: the minimum number of different users in every box.
        bounds: the columns of x_min, x_max, y_min, y_max, t_min, t_max.
        positions: a table of true positions.
        background: the attacker's knowledge.

    Raises:
        UsageError: a number is out of its range, or there are not six bounds.
    """

    target: Target = target_part("messages")
    places: Places = _places_by_name()
    k: int = _k_option()
    bounds: tuple[str, ...] = option(
        BOUNDS, ORDERED, f"Columns of the boxes. [default: {','.join(BOUNDS)}]", AUDIT, metavar="COLUMNS"
    )
    positions: Target | None = table_option(
        "Table of the users' true positions, to count them in boxes.", AUDIT, metavar="TABLE"
    )
    background: Background = nested(Background)

    def __post_init__(self) -> None:
        check_bounds(self)
        if len(self.bounds) != 6:
            raise UsageError(f"{spelled('bounds')} takes six columns: {','.join(BOUNDS)}.")

    @property
    def targets(self) -> tuple[Target, ...]:
        """Everything that is read."""
        return (self.target, *((self.positions,) if self.positions else ()), *self.background.targets)
