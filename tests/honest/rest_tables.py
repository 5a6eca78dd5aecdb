"""Honest tables: balanced designs, dates in several spellings, missing sensitive values, empty texts, folded names."""

from __future__ import annotations

from itertools import product

from tests.honest.honest_table import Columns, HonestTable

AGES, SEXES, TOWNS = ("20-29", "30-39", "40-49"), ("f", "m"), ("Elm", "Oak", "Ash")


def crossed(rows: int, **factors: tuple[object, ...]) -> Columns:
    """Return every combination of the factors, each with so many rows."""
    cells = [combination for combination in product(*factors.values()) for _ in range(rows)]
    return {name: [cell[place] for cell in cells] for place, name in enumerate(factors)}


BALANCED = crossed(10, age=AGES, sex=SEXES, town=TOWNS)
DIAGNOSES = ("flu", "cold", "burn", "cough", "rash")
OUTCOMES = {**BALANCED, "dx": [DIAGNOSES[row % 5] for row in range(180)]}
TRIAL = crossed(2, site=("A", "B", "C", "D"), sex=SEXES, arm=("drug", "placebo"), outcome=("yes", "no"))
LATIN = crossed(1, ward=("1", "2", "3", "4"), dose=("low", "mid", "high", "top"), grade=("a", "b", "c", "d"))
DIARY = crossed(3, day=("mon", "tue", "wed", "thu", "fri"), meal=("am", "noon", "pm"), mood=("good", "fair", "bad"))
DATES = {
    "seen": [f"{1 + row % 5:02d}/04/1965" for row in range(40)],
    "dx": [("flu", "cold", "burn", "cough")[row // 5 % 4] for row in range(40)],
}
MISSING = {"band": ["20-29"] * 20 + ["30-39"] * 20, "dx": [(None, "flu", "cold", "burn")[row % 4] for row in range(40)]}
SPELLED = {
    "band": ["20-29"] * 20 + ["30-39"] * 20,
    "dx": [("Flu", "flu ", "cold", "Cold")[row % 4] for row in range(40)],
}
EMPTY_TEXTS = {"id": list(range(40)), "sex": [("f", "m", "")[row % 3] for row in range(40)]}

TABLES = [
    HonestTable(
        name="ten people in each group of a balanced survey, no sensitive column",
        defence="Every group of age, sex and town has ten rows; nothing was joined.",
        command="audit {t} --qi age,sex,town --require k=10",
        columns=OUTCOMES,
    ),
    HonestTable(
        name="a balanced survey by age alone",
        defence="Each age has sixty rows.",
        command="audit {t} --qi age --require k=10",
        columns=OUTCOMES,
    ),
    HonestTable(
        name="a balanced survey with its diagnosis named",
        defence="Ten rows and five diagnoses in each group.",
        command="audit {t} --qi age,sex,town --sensitive dx --require k=10 --require l=5",
        columns=OUTCOMES,
    ),
    HonestTable(
        name="a factorial trial by site",
        defence="Sixteen people at each site, half of them with each outcome.",
        command="audit {t} --qi site --sensitive outcome --require k=16 --require l=2",
        columns=TRIAL,
    ),
    HonestTable(
        name="a factorial trial by site and sex",
        defence="Eight people in each group, half of them with each outcome.",
        command="audit {t} --qi site,sex --sensitive outcome --require k=8 --require l=2",
        columns=TRIAL,
    ),
    HonestTable(
        name="a factorial trial without a sensitive column",
        defence="Eight people in each group.",
        command="audit {t} --qi site,sex --require k=8",
        columns=TRIAL,
    ),
    HonestTable(
        name="doses and grades in four wards",
        defence="Sixteen people in each ward; every dose was given once with each grade by design.",
        command="audit {t} --qi ward --sensitive grade --require k=16 --require l=4",
        columns=LATIN,
    ),
    HonestTable(
        name="a diary study by day",
        defence="Twenty-seven entries on each day.",
        command="audit {t} --qi day --sensitive mood --require k=27 --require l=3",
        columns=DIARY,
    ),
    HonestTable(
        name="worst-case knowledge about a factorial trial",
        defence="Both outcomes are equally frequent at each site.",
        command="disclosure {t} --qi site --sensitive outcome --knowledge 0 --threshold 0.6",
        columns=TRIAL,
    ),
    HonestTable(
        name="attacks on a factorial trial",
        defence="The command measures; there is nothing to refuse.",
        command="attack {t} --qi site --sensitive outcome",
        columns=TRIAL,
    ),
    HonestTable(
        name="dates as day/month/year",
        defence="Eight rows on each day, whichever way the dates are read.",
        command="audit {t} --qi seen --require k=8",
        columns=DATES,
    ),
    HonestTable(
        name="dates with years of two digits",
        defence="Eight rows on each day, whatever the century.",
        command="audit {t} --qi seen --require k=8",
        columns={**DATES, "seen": [text.replace("1965", "65") for text in DATES["seen"]]},
    ),
    HonestTable(
        name="dates that can only be month/day/year",
        defence="Eight rows on each day.",
        command="audit {t} --qi seen --require k=8",
        columns={**DATES, "seen": [f"04/{13 + row % 5}/1965" for row in range(40)]},
    ),
    HonestTable(
        name="a hierarchy whose dates are spelled as in the data",
        defence="Every value of the column is in the file, letter by letter.",
        command="hierarchy {t} seen --from {levels} --all-text",
        columns=DATES,
        write=lambda folder: {"levels": _levels(folder)},
    ),
    HonestTable(
        name="missing diagnoses beside three others",
        defence="Three diagnoses in each group, and a missing one: l=3 holds without counting it.",
        command="audit {t} --qi band --sensitive dx --require k=20 --require l=3",
        columns=MISSING,
    ),
    HonestTable(
        name="diagnoses in two spellings, folded",
        defence="Flu and cold in each group.",
        command="audit {t} --qi band --sensitive dx --fold-values --require k=20 --require l=2",
        columns=SPELLED,
    ),
    HonestTable(
        name="diagnoses in two spellings, three required of two",
        defence="There are two diagnoses, however they are written.",
        command="audit {t} --qi band --sensitive dx --fold-values --require l=3",
        columns=SPELLED,
        code=1,
    ),
    HonestTable(
        name="umlauts and accents are different people",
        defence="Müller and Muller are two names; each group has both.",
        command="audit {t} --qi band --sensitive dx --fold-values --require l=2",
        columns={**MISSING, "dx": [("Müller", "Muller")[row % 2] for row in range(40)]},
    ),
    HonestTable(
        name="a selection of adults",
        defence="Every selected row is in a group of ten.",
        command="audit {t} --qi sex,town --where \"age <> '20-29'\" --require k=20",
        columns=OUTCOMES,
    ),
    HonestTable(
        name="empty texts, recoded into Parquet with missing values apart",
        defence="Each sex, the empty one too, has thirteen rows.",
        command="recode {t} --qi sex --nulls distinct --require k=2 --all-text --to {release} --keep-column id",
        columns=EMPTY_TEXTS,
        write=lambda folder: {"release": folder / "release.parquet"},
    ),
]


def _levels(folder: object) -> object:
    from pathlib import Path

    file = Path(str(folder), "levels.csv")
    file.write_text("".join(f"{day:02d}/04/1965;04/1965;1965;*\n" for day in range(1, 6)), encoding="utf-8")
    return file
