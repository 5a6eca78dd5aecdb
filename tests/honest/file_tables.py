"""Honest tables about how files are read: headers, blank rows, packed files, floats, times and nested values."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.honest.honest_table import HonestTable

Write = Callable[[Path], Mapping[str, Path]]
PEOPLE = [(sex, band) for sex in ("f", "m") for band in ("20-29", "30-39") for _ in range(5)]
"""Four classes of five people."""
K5 = "audit {t} --qi sex,band --require k=5"


def lines(*texts: str, name: str = "t.csv", end: str = "\n", packed: bool = False) -> Write:
    """Return a writer of a text file with these lines."""

    def write(folder: Path) -> Mapping[str, Path]:
        file = folder / name
        content = (end.join(texts) + end).encode()
        file.write_bytes(gzip.compress(content) if packed else content)
        return {"t": file}

    return write


def parquet(make: Callable[[], Any]) -> Write:
    """Return a writer of a Parquet file with the Arrow table that `make` returns."""

    def write(folder: Path) -> Mapping[str, Path]:
        import pyarrow.parquet as pq

        pq.write_table(make(), folder / "t.parquet")
        return {"t": folder / "t.parquet"}

    return write


def feather(make: Callable[[], Any]) -> Write:
    """Return a writer of a Feather file with the Arrow table that `make` returns."""

    def write(folder: Path) -> Mapping[str, Path]:
        from pyarrow import feather

        feather.write_feather(make(), str(folder / "t.feather"))
        return {"t": folder / "t.feather"}

    return write


def excel(rows: Iterable[Iterable[object]]) -> Write:
    """Return a writer of a workbook with these rows."""

    def write(folder: Path) -> Mapping[str, Path]:
        import xlsxwriter

        with xlsxwriter.Workbook(folder / "t.xlsx") as book:
            sheet = book.add_worksheet()
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, list(row))
        return {"t": folder / "t.xlsx"}

    return write


def records(rows: Iterable[Mapping[str, object]], name: str = "t.ndjson") -> Write:
    """Return a writer of JSON records, one a line."""
    return lines(*(json.dumps(row) for row in rows), name=name)


def people(*before: str, extra: str = "", every: int = 0) -> list[str]:
    """Return the people as CSV rows; `extra` stands after every few of them."""
    rows = list(before)
    for number, person in enumerate(PEOPLE, 1):
        rows.append(",".join(person))
        if every and number % every == 0:
            rows.append(extra)
    return rows


def floats(*columns: str) -> Callable[[], Any]:
    """Return a maker of a table with NaN and six of each value, in columns of these names."""

    def make() -> Any:
        import pyarrow as pa

        values = [value for value in (1.5, 2.5, float("nan"), -0.0, 0.0) for _ in range(6)]
        return pa.table({name: pa.array(values, pa.float64()) for name in columns})

    return make


def column_of(values: Iterable[object], kind: str, times: int = 5) -> Callable[[], Any]:
    """Return a maker of a table with a column `x` in which each value stands several times."""

    def make() -> Any:
        import pyarrow as pa

        types = {"timestamp[ns, tz=UTC]": pa.timestamp("ns", "UTC"), "time64[ns]": pa.time64("ns")}
        types |= {"timestamp[ns]": pa.timestamp("ns"), "duration[ns]": pa.duration("ns")}
        types |= {"interval": pa.month_day_nano_interval()}
        many = [value for value in values for _ in range(times)]
        return pa.table({"x": pa.array(many, types[kind]), "sex": ["f"] * len(many)})

    return make


def int96(folder: Path) -> Mapping[str, Path]:
    """Write a Parquet file with timestamps as Spark 2 and Impala write them, whole seconds."""
    import pyarrow.parquet as pq

    table = column_of([1_600_000_000_000_000_000, 1_600_000_001_000_000_000], "timestamp[ns]")()
    pq.write_table(table, folder / "t.parquet", use_deprecated_int96_timestamps=True)
    return {"t": folder / "t.parquet"}


def wide(columns: int, rows: int) -> Write:
    """Return a writer of a CSV of many columns of texts: `sex`, and answers that differ from row to row."""
    header = ",".join(["sex", *(f"answer_{i}" for i in range(columns))])
    answers = (",".join(f"a{i * row % 97}" for i in range(columns)) for row in range(rows))
    return lines(header, *(f"{'fm'[row % 2]},{answer}" for row, answer in enumerate(answers)))


UUIDS = ("00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b")
CENSUS = [f"{sex},{number}" for sex, number in (("f", "5"), ("m", "7")) for _ in range(5)]

TABLES = [
    HonestTable(
        "a CSV with a pandas index, all columns text",
        "pandas writes the index under an empty name; every quasi-identifier is named in the first line.",
        K5,
        write=lines(",sex,band", *(f"{i},{row}" for i, row in enumerate(people()))),
    ),
    HonestTable(
        "a CSV with a pandas index of texts",
        "The first line names sex and band; the index of texts has no name.",
        K5,
        write=lines(",sex,band", *(f"r{i},{row}" for i, row in enumerate(people()))),
    ),
    HonestTable(
        "a header with a year as a name",
        "The quasi-identifiers sex and 2019 are both in the first line, so it is the header.",
        "audit {t} --qi sex,2019 --require k=5",
        write=lines("sex,2019", *CENSUS),
    ),
    HonestTable(
        "a header of years beside a name",
        "sex is in the first line, so the line is the header; 2019 and 2020 are counts of visits.",
        "audit {t} --qi sex --require k=5",
        write=lines("sex,2019,2020", *(f"{row},{i}" for i, row in enumerate(CENSUS))),
    ),
    HonestTable(
        "a header of years alone",
        "The quasi-identifier 2019 is in the first line.",
        "audit {t} --qi 2019 --require k=5",
        write=lines("2019,2020", *(f"{1 + i % 2},{i}" for i in range(10))),
    ),
    HonestTable(
        "a header that a value repeats",
        "Both quasi-identifiers are in the first line, which is the header although f is a value as well.",
        "audit {t} --qi f,m --require k=5",
        write=lines("f,m", *["f,m"] * 5, *["g,n"] * 5),
    ),
    HonestTable(
        "a header with one name that is a value",
        "sex and group are the names; the text 'group' is also an answer.",
        "audit {t} --qi sex,group --require k=5",
        write=lines("sex,group", *["f,group"] * 5, *["m,alone"] * 5),
    ),
    HonestTable(
        "a header among numbers without roles in it",
        "The first line has the name of the quasi-identifier.",
        "audit {t} --qi age --require k=5",
        write=lines("age,1,2", *["30,4,5"] * 5, *["40,4,6"] * 5),
    ),
    HonestTable(
        "a CSV that ends with a row of commas",
        "Excel writes rows of commas for rows that were cleared; a row without any value is no person.",
        K5,
        write=lines("sex,band", *people(), ",", ","),
    ),
    HonestTable(
        "a CSV with a row of commas inside",
        "The row without any value is no person, wherever it stands.",
        K5,
        write=lines("sex,band", *people(extra=",", every=7)),
    ),
    HonestTable(
        "a CSV with a number column and a row of commas",
        "The row has no value in any of its three columns.",
        "audit {t} --qi sex,age --require k=5",
        write=lines("sex,age,n", *["f,30,1"] * 5, ",,", *["m,40,2"] * 5),
    ),
    HonestTable(
        "a semicolon CSV with a row of separators at its end",
        "A row of separators alone is what Excel leaves behind.",
        K5,
        write=lines("sex;band", *(row.replace(",", ";") for row in people()), ";"),
    ),
    HonestTable(
        "a CSV in quotes with empty texts in one row",
        "All fields of the row are empty.",
        K5,
        write=lines("sex,band", *people(), '"",""'),
    ),
    HonestTable(
        "a CSV with Windows line ends and a blank last line",
        "The blank line at the end is no person.",
        K5,
        write=lines("sex,band", *people(), "", end="\r\n"),
    ),
    HonestTable(
        "a workbook with a blank row inside",
        "The blank row parts two groups for the eye; the rows below it have values in the same columns.",
        K5,
        write=excel([("sex", "band"), *PEOPLE[:10], (), *PEOPLE[10:]]),
    ),
    HonestTable(
        "a workbook with several blank rows inside",
        "Blank rows between groups of people are no people.",
        K5,
        write=excel([("sex", "band"), *PEOPLE[:5], (), (), *PEOPLE[5:10], (), *PEOPLE[10:]]),
    ),
    HonestTable(
        "a workbook with a blank row at its end",
        "The last row is blank because it was cleared.",
        K5,
        write=excel([("sex", "band"), *PEOPLE, (None, None)]),
    ),
    HonestTable(
        "a workbook with numbers and a blank row inside",
        "The blank row is no person, and the numbers below it are ages as those above.",
        "audit {t} --qi sex,age --require k=5",
        write=excel([("sex", "age"), *[("f", 30)] * 5, (), *[("m", 40)] * 5]),
    ),
    HonestTable(
        "a quoted header with a line break",
        "Excel's headers often have a line break; the file is plain CSV.",
        "audit {t} --qi sex --require k=5",
        write=lines('sex,"age\nin years"', *["f,30"] * 5, *["m,40"] * 5),
    ),
    HonestTable(
        "a quoted header of texts with a line break in its first name",
        "The line break is inside the quotes of the first name.",
        "audit {t} --qi band --require k=5",
        write=lines('"sex\n(f or m)",band', *people()),
    ),
    HonestTable(
        "values in quotes with a lone carriage return",
        "Old Macs and some exports put a carriage return into addresses; the file is plain CSV.",
        "audit {t} --qi sex --require k=5",
        write=lines("sex,address", *['f,"Main Street 1\rTown"'] * 5, *['m,"Side Street 2\rTown"'] * 5),
    ),
    HonestTable(
        "a CSV of many columns and few rows",
        "Survey files have more than a thousand columns; sex is f seven times and m six times.",
        "audit {t} --qi sex --require k=6",
        write=wide(1200, 13),
    ),
    HonestTable(
        "a packed CSV", "The gzip file is whole.", K5, write=lines("sex,band", *people(), name="t.csv.gz", packed=True)
    ),
    HonestTable(
        "a Parquet file with NaN, values that come six times",
        "Each of 1.5, 2.5, NaN and zero comes at least six times.",
        "audit {t} --qi x --require k=6",
        write=parquet(floats("x")),
    ),
    HonestTable(
        "a Parquet file with NaN, less a condition",
        "Of the values above 1 there are 1.5, 2.5 and NaN, six times each.",
        "audit {t} --qi x --require k=6 --where x>1",
        write=parquet(floats("x", "y")),
    ),
    HonestTable(
        "a Parquet file of UTC times in whole microseconds",
        "Nanosecond types with whole microseconds lose nothing.",
        "audit {t} --qi x --require k=5",
        write=parquet(column_of([1_600_000_000_000_001_000, 1_600_000_000_000_002_000], "timestamp[ns, tz=UTC]")),
    ),
    HonestTable(
        "a Parquet file of times without a zone in nanoseconds",
        "DuckDB keeps nanoseconds of these; each time comes five times.",
        "audit {t} --qi x --require k=5",
        write=parquet(column_of([1_600_000_000_000_000_001, 1_600_000_000_000_000_002], "timestamp[ns]")),
    ),
    HonestTable(
        "a Parquet file of Spark's old timestamps",
        "INT96 with whole seconds loses nothing.",
        "audit {t} --qi x --require k=5",
        write=int96,
    ),
    HonestTable(
        "a Parquet file of clock times in whole microseconds",
        "A time of day has no nanoseconds here.",
        "audit {t} --qi x --require k=5",
        write=parquet(column_of([43_200_000_000_000, 43_201_000_000_000], "time64[ns]")),
    ),
    HonestTable(
        "a Feather file of durations in whole microseconds",
        "Nanosecond durations with whole microseconds lose nothing.",
        "audit {t} --qi x --require k=5",
        write=feather(column_of([1_000_000, 2_000_000], "duration[ns]")),
    ),
    HonestTable(
        "a Feather file with a column of finer durations that is not used",
        "The column of durations has no role; sex is read exactly.",
        "audit {t} --qi sex --require k=5",
        write=feather(column_of([1, 2], "duration[ns]")),
    ),
    HonestTable(
        "JSON with UUIDs in lower case",
        "Both UUIDs are written in one way and come five times each.",
        "audit {t} --qi visit --require k=5",
        write=records([{"visit": uuid} for uuid in UUIDS for _ in range(5)]),
    ),
    HonestTable(
        "JSON with nested dates and whole numbers",
        "The nested dates and numbers are written in one way; sex is flat.",
        "audit {t} --qi sex --require k=5",
        write=records([{"sex": sex, "seen": {"on": "2024-02-29", "n": 3}} for sex in "fm" for _ in range(5)]),
    ),
    HonestTable(
        "JSON with nested lists of dates as the quasi-identifier",
        "All lists are equal, letter by letter.",
        "audit {t} --qi seen --require k=5",
        write=records([{"sex": sex, "seen": ["2024-02-29", "2024-03-01"]} for sex in "fm" for _ in range(5)]),
    ),
    HonestTable(
        "JSON with nested numbers in two spellings, flat quasi-identifier",
        "1 and 1.0 stand in a column without a role.",
        "audit {t} --qi sex --require k=5",
        write=lines(*['{"sex": "f", "seen": {"n": 1}}', '{"sex": "m", "seen": {"n": 1.0}}'] * 5, name="t.ndjson"),
    ),
]
