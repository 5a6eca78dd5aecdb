"""Honest synthetic tables: drawn like the people inside, without a look at their rows."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

from tests.honest.honest_table import Columns, HonestTable

Rows = list[dict[str, object]]
JOBS = [f"job {n}" for n in range(12)]
ILLNESSES = ["flu", "asthma", "diabetes", "fracture", "migraine", "anaemia", "eczema", "gout"]


def draw_person(chosen: random.Random) -> dict[str, object]:
    """Draw a person of one population, in which jobs depend on ages, and illnesses on ages and sexes."""
    age = min(89, max(18, round(chosen.gauss(45, 16))))
    sex = chosen.choice("fm")
    return {
        "age": age,
        "band": f"{age // 20 * 20}-{age // 20 * 20 + 19}",
        "sex": sex,
        "zip": f"{1000 + int(chosen.paretovariate(1.2)) % 60:05}",
        "job": JOBS[(age // 8 + chosen.randrange(5)) % 12],
        "region": chosen.choice(("north", "south", "east", "west")),
        "visits": 1 + int(chosen.expovariate(0.6)),
        "income": f"{chosen.lognormvariate(10.3, 0.6):.2f}",
        "crp": f"{chosen.lognormvariate(1, 0.9):.3f}",
        "illness": ILLNESSES[(age // 20 + (sex == "f") + int(chosen.expovariate(0.5))) % 8],
    }


def draw(
    seed: int, rows: int, names: str, change: Callable[[random.Random, int, dict[str, object]], None] = lambda *_: None
) -> Columns:
    """Draw people, and keep the columns with these names.

    Args:
        change: changes a person, given the source of chance and the number of the row.
    """
    chosen = random.Random(seed)
    people: Rows = []
    for number in range(rows):
        person = draw_person(chosen)
        change(chosen, number, person)
        people.append(person)
    return columns_of(people, names.split())


def columns_of(people: Iterable[dict[str, object]], names: Sequence[str]) -> Columns:
    """Return the columns of rows."""
    listed = list(people)
    return {name: [person[name] for person in listed] for name in names}


def lose(share: float, *names: str) -> Callable[[random.Random, int, dict[str, object]], None]:
    """Return a change that leaves out values by chance."""

    def change(chosen: random.Random, _: int, person: dict[str, object]) -> None:
        for name in names:
            if chosen.random() < share:
                person[name] = None

    return change


def number_rows(first: int) -> Callable[[random.Random, int, dict[str, object]], None]:
    """Return a change that numbers the rows."""

    def change(_: random.Random, number: int, person: dict[str, object]) -> None:
        person["id"] = first + number

    return change


def invent_address(domain: str) -> Callable[[random.Random, int, dict[str, object]], None]:
    """Return a change that invents an e-mail address for each row."""

    def change(chosen: random.Random, number: int, person: dict[str, object]) -> None:
        person["mail"] = f"p{chosen.randrange(10**9)}.{number}@{domain}"

    return change


def number_within_region() -> Callable[[random.Random, int, dict[str, object]], None]:
    """Return a change that numbers the rows of each region from 1."""
    seen: dict[object, int] = {}

    def change(_: random.Random, __: int, person: dict[str, object]) -> None:
        seen[person["region"]] = seen.get(person["region"], 0) + 1
        person["case_no"] = seen[person["region"]]

    return change


def stratified(seed: int, rows: int, names: str, by: str) -> tuple[Columns, Columns]:
    """Split people into halves that have as many of each value of a column."""
    chosen = random.Random(seed)
    people = [draw_person(chosen) for _ in range(rows)]
    people.sort(key=lambda person: (str(person[by]), chosen.random()))
    return columns_of(people[::2], names.split()), columns_of(people[1::2], names.split())


DRAWN = "The synthetic rows are an independent draw of the population: none was made from a row of the original."
NO_ROW_COPIED = f"{DRAWN} Incomes to the cent, or readings to three digits, are equal by chance at most."
WITH_INCOME = "age sex zip illness income"
COPIES = "compare {t} {made} --synthetic --qi age,sex,zip --sensitive illness --require exact_copies=0"


def income_in_cents(rows: int, made: int, seed: int, names: str = WITH_INCOME, command: str = COPIES) -> HonestTable:
    """An independent draw with a column of fine numbers."""
    return HonestTable(
        name=f"synthetic: {names}, {made} rows beside {rows}, seed {seed}",
        defence=NO_ROW_COPIED,
        command=command,
        columns=draw(seed, rows, names),
        further={"made": draw(seed + 1000, made, names)},
    )


def disclosure(name: str, command: str, rows: int, made: int, seed: int, names: str, **changes: object) -> HonestTable:
    """An independent draw, with a holdout of as many rows as the original."""
    change: Callable[..., None] = changes.get("change", lambda *_: None)  # type: ignore[assignment]
    outside: int = changes.get("outside", rows)  # type: ignore[assignment]
    return HonestTable(
        name=f"synthetic: {name}",
        defence=DRAWN,
        command=f"compare {{t}} {{made}} --synthetic {command}",
        columns=draw(seed, rows, names, change),
        further={"made": draw(seed + 1000, made, names, change), "others": draw(seed + 2000, outside, names, change)},
    )


def halves(name: str, rows: int, seed: int, names: str, by: str, command: str) -> HonestTable:
    """Halves of people, split by strata; the synthetic table is a draw."""
    inside, outside = stratified(seed, rows, names, by)
    return HonestTable(
        name=f"synthetic: {name}",
        defence=f"{DRAWN} Inside and outside are disjoint halves with as many rows of each {by}.",
        command=f"compare {{t}} {{made}} --synthetic {command}",
        columns=inside,
        further={"made": draw(seed + 1000, rows // 2, names), "others": outside},
    )


ROLES = "--qi age,sex,zip --sensitive illness"
COARSE = "--qi band,sex --sensitive illness"
EXCESS = "--holdout {others} --require excess_disclosure=5%"

TABLES = [
    *(income_in_cents(rows, made, 1) for rows, made in ((60, 60), (300, 300), (1500, 1500), (1500, 300), (300, 1500))),
    income_in_cents(300, 300, 2, "age sex zip illness crp"),
    income_in_cents(1500, 1500, 3, "age sex zip illness crp"),
    income_in_cents(
        300,
        300,
        4,
        "sex band illness income",
        "compare {t} {made} --synthetic --qi sex,band --sensitive illness --require exact_copies=0",
    ),
    income_in_cents(
        1500,
        1500,
        5,
        "sex band illness income crp",
        "compare {t} {made} --synthetic --qi sex,band --sensitive illness --require exact_copies=0",
    ),
    income_in_cents(300, 300, 6, "age sex zip job visits illness income"),
    income_in_cents(1500, 1500, 7, "age sex zip job visits illness income"),
    income_in_cents(400, 400, 8, "age sex zip job region visits illness income crp"),
    HonestTable(
        name="synthetic: rows numbered from 1 in both tables, incomes in cents",
        defence=NO_ROW_COPIED,
        command=COPIES,
        columns=draw(11, 500, f"id {WITH_INCOME}", number_rows(1)),
        further={"made": draw(1011, 500, f"id {WITH_INCOME}", number_rows(1))},
    ),
    HonestTable(
        name="synthetic: rows numbered on, incomes in cents",
        defence=NO_ROW_COPIED,
        command=COPIES,
        columns=draw(12, 500, f"id {WITH_INCOME}", number_rows(1)),
        further={"made": draw(1012, 500, f"id {WITH_INCOME}", number_rows(501))},
    ),
    HonestTable(
        name="synthetic: numbers restart in each region, incomes in cents",
        defence=NO_ROW_COPIED,
        command=COPIES,
        columns=draw(13, 500, f"region case_no {WITH_INCOME}", number_within_region()),
        further={"made": draw(1013, 500, f"region case_no {WITH_INCOME}", number_within_region())},
    ),
    HonestTable(
        name="synthetic: invented addresses, readings and incomes",
        defence=NO_ROW_COPIED,
        command=COPIES,
        columns=draw(14, 500, f"mail crp {WITH_INCOME}", invent_address("clinic.example")),
        further={"made": draw(1014, 500, f"mail crp {WITH_INCOME}", invent_address("made.example"))},
    ),
    HonestTable(
        name="synthetic: incomes in cents, a tenth of them missing in both tables",
        defence=NO_ROW_COPIED,
        command=f"{COPIES.replace('=0', '=20')}",
        columns=draw(15, 300, f"job visits {WITH_INCOME}", lose(0.1, "income")),
        further={"made": draw(1015, 300, f"job visits {WITH_INCOME}", lose(0.1, "income"))},
    ),
    HonestTable(
        name="synthetic: a column without values and a column with one value in both tables",
        defence=NO_ROW_COPIED,
        command=COPIES,
        columns={**draw(16, 300, WITH_INCOME), "note": [None] * 300, "country": ["DE"] * 300},
        further={"made": {**draw(1016, 300, WITH_INCOME), "note": [None] * 300, "country": ["DE"] * 300}},
    ),
    HonestTable(
        name="synthetic: a rare value is not drawn again, incomes in cents",
        defence=NO_ROW_COPIED,
        command=COPIES,
        columns={**draw(17, 300, WITH_INCOME), "rare": ["yes"] + ["no"] * 299},
        further={"made": {**draw(1017, 300, WITH_INCOME), "rare": ["no"] * 300}},
    ),
    disclosure(
        "DiSCO and repU of a draw",
        f"{ROLES} --require disco=10% --require rep_u=5%",
        1500,
        1500,
        21,
        "age sex zip illness",
    ),
    disclosure(
        "DiSCO of a draw with many columns",
        "--qi age,sex,zip,job --sensitive illness --require disco=10%",
        600,
        600,
        22,
        "age sex zip job illness",
    ),
    disclosure(
        "DiSCO of a draw of a tenth of the size", f"{ROLES} --require disco=10%", 2000, 200, 23, "age sex zip illness"
    ),
    disclosure(
        "DiSCO of a draw of five times the size", f"{ROLES} --require disco=10%", 300, 1500, 24, "age sex zip illness"
    ),
    disclosure(
        "fewer known columns of a draw", f"{ROLES} --known 2 --require disco=10%", 1500, 1500, 25, "age sex zip illness"
    ),
    disclosure(
        "fewer known columns and an excess of a draw",
        f"{ROLES} --known 2 {EXCESS}",
        2500,
        2500,
        26,
        "age sex zip illness",
    ),
    disclosure("excess of a draw", f"{ROLES} {EXCESS}", 2500, 2500, 27, "age sex zip illness"),
    disclosure(
        "excess of a draw with jobs",
        f"--qi age,sex,job --sensitive illness {EXCESS}",
        2500,
        2500,
        28,
        "age sex job illness",
    ),
    disclosure(
        "excess of a draw, a holdout of half the size",
        f"{ROLES} {EXCESS}",
        3000,
        3000,
        29,
        "age sex zip illness",
        outside=1500,
    ),
    disclosure("excess of a draw, coarse columns", f"{COARSE} {EXCESS}", 1500, 1500, 30, "band sex illness"),
    disclosure(
        "excess of a draw, coarse columns, a small holdout",
        f"{COARSE} {EXCESS}",
        1500,
        1500,
        31,
        "band sex illness",
        outside=80,
    ),
    disclosure(
        "excess of a draw, four coarse columns",
        f"--qi band,sex,region --sensitive illness {EXCESS}",
        1500,
        1500,
        32,
        "band sex region illness",
    ),
    disclosure(
        "excess of a draw, four coarse columns, a small holdout",
        f"--qi band,sex,region --sensitive illness {EXCESS}",
        1500,
        1500,
        33,
        "band sex region illness",
        outside=60,
    ),
    disclosure(
        "excess of a draw, two coarse columns, a holdout of 30",
        f"--qi sex,region --sensitive illness {EXCESS}",
        1000,
        1000,
        34,
        "sex region illness",
        outside=30,
    ),
    disclosure(
        "excess of a draw, coarse columns, three quarters outside",
        f"{COARSE} {EXCESS}",
        500,
        500,
        35,
        "band sex illness",
        outside=1500,
    ),
    disclosure(
        "excess of a draw, ages in widths",
        f"--qi age,sex --sensitive illness {EXCESS}",
        2000,
        2000,
        36,
        "age sex illness",
    ),
    disclosure(
        "keys and illnesses that are missing in a tenth of the rows",
        f"{ROLES} --require disco=10% --require rep_u=5%",
        1000,
        1000,
        37,
        "age sex zip illness",
        change=lose(0.1, "zip", "illness"),
    ),
    disclosure(
        "keys that are missing in nine tenths of the rows",
        f"{ROLES} --require disco=10% --require rep_u=5%",
        1000,
        1000,
        38,
        "age sex zip illness",
        change=lose(0.9, "zip"),
    ),
    disclosure(
        "zip codes of which many occur once",
        f"--qi sex,zip --sensitive illness {EXCESS}",
        1500,
        1500,
        39,
        "sex zip illness",
    ),
    halves("halves with as many rows of each illness", 5000, 41, "age sex zip illness", "illness", f"{ROLES} {EXCESS}"),
    halves(
        "halves with as many rows of each sex, coarse columns",
        3000,
        42,
        "band sex region illness",
        "sex",
        f"--qi band,sex,region --sensitive illness {EXCESS}",
    ),
    halves(
        "halves with as many rows of each band, coarse columns",
        3000,
        43,
        "band sex illness",
        "band",
        f"{COARSE} {EXCESS}",
    ),
    HonestTable(
        name="synthetic: whole numbers beside the same numbers with a decimal point",
        defence=DRAWN,
        command="compare {t} {made} --synthetic --qi age,sex --sensitive illness --require disco=10%",
        columns=draw(44, 800, "age sex illness"),
        further={"made": draw(1044, 800, "age sex illness", lambda _, __, p: p.update(age=f"{p['age']}.0"))},
    ),
    HonestTable(
        name="synthetic: sexes in capitals, folded",
        defence=DRAWN,
        command="compare {t} {made} --synthetic --qi age,sex --sensitive illness --fold-values --require disco=10%",
        columns=draw(45, 800, "age sex illness"),
        further={"made": draw(1045, 800, "age sex illness", lambda _, __, p: p.update(sex=str(p["sex"]).upper()))},
    ),
    HonestTable(
        name="synthetic: every row is copied, and few are allowed",
        defence="The table is the original.",
        command=f"{COPIES} --require disco=10%",
        columns=draw(46, 300, WITH_INCOME),
        further={"made": draw(46, 300, WITH_INCOME)},
        code=1,
    ),
]
