"""Nothing in a name or value steers a terminal or a page."""

from __future__ import annotations

import pytest

from sqlaudit.reports.document import in_encoding, markdown, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 漢字 😀", "plain é 漢字 😀"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("bell\x07 \x9b csi", "bell\\x07 \\x9b csi"),
        ("evil\u202egnp.exe", "evil\\u202egnp.exe"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("lone \ud800", "lone \\ud800"),
        ("tag \U000e0041", "tag \\U000e0041"),
        ("line\u2028break", "line\\u2028break"),
        ("no \ufffe XML \uffff", "no \\ufffe XML \\uffff"),
        ("##vso[task.setvariable variable=x]y", "#\\x23vso[task.setvariable variable=x]y"),
        ("a ##[error]b ##VSO[c]", "a #\\x23[error]b #\\x23VSO[c]"),
        ("::error::x", "\\x3a:error::x"),
        ("k ::set-output name=a::b", "k \\x3a:set-output name=a::b"),
        ("age::int # 1 ## 2 :: 3", "age::int # 1 ## 2 :: 3"),
    ],
)
def test_steering_characters_are_shown(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(visible(text)) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("marital-status", "marital-status"),
        ("a|b", "a\\|b"),
        ("<script>&", "&lt;script&gt;&amp;"),
        ("[x](http://e)", "\\[x\\](http://e)"),
        ("_under_ *star* `tick`", "\\_under\\_ \\*star\\* \\`tick\\`"),
        ("# heading", "\\# heading"),
        ("- item", "\\- item"),
        ("1. item", "1\\. item"),
        ("1.5", "1.5"),
        ("two\nlines", "two\\\\nlines"),
        ("", ""),
    ],
)
def test_markdown_stays_literal(text: str, shown: str) -> None:
    assert markdown(text) == shown


def test_output_that_cannot_carry_a_character_gets_another_spelling() -> None:
    assert in_encoding("k ≥ 5 …", "utf-8") == "k ≥ 5 …"
    assert in_encoding("k ≥ 5 …", "ascii") == "k >= 5 ..."
    assert in_encoding("漢", "ascii") == "\\u6f22"
    assert in_encoding("é ≥", "latin-1") == "é >="
    assert in_encoding("plain", None) == "plain"
