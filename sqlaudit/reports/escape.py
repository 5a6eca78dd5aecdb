"""Names and values are data: what would steer a terminal, a page or a table is shown, never obeyed."""

from __future__ import annotations

import unicodedata

_JOINERS = ("\u200c", "\u200d")  # ordinary spelling in Persian, Indic scripts and emoji
_STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_MARKDOWN = frozenset("\\`*_[]|~$")
_OPENS_A_BLOCK = frozenset("#+-=")
_PLAIN_SPELLING = str.maketrans(
    {"≥": ">=", "≤": "<=", "∞": "infinite", "–": "-", "—": "-", "…": "...", "•": "*", "×": "x", "−": "-"}
    | dict.fromkeys("─━", "-")
    | dict.fromkeys("█▉▊▋▌", "#")
    | dict.fromkeys("▍▎▏", "|")
)


def visible(text: object) -> str:
    r"""The text with control, bidirectional and other steering characters written as escapes.

    Example:
        >>> visible("red \x1b[31m alert")
        'red \\x1b[31m alert'
    """
    return "".join(character if _is_plain(character) else _escaped(character) for character in str(text))


def markdown(text: object) -> str:
    r"""The text as Markdown that shows it literally, also inside a table cell.

    Example:
        >>> markdown("a|b <i>")
        'a\\|b &lt;i&gt;'
    """
    shown = "".join(_in_markdown(character) for character in visible(text))
    if shown[:1] in _OPENS_A_BLOCK:
        return "\\" + shown
    digits, dot, rest = shown.partition(".")
    return f"{digits}\\.{rest}" if dot and digits.isdigit() and rest[:1] in ("", " ") else shown


def in_encoding(text: str, encoding: str | None) -> str:
    """The text with characters that an output cannot carry spelled out, so that printing never fails."""
    codec = encoding or "utf-8"
    if text == text.encode(codec, "replace").decode(codec, "replace"):
        return text
    return text.translate(_PLAIN_SPELLING).encode(codec, "backslashreplace").decode(codec)


def _is_plain(character: str) -> bool:
    return character in _JOINERS or unicodedata.category(character) not in _STEERING


def _escaped(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _in_markdown(character: str) -> str:
    if character in "<>&":
        return {"<": "&lt;", ">": "&gt;", "&": "&amp;"}[character]
    return "\\" + character if character in _MARKDOWN else character
