"""Numbers that users write: exact, and no text keeps the reader busy for ever."""

from __future__ import annotations

from fractions import Fraction

import click
import pytest

from sqlaudit.base.errors import UsageError
from sqlaudit.base.nodes import Node, nodes_of
from sqlaudit.base.nodes import exact_number as number_of_inputs
from sqlaudit.base.numbers import Share, exact_number, exact_share
from sqlaudit.base.relation import Kind
from sqlaudit.cli.requests import (
    ParsedText,
    WholeNumber,
    WholeRange,
    parse_count_or_all,
    parse_duration,
    parse_memory,
    parse_pieces,
    parse_pieces_or_worst,
    parse_probability,
    whole_number,
)
from sqlaudit.gates.nodes import number, share, threshold, up_to, whole
from sqlaudit.hierarchies.cells import read_cell
from sqlaudit.models.registry import requirements


@pytest.mark.parametrize(
    ("written", "exact"),
    [
        (1, Fraction(1)),
        ("0.05", Fraction(1, 20)),
        (0.1, Fraction(1, 10)),
        ("5%", Fraction(1, 20)),
        (" 1/3 ", Fraction(1, 3)),
        ("1e-3", Fraction(1, 1000)),
        (1e-07, Fraction(1, 10**7)),
        ("+.5", Fraction(1, 2)),
        ("-2", Fraction(-2)),
    ],
)
def test_numbers_are_exact(written: Share, exact: Fraction) -> None:
    assert exact_share(written) == exact
    if "%" not in str(written):
        assert exact_number(written) == exact


@pytest.mark.parametrize(
    "written", ["", "%", "five", "1/0", "0x10", "1_000", "nan", "1e999999999", "1e-999999999", "9" * 10**6, "1/2%3"]
)
def test_others_are_refused_at_once(written: str) -> None:
    with pytest.raises(UsageError, match=r"is not a share. Write for example"):
        exact_share(written)
    with pytest.raises(UsageError, match="not a number of at most 40 digits"):
        exact_number(written)


def test_cells_of_a_release_are_no_trap_either() -> None:
    assert read_cell("[1, 1e300)", Kind.FLOAT) is not None
    assert read_cell("[1, 1e999999999)", Kind.FLOAT) is None


LOOSE = ("5_0", "\u0665", "\uff15", "5\u0660", "0x5", "1_0%", "\u0665%", "1/\u0662")
"""What Python would take for a number: grouped by underscores, or in digits of other scripts."""


@pytest.mark.parametrize("written", LOOSE)
def test_a_number_is_in_ascii_digits_wherever_it_is_written(written: str) -> None:
    for read in (exact_number, exact_share):
        with pytest.raises(UsageError):
            read(written)
    for require in (f"k={written}", {"k": written}, [f"recursive_l=c:{written},l:2"]):
        with pytest.raises(UsageError, match="is a number, for instance"):
            requirements(require)
    for node in (Node(written, "policy.yml, line 1"), nodes_of(written)):
        for reader, *more in (
            (whole, "k"),
            (whole, "n", "of people", 15),
            (share, "share"),
            (number, "limit"),
            (threshold, "error_if"),
            (up_to, "up_to"),
        ):
            with pytest.raises(UsageError):
                reader(Node(f"> {written}", node.place) if reader is threshold else node, *more)
        with pytest.raises(UsageError, match="number"):
            number_of_inputs(node, "a distance")
    for option in (whole_number, WholeNumber().convert, WholeRange(1, 100).convert):
        with pytest.raises((ValueError, click.UsageError)):
            option(written, None, None) if option is not whole_number else option(written)
    for read in (
        parse_duration,
        parse_memory,
        parse_pieces,
        parse_probability,
        parse_pieces_or_worst,
        parse_count_or_all,
    ):
        with pytest.raises(click.BadParameter):
            ParsedText(read).convert(written + "GB" * (read is parse_memory), None, None)


def test_truth_is_no_number() -> None:
    with pytest.raises(UsageError):
        exact_share(True)
