"""The meaning of texts in published tables: limits in marks (`<5`), ages in labels (`18-64`), codes below codes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from sqlaudit.base.errors import UsageError
from sqlaudit.base.parameter_names import spelled

_JUST = Fraction(1, 10**18)
"""The step below a limit: "<5" is at most 5 less this, as no published number has more decimal places."""
_NUMBER = r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![.,]?\d|\s*%)"
_FORMS = (
    (rf"(?:between )?{_NUMBER} *(?:-|–|—|\.\.|to|and|bis|à|a) *{_NUMBER}", "between"),
    (
        rf"(?:<|(?<!no )(?<!not )\b(?:under|below|fewer than|less than|unter|weniger als|moins de)\b) *{_NUMBER}",
        "below",
    ),
    (rf"(?:≤|<=|=<|\b(?:no more than|not more than|up to|at most|bis zu|höchstens|au plus)\b) *{_NUMBER}", "most"),
    (rf"{_NUMBER} *(?:(?:or|and|years and|years or) (?:fewer|less|under|below|younger))\b", "most"),
    (rf"(?:≥|>=|=>|\b(?:at least|no less than|not less than|no fewer than|mindestens)\b) *{_NUMBER}", "least"),
    (rf"{_NUMBER} *(?:\+|plus\b|(?:years )?(?:or|and|und) (?:more|over|older|above|mehr|älter)\b)", "least"),
    (rf"(?:>|(?<!no )(?<!not )\b(?:over|more than|above|über|mehr als)\b) *{_NUMBER}", "above"),
)
Limits = tuple[Fraction | None, Fraction | None]


def read_limits(text: str) -> Limits | None:
    """Return the least and the largest number that a text allows, None where it has no such limit; None if it has none.

    Example:
        >>> [tuple(map(str, read_limits(text))) for text in ("0 to 4", "suppressed (≤3)", "65 and over")]
        [('0', '4'), ('None', '3'), ('65', 'None')]
        >>> read_limits("*"), read_limits("<5%"), read_limits("1 of 3")
        (None, None, None)
    """
    normalized = " ".join(text.casefold().split())
    for form, kind in _FORMS:
        match = re.fullmatch(rf"[^\d<>≤≥=]*?{form}[^\d<>≤≥=%]*", normalized)
        if match is None:
            continue
        first, last = (Fraction(number.replace(",", "")) for number in (match[1], match[match.re.groups]))
        if kind == "between":
            return (first, last) if first <= last else None
        if kind in ("below", "most"):
            return None, first - (_JUST if kind == "below" else 0)
        return first + (_JUST if kind == "above" else 0), None
    return None


@dataclass(frozen=True)
class Mark:
    """A mark of hidden cells, with the limits that it states for their numbers.

    Args:
        text: as it stands in cells; empty for a missing number.
        low, high: the limits, None where it states none.
        counts_only: True if the option states the limits, which are then those of counts.
    """

    text: str
    low: Fraction | None = None
    high: Fraction | None = None
    counts_only: bool = False

    @classmethod
    def parse(cls, option: str) -> Mark:
        """Read a mark: `*`, `<5`, or `*=1..4` with the limits of its cells.

        Raises:
            UsageError: it has a number that cannot be read as a limit.

        Example:
            >>> Mark.parse("*=1..4").described, Mark.parse("<5").described
            ('* = 1 to 4', '<5 = at most 4')
        """
        stated = re.fullmatch(r"(.*)=\s*(-?\d+(?:\.\d+)?)?\s*\.\.\s*(-?\d+(?:\.\d+)?)?", option.strip())
        if stated is not None:
            low, high = (None if number is None else Fraction(number) for number in stated.groups()[1:])
            if low is not None and high is not None and low > high:
                raise UsageError(f"{spelled('hidden')}: the limits of a mark are low..high, for example *=1..4.")
            return cls("" if stated[1].strip() == "NULL" else stated[1].strip(), low, high, counts_only=True)
        limits = read_limits(option)
        if limits is None and re.search(r"\d", option) and not re.fullmatch(r"-?\d+(\.\d+)?", option.strip()):
            raise UsageError(
                f"{spelled('hidden')}: the limits that the mark {option!r} sets are not clear. State them, for example "
                f"{spelled('hidden', option + '=1..4')}, or {spelled('hidden', option + '=..')} if it sets none."
            )
        return cls(option.strip(), *(limits or ()))

    @property
    def described(self) -> str:
        """The reading of the mark in words, for whole numbers."""
        low = "" if self.low is None else str(-(-self.low.numerator // self.low.denominator))
        high = "" if self.high is None else str(self.high.numerator // self.high.denominator)
        limits = f"{low} to {high}" if low and high else f"at most {high}" if high else f"at least {low}" if low else ""
        return f"{self.text or 'missing number'} = {limits or 'any number'}"


def plain_number(text: str, decimal: str) -> str:
    """Return a number without the signs that separate its thousands: `,` (`.` before decimal commas), a space or `'`.

    Example:
        >>> plain_number("1,204", "."), plain_number("1.204", ","), plain_number("1 204", "."), plain_number("1,2", ".")
        ('1204', '1204', '1204', '1,2')
    """
    sign = "," if decimal == "." else "."
    grouped = re.fullmatch(rf"-?[1-9]\d{{0,2}}([{sign}\s'’])\d{{3}}(\1\d{{3}})*({re.escape(decimal)}\d+)?", text)
    plain = text.replace(grouped[1], "") if grouped else text
    return plain.replace(",", ".") if decimal == "," and re.fullmatch(r"-?\d+,\d+", plain) else plain


def looks_numeric(text: str) -> bool:
    """Return True if a text is a number as tables print it: `1,204`, `2.0%`, `3 (1.2–4.5)`."""
    return bool(re.fullmatch(r"[\d\s.,;:%()\[\]<>≤≥±+/–-]*\d[\d\s.,;:%()\[\]<>≤≥±+/–-]*", text))


_CATEGORIES = frozenset(
    re.split(
        ", ",
        "f, m, w, d, u, female, male, woman, man, women, men, girl, boy, girls, boys, weiblich, männlich, divers, "
        "diverse, intersex, femme, homme, femmes, hommes, non-binary, nonbinary, unknown, unbekannt, inconnu, other, "
        "others, andere, sonstige, autre, missing, undetermined, unspecified, yes, no, ja, nein, oui, non, y, n, true, "
        "false, refused, declined, not stated, not known, not reported, not specified, prefer not to say, keine angabe",
    )
)
"""Categories of people and answers, none of which is ever the total of the others."""


def never_totals(labels: Mapping[int, str]) -> set[int]:
    """Return the codes whose labels are no total of the others: sexes, answers, years, disjoint ranges, sibling codes.

    Args:
        labels: of the values of a dimension but its total.

    Example:
        >>> sorted(never_totals({1: "f", 2: "m", 3: "both"})), sorted(never_totals({1: "0-17", 2: "18+", 3: "0+"}))
        ([1, 2], [])
        >>> sorted(never_totals({1: "E11", 2: "I10"})), sorted(never_totals({1: "1", 2: "2", 3: "9"}))
        ([1, 2], [])
    """
    texts_by_code = {code: " ".join(label.casefold().split()) for code, label in labels.items()}
    texts = set(texts_by_code.values())
    totals = {"f", "m", "female", "male"} if texts & {"girl", "girls", "boy", "boys"} else set()
    totals |= set() if "y" in texts else {"n"}  # N is often the number of all
    words = {code for code, text in texts_by_code.items() if text in _CATEGORIES - totals}
    codes = words if len(words) > 1 else set()
    years = {text for text in texts if re.fullmatch(r"(19|20)\d\d", text)}
    if years and len(years) == len(texts_by_code) and max(map(int, years)) - min(map(int, years)) < 2 * len(years):
        return set(texts_by_code)
    shapes = {re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "0", text)) for text in texts}
    if len(shapes) == 1 and all(re.fullmatch(r"[\w./-]*\d[\w./-]*", text) for text in texts):
        codes = codes | {code for code in texts_by_code if not _is_padded(texts_by_code[code], texts)}
    ranges = {code: limits for code, text in texts_by_code.items() if (limits := read_limits(text) or _exactly(text))}
    if (
        len(ranges) > 1 and len(words) < 2 and set(ranges) | words == set(texts_by_code)
    ):  # f and m may be parts of a range
        wide = {code for code, (low, high) in ranges.items() if low is None or high is None or low < high}
        codes = codes | {
            code for code in wide if not any(_overlap(ranges[code], ranges[other]) for other in ranges if other != code)
        }
    return codes


def _exactly(text: str) -> Limits | None:
    """Return a whole number as the limits of a range; None of any other text."""
    return (Fraction(text), Fraction(text)) if re.fullmatch(r"\d{1,9}", text) else None


def _overlap(first: Limits, second: Limits) -> bool:
    """Return True if two ranges share more than an end."""
    (low, high), (bottom, top) = first, second
    is_apart = high is not None and bottom is not None and high <= bottom
    return not (is_apart or (top is not None and low is not None and top <= low))


def _is_padded(code: str, texts: Iterable[str]) -> bool:
    """Return True if a code may be filled up to the length of others that it contains: 4700 beside 4711, or 999."""
    for pad in "09":
        stem = code.rstrip(pad)
        begun = [other.startswith(stem) for other in texts if other != code]
        if stem != code and (len(stem) < 2 or all(begun) or (pad == "0" and code.isdigit() and any(begun))):
            return True
    return len(code) < 2


def code_parents(labels: Mapping[int, str]) -> tuple[dict[int, int], bool]:
    """Return the code that each code extends (AT1 of AT13, E11 of E11.9, A00-B99 of B20), and whether some extend none.

    Args:
        labels: of the values of a dimension but its total.

    Example:
        >>> code_parents({1: "AT", 2: "AT1", 3: "AT13", 4: "DE", 5: "unknown"})
        ({2: 1, 3: 2}, False)
        >>> code_parents({1: "Niger", 2: "Nigeria"})[0], code_parents({one: str(one) for one in range(1, 13)})[0]
        ({}, {})
    """
    spelled_codes = {code: label.strip().upper() for code, label in labels.items()}
    first = {code: text.split()[0] for code, text in spelled_codes.items() if text}  # 01.1 Crops
    spelled_codes = first if len(set(first.values())) == len(spelled_codes) else spelled_codes
    is_code = re.compile(r"(?:[A-Z]{0,5}\d[A-Z0-9]{0,7}|[A-Z]{1,5})(?:[./_-][A-Z0-9]{1,8})*")
    texts = {text: code for code, text in spelled_codes.items() if is_code.fullmatch(text)}
    blocks = sorted((text for text in texts if re.fullmatch(r"[A-Z]\d\d-[A-Z]\d\d", text)), reverse=True)
    blocks.sort(key=lambda block: block[4:])  # a block comes before those that contain it
    parents = {}
    for text, code in texts.items():
        start, end = text[:3], text[4:] if text in blocks else text[:3]
        begun = [text[:size] for size in range(len(text) - 1, 0, -1) if text[:size] in texts]
        around = [block for block in blocks if block[:3] <= start and end <= block[4:] and block != text]
        wholes = begun or (around if start[1:2].isdigit() else [])
        if wholes and re.search(r"[\d./_-]", text):
            parents[code] = texts[wholes[0]]
    tops = {len(text) for text, code in texts.items() if code not in parents and text not in blocks}
    return ({} if _are_ordinals(texts, parents) else parents), len(tops) > 1


def _are_ordinals(texts: Mapping[str, int], parents: Mapping[int, int]) -> bool:
    """Return True if codes are numbers in a row, such as months: 1 does not contain 10."""
    if not parents:
        return True
    prefix = re.match(r"\D*", min(texts))
    assert prefix is not None
    numbers = [text.removeprefix(prefix[0]) for text in texts if text.startswith(prefix[0])]
    if len(numbers) < len(texts) or not all(number.isdecimal() for number in numbers):
        return False
    shortest = {texts[prefix[0] + number] for number in numbers if len(number) == min(map(len, numbers))}
    rows = sorted(map(int, numbers))
    in_a_row = rows[-1] - rows[0] + 1 == len(rows)
    return in_a_row or not shortest <= set(parents.values()) or len(shortest) < 2
