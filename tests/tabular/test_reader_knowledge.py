"""What readers know besides equations: what marks, codes, other columns and published zeros say."""

from __future__ import annotations

import random
from itertools import chain, product
from math import ceil, floor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sqlaudit
from sqlaudit.base.errors import UsageError
from sqlaudit.reports.notebook import document_of
from sqlaudit.reports.text import render_text
from tests.cli.runner import run
from tests.tabular.secondary import oracle

TOTAL = "Total"
RULES = ["threshold=5", "no_unpickable_cell=4"]


def square(cells: list[list[Any]]) -> pd.DataFrame:
    """A table of regions and sectors whose last row and column are totals."""
    regions, sectors = ([*names[: size - 1], TOTAL] for names, size in (("abcd", len(cells)), ("stuv", len(cells[0]))))
    rows = [(*key, cell) for key, cell in zip(product(regions, sectors), chain.from_iterable(cells), strict=True)]
    return pd.DataFrame(rows, columns=["region", "sector", "n"])


def asked(table: pd.DataFrame, **more: Any) -> sqlaudit.AggregatesResult:
    by = [name for name in ("region", "sector", "code") if name in table]
    return sqlaudit.aggregates(table, **{"by": by, "count": "n", "require": RULES, **more})


def said(found: sqlaudit.AggregatesResult) -> str:
    return " ".join(render_text(document_of(found)).split())


# Marks have bounds.


@pytest.mark.parametrize("mark", ["<5", "0 to 4", "≤4", "under 5", "suppressed (<5)", "4 or fewer"])
def test_cells_at_the_limit_of_their_marks_follow(mark: str) -> None:
    found = asked(square([[mark, mark, 8], [mark, mark, 8], [8, 8, 16]]), hidden=[mark], show_values=True)
    assert (found.status.value, found.deducible) == ("fail", 4)
    assert {(one.lower, one.upper) for one in found.intervals} == {(4, 4)}
    assert f"{mark} = " in said(found)


@pytest.mark.parametrize(("mark", "status"), [("<5", "pass"), ("*=1..4", "pass"), ("*", "pass"), ("<10", "fail")])
def test_a_cell_fails_only_within_both_the_requirement_and_its_mark(mark: str, status: str) -> None:
    text = mark.partition("=")[0]
    table = square([[text, text, 5], [text, text, 5], [5, 5, 10]])
    rule = {"no_unpickable_cell": 6 if mark == "<10" else 4}  # 0 to 5 is less than both 6 and 1 to 9
    assert asked(table, hidden=[mark], require=rule).status.value == status


def test_a_mark_that_no_table_fits_leaves_the_verdict_open() -> None:
    found = asked(square([["<5", "<5", 16], [30, 30, 60], [42, 34, 76]]), hidden=["<5"])
    assert found.status.value == "undetermined"
    assert "limits that fit the totals: state those of a mark (hidden='*=1..4')" in said(found)
    assert asked(square([["<5", "<5", 16], [30, 30, 60], [42, 34, 76]]), hidden=["<5=..20"]).deducible == 2


@pytest.mark.parametrize("mark", ["c1", "<5%", "1 of 3", "less than or equal to 5"])
def test_a_number_in_a_mark_is_read_or_refused(mark: str) -> None:
    with pytest.raises(UsageError, match="State them, for example"):
        asked(square([[7, 8, 15], [9, 9, 18], [16, 17, 33]]), hidden=[mark])


def test_linked_tables_narrow_a_mark_together() -> None:
    first = pd.DataFrame({"region": ["a", "b", TOTAL], "n": ["<5", "30", "34"]})
    second = pd.DataFrame({"region": ["a", "b"], "n": ["<20", "30"]})
    found = asked(first, linked=[second], hidden=["<5", "<20"], require={"no_unpickable_cell": 4})
    assert found.status.value == "fail"


@pytest.mark.parametrize("seed", range(6))
def test_widths_are_those_of_all_tables_within_the_marks(seed: int) -> None:
    """Hundreds of random tables with marks, counted one by one; with and without zeros that are published."""
    chance = random.Random(seed)
    for _ in range(40):
        rows, columns = chance.choice([(2, 2), (2, 3), (3, 3), (1, 4)])
        shown = chance.random() < 0.5
        truth = np.array([[chance.randint(int(shown), 6) for _ in range(columns)] for _ in range(rows)])
        full = np.pad(truth, ((0, 1), (0, 1)))
        full[-1], full[:, -1] = full.sum(axis=0), 0
        full[:, -1] = full.sum(axis=1)
        texts = [[str(cell) for cell in row] for row in full.tolist()]
        limits = {}
        for at in product(range(rows), range(columns)):
            if chance.random() < 0.7:
                mark = chance.choice([mark for mark, most in (("<4", 3), ("≤6", 6), ("*", 99)) if full[at] <= most])
                texts[at[0]][at[1]] = mark
                limits[at] = {"<4": 3, "≤6": 6, "*": 99}[mark]
        cells = list(product(range(rows + 1), range(columns + 1)))
        parents = [[[size if code < size else -1 for code in range(size + 1)]] for size in (rows, columns)]
        known = [None if at in limits else int(full[at]) for at in cells]
        most = int(full.max())
        reach = [(int(shown), min(limits[at], most)) if at in limits else (0, most) for at in cells]
        fitting = oracle.intervals(len(cells), sorted(oracle.equations(cells, parents)), known, reach)
        expected = sorted(fitting[place] for place, at in enumerate(cells) if at in limits)
        zeros = "shown" if shown else "hidden"
        found = asked(square(texts), hidden=["<4", "≤6", "*"], zeros=zeros, show_values=True, require=RULES[1])
        assert sorted((one.lower, one.upper) for one in found.intervals) == expected
        for width, rule in ((1, "no_unpickable_cell=1"), (4, RULES[1])):
            narrow = 0
            for place, at in enumerate(cells):
                if at in limits:
                    low, high = fitting[place]
                    promised = limits[at] - 1 if limits[at] < 99 else width
                    narrow += high - low < min(width, max(1, promised))
            judged = asked(square(texts), hidden=["<4", "≤6", "*"], zeros=zeros, require=rule)
            assert judged.rules[0].cells == narrow


# Codes that begin other codes.


def coded(codes: str, counts: list[Any], **more: Any) -> sqlaudit.AggregatesResult:
    return asked(
        pd.DataFrame({"code": codes.split("|" if "|" in codes else None), "n": counts}).astype({"n": "Int64"}), **more
    )


UNCLEAR = [
    ("AT AT1 AT11 AT13", [300, 280, 140, None]),
    ("E11 E11.9 E11.8", [300, 297, None]),
    ("at at1 at11 at13", [300, 280, 140, None]),
    ("01 Farms|01.1 Crops|01.2 Animals", [300, 298, None]),
    ("A00-B99 A01 B20 B21", [300, 100, 197, None]),
    ("A A10 A10B C C07", [300, 280, None, 200, 150]),
    ("A A01 A02 B B01 B02", [100, 60, 37, 80, 50, 30]),  # nothing is hidden, and three people are in no other row
]


@pytest.mark.parametrize(("codes", "counts"), UNCLEAR)
def test_codes_that_others_extend_are_no_pass_before_they_are_settled(codes: str, counts: list[Any]) -> None:
    found = coded(codes, counts)
    assert found.status.value == "undetermined"
    assert "unclear_codes" in [one.code for one in found.mistakes]
    assert "hierarchies='code=codes'" in said(found)
    assert coded(codes, counts, total={"code": ""}).status.value == "pass"
    assert not [one for one in coded(codes, counts, hierarchies="code=codes").mistakes if one.code == "unclear_codes"]


@pytest.mark.parametrize(
    ("codes", "counts"),
    [
        ("Chad Niger Nigeria Togo", [40, 60, None, 45]),
        (" ".join(map(str, range(1, 13))), [90, *[20] * 10, None]),
        ("E11 E11.9 I10", [20, 90, None]),
        ("A A01 A02 B B01 B02", [100, 60, 40, 80, 50, 30]),
    ],
)
def test_other_values_that_begin_others_stay_as_they_are(codes: str, counts: list[Any]) -> None:
    assert "unclear_codes" not in [one.code for one in coded(codes, counts).mistakes]


def test_a_tree_of_codes_that_adds_up_is_taken() -> None:
    codes = "AT AT1 AT2 AT11 AT12 AT13 AT21 AT22"
    assert coded(codes, [300, 180, 120, 100, None, None, 60, 60]).status.value == "pass"
    assert coded(codes, [300, 180, 120, 100, 77, None, 60, 60]).status.value == "fail"


@pytest.mark.parametrize("seed", range(8))
def test_no_tree_of_codes_passes_where_a_hidden_cell_follows_from_it(seed: int) -> None:
    """Random trees of codes, of which some small leaves are hidden: the true tree says what follows."""
    chance, failed = random.Random(seed), 0
    for _ in range(12):
        leaves = {
            f"{country}{region}{part}": chance.choice([2, 3, 4, 9, 20, 35])
            for country in ("AT", "DE")[: chance.randint(1, 2)]
            for region in range(1, chance.randint(2, 4))
            for part in range(1, chance.randint(2, 4))
        }
        cells = dict(leaves)
        for leaf, n in leaves.items():
            for end in (2, 3):
                cells[leaf[:end]] = cells.get(leaf[:end], 0) + n
        gone = {leaf for leaf, n in leaves.items() if n < 5 or chance.random() < 0.2}
        gone |= {code for code in cells if len(code) == 3 and cells[code] < 5}
        follows = any(
            cells[code] >= 5 and sum(other in gone for other in cells if other[:-1] == code) == 1
            for code in cells
            if len(code) < 4 and code not in gone
        )
        if cells["AT"] < 5 or ("DE1" in cells and cells["DE"] < 5):
            continue
        order = sorted(cells, key=lambda _: chance.random())
        found = coded(" ".join(order), [None if code in gone else cells[code] for code in order])
        failed += follows
        assert found.status.value != "pass" or not follows, order
        if follows:
            settled = coded(
                " ".join(order), [None if code in gone else cells[code] for code in order], hierarchies="code=codes"
            )
            assert settled.status.value == "fail"
    assert failed


@pytest.mark.parametrize(
    "codes",
    ["N f m", "4700 4711 4712 5000 5011", "110 111 112 120 121", "0-17 boys girls", "f girls women", "20YY 20Q1 20Q2"],
)
def test_a_code_that_may_be_a_total_is_no_sibling(codes: str) -> None:
    """N is often the number of all, and 4700 is 47 at the length of 4711."""
    found = coded(codes, [300, 298, None, 100, 60][: len(codes.split())])
    assert (found.status.value, [one.code for one in found.mistakes]) == ("undetermined", ["unclear_totals"])


@pytest.mark.parametrize(
    "codes", ["y n", "0-17 18+ unknown", "boys girls", "E11 I10 J44", "f m d", "2021Q1 2021Q2 2022Q1"]
)
def test_siblings_are_no_totals(codes: str) -> None:
    assert coded(codes, [*[300, 298][: len(codes.split()) - 1], None]).status.value == "pass"


# Other numeric columns.


def beside(**columns: list[Any]) -> pd.DataFrame:
    return pd.DataFrame({"code": ["C18", "C34", "C50", "C61"], "n": ["33", "30", "*", "*"], **columns})


@pytest.mark.parametrize(
    ("columns", "blocks"),
    [
        ({"rate": [0.11, 0.1, 0.02, 0.0129]}, True),
        ({"percent": ["11.0%", "10.0%", "2.0%", "1.3%"]}, True),
        ({"shown": ["33 (11%)", "30 (10%)", "3 (2%)", "4 (1%)"]}, True),
        ({"rate": ["n/a", "0.1", "0.02", "0.01"]}, True),
        ({"rate": [None, None, 0.02, None]}, True),
        ({"rate": [0.11, 0.1, None, None]}, False),
        ({"rate": ["0.11", "0.10", "*", "*"]}, False),
        ({"year": [2023] * 4}, False),
        ({"label": ["colon", "lung", "breast", "prostate 2"]}, False),
    ],
)
def test_a_column_with_values_of_hidden_counts_is_no_pass(columns: dict[str, list[Any]], blocks: bool) -> None:
    found = asked(beside(**columns), hidden=["*"])
    assert [one.code for one in found.problems] == ["other_columns"] * blocks
    assert found.status.value == ("undetermined" if blocks else "pass")
    (name,) = columns
    assert (name in found.unused_columns) == (name != "label")
    assert asked(beside(**columns), hidden=["*"], insensitive=[name]).status.value == "pass"


@pytest.mark.parametrize(
    ("everybody", "blocks"),
    [([33, 41], True), ([38, 30], False), ([29, 38], False), ([33.5, 41], False), ([33, 30], False)],
)
def test_a_column_that_exceeds_counts_by_few_is_no_pass(everybody: list[float], blocks: bool) -> None:
    table = pd.DataFrame({"region": ["a", "b"], "n": [30, 30], "everybody": everybody})
    if everybody == [33, 30]:
        table["n"] = [33, 30]
    assert asked(table).status.value == ("undetermined" if blocks else "pass")


def test_columns_of_linked_tables_reveal_counts_too() -> None:
    first = pd.DataFrame({"region": ["E10", "E11", TOTAL], "n": [30, 33, 63]})
    second = pd.DataFrame({"region": ["E10", "E11"], "sector": ["s", "s"], "n": [30, 33], "everybody": [33, 41]})
    assert [one.code for one in asked(first, by=["region", "sector"], linked=[second]).mistakes] == ["other_columns"]


@pytest.mark.parametrize(
    ("rates", "fails"),
    [(["0.1000", "0.0200", "0.0129"], 2), (["10.00", "2.00", "1.29"], 2), (["0.1", "0.0", "0.0"], 0)],
)
def test_rates_limit_hidden_numerators(rates: list[str], fails: int) -> None:
    """150 · 0.02 = 3 and 310 · 0.0129 = 4; rounded to one place, both are 0 to 7 and 0 to 15."""
    people = [300, 150, 310]
    table = pd.DataFrame({"code": ["p1x", "p2x", "p3x"], "n": ["30", "*", "*"], "people": people, "rate": rates})
    found = asked(table, hidden=["*"], rate={"rate": "n/people"}, require=RULES[1], show_values=True)
    assert found.rules[0].cells == fails
    half, scale = (0.5 / 10 ** len(rates[0].split(".")[1])), (100 if rates[0] == "10.00" else 1)
    expected = [
        (max(0, ceil(of * (float(rate) - half) / scale)), floor(of * (float(rate) + half) / scale))
        for of, rate in zip(people[1:], rates[1:], strict=True)
    ]
    assert sorted((one.lower, one.upper) for one in found.intervals) == sorted(expected)
    with pytest.raises(UsageError, match="Rates are not the count divided by the denominator"):
        asked(table.assign(people=[100, 150, 310]), hidden=["*"], rate=["rate=n/people"])
    with pytest.raises(UsageError, match="3 cells of 'rate' are not numbers"):
        asked(table.assign(rate=["1%", "2%", "3%"]), hidden=["*"], rate=["rate=n/people"])
    with pytest.raises(UsageError, match="takes rate=n/d"):
        asked(table, hidden=["*"], rate=["rate=people/n"])


@pytest.mark.parametrize(("people", "follows"), [([100, 3, 900], True), ([100, 0, 900], True), ([20, 3, 900], False)])
def test_no_hidden_numerator_exceeds_its_denominator(people: list[int], follows: bool) -> None:
    """Rates are hidden with their counts; 30 of 20 are no part, but events, of which 3 people may have any number."""
    table = pd.DataFrame({"code": ["C18", "C34", "C50"], "n": ["30", "*", "*"], "people": people})
    table["rate"] = [f"{30 / people[0]:.2f}", "*", "*"]
    found = asked(table, hidden=["*"], rate=["rate=n/people"], require=RULES[1])
    assert found.rules[0].cells == follows


def test_a_rate_of_hidden_numbers_is_refused() -> None:
    """Where totals reveal the denominator 150, a rate of 0.02 is 3 people."""
    table = pd.DataFrame({"code": ["C18", "C34", "C50"], "n": ["30", "*", "*"], "people": ["100", "*", "*"]})
    with pytest.raises(UsageError, match="1 rate without a count and a denominator cannot be judged"):
        asked(table.assign(rate=["0.30", "0.02", "*"]), hidden=["*"], rate=["rate=n/people"])
    assert asked(table.assign(rate=["0.30", "*", "*"]), hidden=["*"], rate=["rate=n/people"]).problems == ()


def test_columns_of_earlier_releases_reveal_counts_too() -> None:
    newest, older = beside(), beside(rate=[0.11, 0.1, 0.02, 0.0129])
    assert asked(newest, hidden=["*"], before=[beside()]).status.value == "pass"
    found = asked(newest, hidden=["*"], before=[older])
    assert (found.status.value, [one.code for one in found.mistakes]) == ("undetermined", ["other_columns"])
    assert asked(newest, hidden=["*"], before=[older], insensitive=["rate"]).status.value == "pass"


@pytest.mark.parametrize("option", ["before", "linked"])
def test_a_condition_holds_for_the_tables_beside(option: str, tmp_path: Path) -> None:
    own = pd.DataFrame({"code": ["C18", "C34"] * 2, "year": [1, 1, 2, 2], "n": [40, 50, 60, 70]})
    other = pd.DataFrame({"code": ["C18", "C34"] * 2, "year": [1, 1, 2, 2], "n": [38, 50, 10, 11]})
    both: list[Any] = []
    for table, name in ((own, "own.csv"), (other, "other.csv")):
        table.to_csv(tmp_path / name, index=False)
        both.append(table[table.year == 1])
    alone = asked(both[0], require=RULES[0], **{option: [both[1]]})
    assert asked(own, require=RULES[0], where="year = 1", **{option: [other]}).status == alone.status
    ran = run(
        *("aggregates", str(tmp_path / "own.csv"), f"--{option}", str(tmp_path / "other.csv"), "--by", "code"),
        *("--count", "n", "--where", "year = 1", "--require", RULES[0]),
    )
    assert ran.code == 1
    assert alone.status.value == ("fail" if option == "before" else "undetermined")


# Zeros, and the audit of what was protected.


@pytest.mark.parametrize(("zeros", "follow"), [(None, 4), ("shown", 4), ("hidden", 0)])
def test_where_zeros_are_published_a_hidden_count_is_at_least_one(zeros: str | None, follow: int) -> None:
    table = square([[None, None, 0, 2], [None, None, 9, 11], [2, 2, 9, 13]])
    assert asked(table, zeros=zeros, require={"no_unpickable_cell": 1}).deducible == follow


def test_a_table_that_hides_a_zero_beside_published_ones_is_judged_without_that() -> None:
    found = asked(square([[None, 0, 0], [None, 7, 7], [0, 7, 7]]), require={"no_unpickable_cell": 1})
    assert (found.status.value, found.deducible) == ("fail", 2)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_a_protected_table_is_open_to_readers_who_know_that_nobody_is_no_row(
    seed: int, share: float, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    truth = [[0 if chance.random() < share else chance.randint(1, 14) for _ in range(4)] for _ in range(3)]
    truth = [[*row, sum(row)] for row in truth]
    truth.append([sum(column) for column in zip(*truth, strict=True)])
    file = tmp_path / "safe.csv"
    found = asked(square(truth), require={"threshold": 3}, protect=True, to=file).protection
    assert found is not None
    if not found.safe:
        assert not file.exists()
        return
    written = pd.read_csv(file)
    for zeros in (None, "shown"):
        again = asked(written, require=["threshold=3", "no_unpickable_cell=2"], zeros=zeros)
        assert (again.status.value, again.problems) == ("pass", ())
    assert not (written.n.isna() & (square(truth).n == 0)).any()


@pytest.mark.parametrize("grouping", ["region;sector;region,sector;()", "region,sector;region;()"])
def test_what_is_protected_passes_its_own_audit(grouping: str, tmp_path: Path) -> None:
    sizes = {("a", "s"): 9, ("a", "t"): 2, ("b", "s"): 8, ("b", "t"): 7, ("c", "s"): 12, ("c", "t"): 1}
    rows = pd.DataFrame([key for key, size in sizes.items() for _ in range(size)], columns=["region", "sector"])
    file = tmp_path / "safe.csv"
    made = sqlaudit.aggregates(
        rows,
        by=["region", "sector"],
        microdata=True,
        grouping=grouping,
        require={"threshold": 3},
        protect=True,
        to=file,
        show_values=True,
    )
    assert made.protection is not None
    assert made.protection.safe
    again = sqlaudit.aggregates(file, by=["region", "sector"], count="count", require=["threshold=3"])
    assert (again.status.value, again.deducible) == ("pass", 0)
    assert "safe against outsiders" in said(made)


def test_a_value_called_total_gets_a_total_of_another_name(tmp_path: Path) -> None:
    rows = pd.DataFrame({"region": ["Total"] * 6 + ["b"] * 7})
    asked_for: dict[str, Any] = {"by": ["region"], "microdata": True, "grouping": "region;()", "protect": True}
    sqlaudit.aggregates(rows, require={"threshold": 3}, to=tmp_path / "safe.csv", **asked_for)
    assert set(pd.read_csv(tmp_path / "safe.csv").region) == {"All", "Total", "b"}


def test_the_only_contributor_of_a_cell_learns_no_other_count(tmp_path: Path) -> None:
    """Employees by branch, counted in firms: a firm that is alone knows its employees."""
    table = square([[9, 7, 30, 46], [8, 9, 40, 57], [20, 30, 50, 100], [37, 46, 120, 203]])
    firms = [[1, 2, 9, 12], [2, 1, 9, 12], [5, 5, 5, 15], [8, 8, 23, 39]]
    table["firms"] = list(chain.from_iterable(firms))
    file = tmp_path / "safe.csv"
    found = asked(table, contributors="firms", require={"threshold": 3}, protect=True, to=file)
    assert found.protection is not None
    assert found.protection.safe
    assert "safe against outsiders and the only contributors of cells" in said(found)
    written = pd.read_csv(file)
    for place in np.flatnonzero(table.firms.eq(1) & written.n.isna()).tolist():
        inside = table.assign(n=written.n)
        inside.loc[place, "n"] = table.n[place]
        again = asked(inside, contributors="firms", insensitive=["firms"], require={"no_unpickable_cell": 2})
        assert again.deducible == 0


def test_hidden_sums_may_be_negative_where_published_ones_are() -> None:
    table = pd.DataFrame({"region": ["a", "b", "c", TOTAL], "x": ["*", "*", "-3", "0"]})
    found = sqlaudit.aggregates(table, by=["region"], value="x", hidden=["*"], require=RULES[1], show_values=True)
    assert {(one.lower, one.upper) for one in found.intervals} == {(None, None)}


# Numbers as they are printed.


@pytest.mark.parametrize(
    ("counts", "decimal", "status"),
    [
        (["1,204", "7,001", "9,100"], ".", "pass"),
        (["1,204", "7,001", "3"], ".", "fail"),
        (["1 204", "7\u202f001", "9\u00a0100"], ".", "pass"),
        (["1'204", "1’007’001", "3"], ".", "fail"),
        (["1.204", "7.001", "2.350"], ",", "pass"),
        (["1.204", "7.001", "2.350"], ".", "undetermined"),
    ],
)
def test_thousands_are_read_or_undecided(counts: list[str], decimal: str, status: str, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("region;n\n" + "".join(f"{name};{n}\n" for name, n in zip("abc", counts, strict=True)))
    found = sqlaudit.aggregates(file, by=["region"], count="n", require=["threshold=5"], read={"decimal": decimal})
    assert (found.status.value, found.unsafe_cells) == (status, int(status == "fail"))


# Negative contributions, and thresholds by the number of dimensions.


@pytest.mark.parametrize(
    ("value", "largest", "unsafe"),
    [(-900, (-300, -200), 0), (-520, (-300, -200), 1), (100, (300, -200), 1), (60, (300, -200), 0)],
)
def test_p_percent_compares_sizes_of_negative_contributions(value: int, largest: tuple[int, int], unsafe: int) -> None:
    """The others have |value − first − second|, which 10% of 300 must not exceed: 400, 20, 0 and 40."""
    first, second = largest
    table = pd.DataFrame({"region": ["a"], "x": [value], "first": [first], "second": [second]})
    given: dict[str, Any] = {
        "by": ["region"],
        "value": "x",
        "largest": ["first", "second"],
        "require": ["p_percent=10"],
    }
    assert sqlaudit.aggregates(table, negative="absolute", **given).unsafe_cells == unsafe
    with pytest.raises(UsageError, match="negative='absolute'"):
        sqlaudit.aggregates(table, **given)


def test_thresholds_may_depend_on_the_number_of_dimensions() -> None:
    table = square([[12, 9, 21], [14, 15, 29], [26, 24, 50]])
    assert asked(table, require=["threshold=5", "threshold=n:10,dimensions:2"]).unsafe_cells == 1
    one = pd.DataFrame({"region": ["a", "b", TOTAL], "n": [8, 9, 17]})
    assert asked(one, require=["threshold=n:10,dimensions:2"]).unsafe_cells == 0


def test_the_command_and_the_console_take_the_new_options(tmp_path: Path) -> None:
    from sqlaudit.cli.console.grammar import parse_cells

    file = tmp_path / "t.csv"
    file.write_text("code,n,m\nE10,30,1\nE11,*,2\nE12,31,3\n")
    command = (
        "aggregates",
        str(file),
        "--by",
        "code",
        "--count",
        "n",
        "--require",
        "threshold=5",
        "--hidden",
        "*=1..4",
    )
    assert run(*command).code == 1
    assert run(*command, "--insensitive", "m", "--zeros", "shown").code == 0
    request = parse_cells("AGGREGATES t BY (code) COUNT n HIDDEN '<5' ZEROS shown INSENSITIVE m RATE 'r=n/d'", "duckdb")
    assert (request.hidden, request.zeros, request.insensitive, request.rates()) == (
        ("<5",),
        "shown",
        ("m",),
        (("r", "d"),),
    )
