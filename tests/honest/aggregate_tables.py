"""Honest published tables: of statistics offices, health registries and schools, hidden as such offices hide."""

from __future__ import annotations

from itertools import product

from tests.honest.honest_table import Columns, HonestTable

REQUIRED = "--require threshold=5 --require no_unpickable_cell=4"


def crossed(names: tuple[str, str], rows: str, columns: str, numbers: str) -> Columns:
    """The columns of a table that is written as it is printed: one line a row, `.` for a hidden cell.

    Args:
        names: of the two dimensions. rows, columns: their values. numbers: the cells, line by line; count is `n`.
    """
    keys = list(product(rows.split(), columns.split()))
    cells = [None if cell == "." else cell for cell in numbers.split()]
    assert len(keys) == len(cells)
    return {names[0]: [row for row, _ in keys], names[1]: [column for _, column in keys], "n": cells}


def listed(name: str, values: str, numbers: str, **more: str) -> Columns:
    """The columns of a table of one dimension; values and cells are separated by `|`, an empty cell is missing."""
    columns = {name: values, "n": numbers, **more}
    return {one: [cell.strip() or None for cell in cells.split("|")] for one, cells in columns.items()}


def _one(name: str, defence: str, command: str, columns: Columns, code: int = 0, **more: str) -> HonestTable:
    return HonestTable(name, defence, f"aggregates {{t}} {command}", columns, code=code, **more)


_SQUARE = "north south west Total", "flu gout ms Total"

MARKS = [
    _one(
        "cells under five marked <5, each total with two of them",
        "Each row and column hides two cells, and every marked cell can be 1 to 4, as its mark says.",
        f"--by region,illness --count n --hidden '<5' {REQUIRED}",
        crossed(("region", "illness"), *_SQUARE, "20 <5 <5 25  <5 30 <5 35  <5 <5 40 45  25 35 45 105"),
    ),
    _one(
        "at most five beside 40 and 33, no totals",
        "The marked cell is at most 5, so that 40 is not the total of 33 and it.",
        f"--by ward --count n --hidden '≤5' {REQUIRED}",
        listed("ward", "east|west|central", "40|33|≤5"),
    ),
    _one(
        "under 5 in words, zeros published",
        "The cell is 1 to 4, which is all that its mark promises.",
        f"--by drug --count n --hidden 'under 5' {REQUIRED}",
        listed("drug", "aspirin|ibuprofen|metformin|codeine", "120|0|under 5|77"),
    ),
    _one(
        "0 to 4 as OpenSAFELY measures print it",
        "No total reveals more about the cell than the mark.",
        f"--by month --count n --hidden '0 to 4' {REQUIRED}",
        listed("month", "2021-01|2021-02|2021-03|2021-04", "15|0 to 4|22|31"),
    ),
    _one(
        "suppressed (<10) in a registry of rare cancers",
        "The marks are the only thing known about the two cells.",
        "--by site --count n --hidden 'suppressed (<10)' --require threshold=10 --require no_unpickable_cell=9",
        listed("site", "breast|bowel|thymus|penis", "310|244|suppressed (<10)|suppressed (<10)"),
    ),
    _one(
        "fewer than 6 in both sexes of a school",
        "Two hidden cells in each row and column, with totals that leave 1 to 5 for each.",
        "--by school,sex --count n --hidden 'fewer than 6' --require threshold=6 --require no_unpickable_cell=5",
        {
            "school": [one for one in ("Hill", "Lake", "Moor", "Total") for _ in range(3)],
            "sex": ["f", "m", "Total"] * 4,
            "n": [*["fewer than 6", "fewer than 6", "6"] * 2, "30", "24", "54", "36", "30", "66"],
        },
    ),
    _one(
        "a star that the office says is 1 to 4",
        "The stars stand for 1 to 4, as the footnote says, and totals leave just that.",
        f"--by region,illness --count n --hidden '*=1..4' {REQUIRED}",
        crossed(("region", "illness"), "a b Total", "x y Total", "* * 5  * * 5  5 5 10"),
    ),
    _one(
        "a mark below ten that margins narrow to at most five",
        "The mark promises 1 to 9, and the margins reveal that no cell is above 5.",
        "--by region,illness --count n --hidden '<10' --require threshold=10 --require no_unpickable_cell=9",
        crossed(("region", "illness"), "a b Total", "x y Total", "<10 <10 5  <10 <10 5  5 5 10"),
        code=1,
    ),
    _one(
        "pairs of <5 that sum to 8",
        "Two cells of at most 4 that sum to 8 are both 4: all four follow.",
        f"--by region,illness --count n --hidden '<5' {REQUIRED}",
        crossed(("region", "illness"), "a b Total", "x y Total", "<5 <5 8  <5 <5 8  8 8 16"),
        code=1,
    ),
    _one(
        "a secondary cell of 12 marked <5",
        "No table fits: the mark is wrong where the total leaves 12, and nothing can be decided.",
        f"--by region --count n --hidden '<5' {REQUIRED}",
        listed("region", "a|b|c|Total", "20|<5|<5|36"),
        code=1,
    ),
]

WORDS = [
    _one(
        "sexes with the unknown hidden",
        "Women are not the total of men and people of unknown sex.",
        f"--by sex --count n {REQUIRED}",
        listed("sex", "f|m|unknown", "140|95|"),
    ),
    _one(
        "female, male, other in a survey, other hidden",
        "Female is a category, not the total of the others.",
        f"--by gender --count n --hidden '*' {REQUIRED}",
        listed("gender", "female|male|other", "812|604|*"),
    ),
    _one(
        "yes, no and not stated",
        "Answers are alternatives.",
        f"--by smoker --count n --hidden '*' {REQUIRED}",
        listed("smoker", "no|yes|not stated", "77|21|*"),
    ),
    _one(
        "years of diagnosis, one hidden",
        "A year is not the total of other years.",
        f"--by year --count n {REQUIRED}",
        listed("year", "2018|2019|2020|2021", "95|20|23|"),
    ),
    _one(
        "months, one hidden",
        "A month is not the total of other months.",
        f"--by month --count n {REQUIRED}",
        listed("month", "2023-01|2023-02|2023-03|2023-04", "60|14|11|"),
    ),
    _one(
        "school years, one hidden",
        "A school year is not the total of others.",
        f"--by year --count n --hidden c {REQUIRED}",
        listed("year", "2020/21|2021/22|2022/23", "150|90|c"),
    ),
    _one(
        "age bands, the oldest hidden",
        "Disjoint intervals are no totals of each other.",
        f"--by age --count n {REQUIRED}",
        listed("age", "0-17|18-64|65-79|80+", "30|210|91|"),
    ),
    _one(
        "sizes of firms in employees",
        "Disjoint intervals are no totals of each other.",
        f"--by size --count firms {REQUIRED}",
        {"size": ["1-9", "10-49", "50-249", "250 and over"], "firms": [940, 310, 60, None]},
    ),
    _one(
        "all ages beside its bands",
        "The total is named by a usual word, and two hidden bands leave 0 to 8 each.",
        f"--by age --count n {REQUIRED}",
        listed("age", "0-17|18-64|65-79|80+|Total", "30|210|||248"),
    ),
    _one(
        "both sexes are a total, and one sex follows",
        "With men and women published, the number of people of unknown sex is a subtraction.",
        f"--by sex --count n --total sex=both {REQUIRED}",
        listed("sex", "f|m|unknown|both", "140|95||238"),
        code=1,
    ),
]

CODES = [
    _one(
        "ICD-10 categories of three characters",
        "Codes of one length are siblings.",
        f"--by icd --count n --hidden '<5' {REQUIRED}",
        listed("icd", "E11|I10|J45|M54", "300|80|41|<5"),
    ),
    _one(
        "ICD-10 categories, a hidden one without a mark",
        "Codes of one length are siblings.",
        f"--by icd --count n {REQUIRED}",
        listed("icd", "C18|C34|C50|C61", "55|70|210|"),
    ),
    _one(
        "NUTS with two regions of each parent hidden",
        "The codes form a tree whose complete groups add up, and each parent hides two regions of 5 to 30 people.",
        f"--by nuts --count n {REQUIRED}",
        listed("nuts", "AT|AT1|AT2|AT3|AT11|AT12|AT13|AT21|AT22|AT31|AT32|AT33|AT34", "300|120|60|120|80|||||60|30||"),
    ),
    _one(
        "NUTS with one region hidden",
        "The parent and the other regions reveal the hidden one.",
        f"--by nuts --count n {REQUIRED}",
        listed("nuts", "AT|AT1|AT2|AT3|AT11|AT12|AT13|AT21|AT22", "270|120|60|90|80|37||30|30"),
        code=1,
    ),
    _one(
        "NUTS complete",
        "Nothing is hidden, and all groups add up.",
        f"--by nuts --count n {REQUIRED}",
        listed("nuts", "DE|DE1|DE2|DE11|DE12|DE21|DE22", "210|90|120|50|40|70|50"),
    ),
    _one(
        "ATC groups complete, all large",
        "Nothing is hidden, and no group is small.",
        f"--by atc --count n {REQUIRED}",
        listed("atc", "A|A02|A10|A10A|A10B|C|C07|C09", "500|200|300|120|180|410|160|250"),
    ),
    _one(
        "NACE sections and divisions complete",
        "Nothing is hidden, and all groups add up.",
        f"--by nace --count n {REQUIRED}",
        listed("nace", "C|C10|C11|C12|F|F41|F42", "93|40|30|23|50|25|25"),
    ),
    _one(
        "months 1 to 12, one hidden",
        "Numbers are no codes: 1 is not the total of 10 to 12.",
        f"--by month --count n --total month= {REQUIRED}",
        listed("month", "1|2|3|4|5|6|7|8|9|10|11|12", "90|20|20|20|21|22|23|20|20|20|30|"),
    ),
    _one(
        "Niger and Nigeria",
        "A name that begins another one is not its total.",
        f"--by country --count n {REQUIRED}",
        listed("country", "Chad|Niger|Nigeria|Togo|Mali", "55|60||58|57"),
    ),
    _one(
        "E11 beside a larger E11.9",
        "A category that is smaller than one of its subcategories is not their total.",
        f"--by icd --count n {REQUIRED}",
        listed("icd", "E11|E11.9|I10|J45|J45.9", "80|90||85|88"),
    ),
]

NUMBERS = [
    _one(
        "thousands with commas",
        "1,204 is one thousand two hundred and four.",
        "--by region --count n --require threshold=5",
        listed("region", "a|b|c|Total", "1,204|7,001|350|8,555"),
    ),
    _one(
        "thousands with commas and a mark",
        "Commas in groups of three separate thousands.",
        f"--by region,sex --count n --hidden '*' {REQUIRED}",
        {"region": ["a", "a", "b", "b"], "sex": ["f", "m"] * 2, "n": ["1,204", "1,377", "*", "12,000"]},
    ),
    _one(
        "thousands with points where the comma is the decimal sign",
        "With a decimal comma, points in groups of three separate thousands.",
        "--decimal , --by region --count n --require threshold=5",
        listed("region", "a|b|c", "1.204|7.001|2.350"),
    ),
    _one(
        "thousands with points beside a small count",
        "With a decimal comma, points separate thousands, and 3 is fewer than 5.",
        "--decimal , --by region --count n --require threshold=5",
        listed("region", "a|b|c", "1.204|7.001|3"),
        code=1,
    ),
    _one(
        "a share of the total in percent, nothing hidden",
        "All counts are published, so that the shares reveal nothing more.",
        f"--by region --count n {REQUIRED}",
        listed("region", "a|b|c", "50|25|25", share="50.0|25.0|25.0"),
    ),
    _one(
        "percent hidden with its count",
        "Where the count is hidden, the percentage is hidden as well.",
        f"--by icd --count n --hidden '*' {REQUIRED}",
        listed("icd", "C18|C34|C50|C61|C73", "50|45|44|*|*", percent="34.0%|30.6%|29.9%|*|*"),
    ),
    _one(
        "the year of the table in every row",
        "A constant column reveals no count.",
        f"--by sex --count n --hidden '*' {REQUIRED}",
        listed("sex", "f|m|unknown", "50|25|*", year="2023|2023|2023"),
    ),
    _one(
        "the year and the code of a region beside a hidden count",
        "A code of the region is declared to reveal no count.",
        f"--by region --count n --hidden '*' {REQUIRED} --insensitive ags --total region=",
        listed("region", "Hof|Selb|Rehau|Naila|Schwarzenbach", "50|45|44|*|*", ags="9464|9479|9475|9471|9480"),
    ),
    _one(
        "a rate that was hidden with its numerator",
        "The denominator is published and reveals no numerator.",
        f"--by practice --count events --hidden '*' {REQUIRED} --rate rate=events/patients --total practice=",
        {
            "practice": ["p", "q", "r", "s"],
            "patients": [150, 310, 200, 400],
            "events": ["15", "*", "*", "20"],
            "rate": ["0.10", "*", "*", "0.05"],
        },
    ),
    _one(
        "a rate that reveals a hidden numerator",
        "150 × 0.02 = 3 and 310 × 0.0129 = 4.",
        f"--by practice --count events --hidden '*' {REQUIRED} --rate rate=events/patients",
        {
            "practice": ["p", "q", "r", "s"],
            "patients": [150, 310, 200, 400],
            "events": ["*", "*", "30", "20"],
            "rate": ["0.0200", "0.0129", "0.1500", "0.0500"],
        },
        code=1,
    ),
    _one(
        "turnover with thousands, no hidden cell",
        "Every branch has five firms or more.",
        "--by branch --count firms --value turnover --require threshold=5",
        {"branch": ["bakery", "brewery"], "firms": [12, 9], "turnover": ["1,204", "12,300"]},
    ),
]

OFFICES = [
    _one(
        "a cube with square of hidden cells, stars",
        "The square leaves each hidden cell an interval of four or more.",
        f"--by region,illness --count n --hidden '*' {REQUIRED}",
        crossed(("region", "illness"), *_SQUARE, "20 * * 31  25 * * 40  30 30 45 105  75 38 63 176"),
    ),
    _one(
        "subtotals of sectors in three years, all published",
        "No cell is small.",
        f"--by year,sector --count n {REQUIRED}",
        crossed(
            ("year", "sector"),
            "2020 2021 2022",
            "industry chemistry cars services trade health Total",
            "9177 4051 5126 12339 7218 5121 21516 "
            "9311 4102 5209 12407 7214 5193 21718 "
            "9002 3951 5051 12500 7311 5189 21502",
        ),
    ),
    _one(
        "a primary cell left without complement",
        "The total reveals the only hidden cell.",
        f"--by region --count n --hidden '*' {REQUIRED}",
        listed("region", "a|b|c|Total", "40|30|*|73"),
        code=1,
    ),
    _one(
        "a small count published",
        "Three people are fewer than five.",
        f"--by region --count n {REQUIRED}",
        listed("region", "a|b|c", "40|30|3"),
        code=1,
    ),
    _one(
        "counts rounded to fives",
        "Nothing is hidden, and no rounded count is below five.",
        "--by region --count n --require threshold=5",
        listed("region", "a|b|c|d|e|f|g|h|i|k|Total", "25|10|35|40|15|20|85|60|55|70|415"),
    ),
    _one(
        "a larger threshold for tables of two dimensions",
        "Cells by region and illness have ten people, and those by region alone five.",
        "--by region,illness --count n --require threshold=5 --require threshold=n:10,dimensions:2",
        crossed(("region", "illness"), "a b Total", "x y Total", "12 11 23  10 15 25  22 26 48"),
    ),
    _one(
        "losses of firms",
        "The others' losses are more than p% of the largest.",
        "--by branch --count firms --value result --largest first,second --negative absolute --require p_percent=10",
        {
            "branch": ["bakery", "brewery"],
            "firms": [12, 9],
            "result": [-900, -700],
            "first": [-300, -250],
            "second": [-200, -150],
        },
    ),
    _one(
        "hospital admissions by sex and age band with two hidden bands a sex",
        "Two cells of each row and column are hidden, with 0 to 8 people each.",
        f"--by sex,age --count n {REQUIRED}",
        crossed(
            ("sex", "age"), "f m Total", "0-17 18-64 65-79 80+ Total", "30 50 . . 95  25 60 . . 94  55 110 14 10 189"
        ),
    ),
    _one(
        "pupils by school type without totals",
        "Without totals nothing reveals the hidden cells.",
        f"--by school,language --count n --hidden '<5' --total school= {REQUIRED}",
        {
            "school": ["primary", "primary", "grammar", "grammar"],
            "language": ["de", "other", "de", "other"],
            "n": ["220", "<5", "180", "<5"],
        },
    ),
]

TABLES = [*MARKS, *WORDS, *CODES, *NUMBERS, *OFFICES]
