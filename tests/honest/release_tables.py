"""Honest releases beside their originals: masked, folded, or written by sqlaudit itself and read back."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.cli.runner import run
from tests.honest.honest_table import Columns, HonestTable

Rewritten = Callable[[str], str]


def draw_codes(seed: int, rows: int, values: Sequence[str]) -> Columns:
    """Draw a column of codes, an age and an illness for each row."""
    chosen = random.Random(seed)
    return {
        "code": [chosen.choice(values) for _ in range(rows)],
        "age": [chosen.randrange(20, 60) for _ in range(rows)],
        "illness": [chosen.choice(("flu", "asthma", "gout")) for _ in range(rows)],
    }


def rewritten(
    name: str, original: Columns, change: Rewritten, command: str, defence: str, code: int = 0
) -> HonestTable:
    """A release in which each code is written in a coarser way, row by row."""
    return HonestTable(
        name=f"release: {name}",
        defence=defence,
        command=f"compare {{t}} {{release}} --qi code --sensitive illness --measures loss {command}",
        columns=original,
        further={"release": {**original, "code": [change(str(cell)) for cell in original["code"]]}},
        code=code,
    )


def read_back(name: str, original: Columns, made_by: str, command: str, release: str = "release.csv") -> HonestTable:
    """A release that sqlaudit wrote as a CSV file, and reads again."""

    def write(folder: Path) -> Mapping[str, Path]:
        table, written = folder / "original.parquet", folder / release
        pq.write_table(pa.table({name: pa.array(list(cells)) for name, cells in original.items()}), table)
        given = made_by.replace("{t}", str(table)).replace("{folder}", str(folder))
        answer = run(*given.split(), "--to", written)
        assert answer.code == 0, answer.out + answer.err
        return {"t": table, "release": written}

    return HonestTable(
        name=f"release: {name}",
        defence="sqlaudit wrote the release from this original, and audited it before.",
        command=f"compare {{t}} {{release}} --measures loss {command}",
        write=write,
    )


GERMAN = [f"{area}{town:03}" for area in (10, 12, 30, 81) for town in (115, 117, 245, 247, 551)]
LEADING = [f"0{area}{town:03}" for area in (1, 4, 7) for town in (67, 69, 103)]
ICD = ["E10.1", "E10.9", "E11.1", "E11.9", "I10.0", "I10.9", "J45.1", "J45.9"]
DISTRICTS = ["AB-101", "AB-102", "AB-201", "CD-101", "CD-305"]
CITIES = ["Berlin", "Bonn", "Bremen", "Kiel"]
PLAIN_PREFIX = "Each cell is the beginning of its code, of one length in all rows, and codes have one length."
MASKED = "Each cell is the beginning of its code, filled up to its length."
KEPT = "Each cell is its code in another case, and the command says that these are one value."

ONES = ["1", "1.0", "2", "2.0", "3"]
BLANKS = ["8001", "8001 ", "8002", "8003"]
ZEROS = ["01", "1", "2", "02", "10"]
MIXED = ["7", "7.50", "8", "n/a"]
WORDS = ["true", "false", "True", "yes"]
DAYS = ["2020-01-01", "2020-01-01 ", "2020-02-01", "1.2.2020"]
BIG = ["12345678901234567890", "12345678901234567891", "5"]
LONG = ["0.1", "0.10", "0.30000000000000004", "0.3"]
EXPONENTS = ["1e3", "1000", "2e3", "5"]

TABLES = [
    rewritten("German zips cut to two digits", draw_codes(1, 400, GERMAN), lambda c: c[:2], "", PLAIN_PREFIX),
    rewritten("German zips cut to three digits", draw_codes(2, 400, GERMAN), lambda c: c[:3], "", PLAIN_PREFIX),
    rewritten("German zips cut, read as text", draw_codes(3, 400, GERMAN), lambda c: c[:2], "--all-text", PLAIN_PREFIX),
    rewritten("zips with leading zeros, cut", draw_codes(4, 400, LEADING), lambda c: c[:2], "--all-text", PLAIN_PREFIX),
    rewritten("diagnosis codes cut to their group", draw_codes(5, 400, ICD), lambda c: c[:3], "", PLAIN_PREFIX),
    rewritten("districts cut to their county", draw_codes(6, 400, DISTRICTS), lambda c: c[:2], "", PLAIN_PREFIX),
    rewritten("German zips as 10XXX", draw_codes(7, 400, GERMAN), lambda c: c[:2] + "XXX", "", MASKED),
    rewritten("German zips as 10xxx", draw_codes(8, 400, GERMAN), lambda c: c[:2] + "xxx", "", MASKED),
    rewritten("German zips as 10###", draw_codes(9, 400, GERMAN), lambda c: c[:2] + "###", "", MASKED),
    rewritten("German zips as 10***", draw_codes(10, 400, GERMAN), lambda c: c[:2] + "***", "", MASKED),
    rewritten(
        "zips with leading zeros as 01XXX", draw_codes(11, 400, LEADING), lambda c: c[:2] + "XXX", "--all-text", MASKED
    ),
    rewritten("diagnosis codes as E10.x", draw_codes(12, 400, ICD), lambda c: c[:4] + "x", "", MASKED),
    rewritten("districts as AB-XXX", draw_codes(13, 400, DISTRICTS), lambda c: c[:3] + "XXX", "", MASKED),
    rewritten("districts as AB####", draw_codes(14, 400, DISTRICTS), lambda c: c[:2] + "####", "", MASKED),
    rewritten(
        "German zips cut, paired by position",
        draw_codes(15, 400, GERMAN),
        lambda c: c[:2],
        "--by-position",
        PLAIN_PREFIX,
    ),
    rewritten("cities in capitals, folded", draw_codes(16, 400, CITIES), str.upper, "--fold-values", KEPT),
    rewritten(
        "cities with a blank, folded, by position",
        draw_codes(17, 400, CITIES),
        lambda c: f"{c} ",
        "--fold-values --by-position",
        KEPT,
    ),
    rewritten(
        "cities in small letters, folded, by position",
        draw_codes(18, 400, CITIES),
        str.lower,
        "--fold-values --by-position",
        KEPT,
    ),
    rewritten("diagnosis codes in small letters, folded", draw_codes(19, 400, ICD), str.lower, "--fold-values", KEPT),
    rewritten(
        "a zip that is cut to another's beginning, by position",
        draw_codes(20, 400, GERMAN),
        lambda c: c[:1],
        "--by-position",
        PLAIN_PREFIX,
    ),
    HonestTable(
        name="release: illnesses in capitals, folded, by position",
        defence=KEPT,
        command="compare {t} {release} --qi code --sensitive illness --fold-values --by-position --measures loss",
        columns=draw_codes(21, 200, CITIES),
        further={
            "release": {
                **draw_codes(21, 200, CITIES),
                "illness": [str(cell).upper() for cell in draw_codes(21, 200, CITIES)["illness"]],
            }
        },
    ),
    HonestTable(
        name="release: a zip of another town in its place",
        defence="The release has zips that the original's rows do not have.",
        command="compare {t} {release} --qi code --sensitive illness --by-position --measures loss",
        columns=draw_codes(22, 200, GERMAN),
        further={"release": {**draw_codes(22, 200, GERMAN), "code": [GERMAN[0]] * 200}},
        code=1,
    ),
    *(
        read_back(
            f"{what}, by lattice",
            draw_codes(30 + number, 300, values),
            "lattice {t} --qi code,age --sensitive illness --require k=2 --suppress 5%",
            "--qi code,age --sensitive illness",
        )
        for number, (what, values) in enumerate(
            {
                "1 and 1.0": ONES,
                "8001 with a blank": BLANKS,
                "01 and 1": ZEROS,
                "7 and 7.50": MIXED,
                "words of truth": WORDS,
                "days and texts": DAYS,
                "numbers of twenty digits": BIG,
                "0.1 and 0.10": LONG,
                "1e3 and 1000": EXPONENTS,
                "German zips": GERMAN,
            }.items()
        )
    ),
    *(
        read_back(
            f"{what}, by {name}",
            draw_codes(50 + number, 200, values),
            f"{name} {{t}} --qi code,age --sensitive illness --require k=2 {more}",
            f"--qi code,age --sensitive illness {pairing}",
        )
        for name, more, pairing in (("suppress", "", ""), ("recode", "", ""))
        for number, (what, values) in enumerate(
            {
                "1 and 1.0": ONES,
                "8001 with a blank": BLANKS,
                "01 and 1": ZEROS,
                "7 and 7.50": MIXED,
                "words of truth": WORDS,
                "0.1 and 0.10": LONG,
            }.items()
        )
    ),
]
