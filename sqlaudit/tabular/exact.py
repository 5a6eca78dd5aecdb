"""From what a database gave for a column to whole numbers with decimal places: nothing is rounded."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal, InvalidOperation
from typing import Any

import numpy as np
import numpy.typing as npt

from sqlaudit.base.errors import InputError
from sqlaudit.base.whole_arrays import times, wholes
from sqlaudit.base.words import spelled
from sqlaudit.reports.figures import plural
from sqlaudit.tabular.cells import CellMeasure
from sqlaudit.tabular.secondary.system import FREE

_WHOLE_FLOATS = 2.0**53
_MOST_DIGITS = 40
_EXACT = Context(prec=100)
MOST_PLACES = 18


def measure(name: str, given: npt.NDArray[Any], hidden: Sequence[str] = ()) -> CellMeasure:
    """A column as exact numbers; NULL and the marks of hidden cells are not known.

    Args:
        name: of the column. given: its cells, NULLs masked. hidden: texts that mark hidden cells.

    Raises:
        InputError: cells that are neither a number nor such a mark.
    """
    known = ~np.ma.getmaskarray(given)
    data = np.ma.getdata(given)
    if data.dtype.kind in "iubf":
        known &= ~_marked(data, hidden)
    if data.dtype.kind in "iub":
        return CellMeasure(np.where(known, data, 0).astype(np.int64 if data.dtype != np.uint64 else object), known)
    if data.dtype.kind == "f":
        known &= ~np.isnan(np.where(known, data, 0.0))
        data = np.where(known, data, 0.0)
        if bool(np.all((data == np.floor(data)) & (np.abs(data) < _WHOLE_FLOATS))):
            return CellMeasure(data.astype(np.int64), known)
    return _written(name, data, known, hidden)


def _written(name: str, data: npt.NDArray[Any], known: npt.NDArray[np.bool_], hidden: Sequence[str]) -> CellMeasure:
    """Cells that are texts, decimals, large numbers or fractions: each different one is read once."""
    marks = {mark.strip() for mark in hidden}
    texts = np.array(
        [str(cell).strip() if there else "" for cell, there in zip(data, known, strict=True)], dtype=object
    )
    known = known & np.array([text not in marks for text in texts], dtype=np.bool_)
    read = {text: _number(text) for text in set(texts[known])}
    strange = {text for text, number in read.items() if number is None}
    if strange:
        cells = sum(text in strange for text in texts[known])
        raise InputError(
            f"{plural(cells, 'cell')} of {name!r} {'holds' if cells == 1 else 'hold'} something that is no number; "
            "name the mark of hidden cells with "
            f"{spelled('hidden')}."
        )
    numbers = {text: number for text, number in read.items() if number is not None}
    same = {number for mark in marks if (number := _number(mark)) is not None}
    alike = {text for text, number in numbers.items() if number in same}
    if alike:
        known &= np.array([text not in alike for text in texts], dtype=np.bool_)
    places = max((_places(number) for number in numbers.values()), default=0)
    if places > MOST_PLACES:
        raise InputError(f"{name!r} has numbers with more than {MOST_PLACES} decimal places; round them.")
    whole = {text: int(number.scaleb(places, _EXACT)) for text, number in numbers.items()}
    found = [whole.get(text, 0) if seen else 0 for text, seen in zip(texts, known, strict=True)]
    return CellMeasure(wholes(found), known, places)


def _marked(data: npt.NDArray[Any], hidden: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Which numbers are marks of hidden cells, as -1 or 999 may be."""
    found = np.zeros(len(data), dtype=np.bool_)
    for number in filter(None, (_mark(mark) for mark in hidden)):
        found |= data == number[0]
    return found


def _mark(text: str) -> tuple[int | float] | None:
    number = _number(text.strip())
    if number is None:
        return None
    return (int(number),) if number == number.to_integral_value(context=_EXACT) else (float(number),)


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() and number.adjusted() < _MOST_DIGITS else None


def _places(number: Decimal) -> int:
    exponent = number.normalize(_EXACT).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def to_places(one: CellMeasure, places: int) -> CellMeasure:
    """The same numbers with more decimal places."""
    if places == one.places:
        return one
    return CellMeasure(times(one.units, 10 ** (places - one.places)), one.known, places)


def alike(measures: Sequence[CellMeasure]) -> tuple[CellMeasure, ...]:
    """The same numbers, all with as many decimal places as the one that has most."""
    places = max((one.places for one in measures), default=0)
    return tuple(to_places(one, places) for one in measures)


def as_integers(one: CellMeasure) -> npt.NDArray[np.int64] | None:
    """The units of a measure as 64 bits; None where some do not fit."""
    if one.units.dtype != object:
        return one.units.astype(np.int64)
    if any(abs(unit) >= FREE for unit in one.units.tolist()):
        return None
    return one.units.astype(np.int64)
