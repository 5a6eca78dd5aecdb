"""How lists and other option values are read."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqlaudit.base.errors import UsageError
from sqlaudit.base.options import DELIMITER
from sqlaudit.cli.requests import null_values, split_list, split_lists


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("age", ("age",)),
        ("age, sex ,race", ("age", "sex", "race")),
        ("substr(zip, 1, 3),sex", ("substr(zip, 1, 3)", "sex")),
        ('"last, first",sex', ("last, first", "sex")),
        ('"a ""b"", c"', ('a "b", c',)),
        ("coalesce(city, 'a, (b'),x", ("coalesce(city, 'a, (b')", "x")),
        ("list_extract([1, 2], age)", ("list_extract([1, 2], age)",)),
        ("marital-status", ("marital-status",)),
        ('"a"||"b"', ('"a"||"b"',)),
        ('year("birth, day")', ('year("birth, day")',)),
        ("select", ("select",)),
        ('"select"', ("select",)),
        ("don''t", ("don''t",)),
    ],
)
def test_lists_split_at_top_level_commas(text: str, items: tuple[str, ...]) -> None:
    assert split_list(text) == items


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "--qi '' has an empty name. Separate names by commas."),
        ("a,,b", "--qi 'a,,b' has an empty name. Separate names by commas."),
        ("a,", "--qi 'a,' has an empty name. Separate names by commas."),
        ("f(a", "--qi 'f(a': ) is not closed. Close it, or quote the name."),
        ('"a', "--qi '\"a': \" is not closed. Close it, or quote the name."),
    ],
)
def test_broken_lists_are_told(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        split_list(text, "--qi")
    assert str(caught.value) == sentence


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.lists(st.text(min_size=1).filter(lambda name: name.strip() == name), min_size=1, max_size=5))
def test_quoted_names_come_back_whatever_they_hold(names: list[str]) -> None:
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    assert split_list(quoted) == tuple(names)


def test_repeated_options_add_up() -> None:
    assert split_lists(("a,b", "c"), "--qi") == ("a", "b", "c")


def test_null_values() -> None:
    assert null_values("?,NA") == ("?", "NA")
    assert null_values('"",-') == ("", "-")
    assert null_values(None) == ()


def test_delimiters() -> None:
    read = partial(DELIMITER.read, "delimiter")
    assert [read(text) for text in ("", ";", "tab", "\\t", "\t", "pipe")] == ["", ";", "\t", "\t", "\t", "|"]
    with pytest.raises(UsageError, match="takes one character, or tab"):
        read("::")
