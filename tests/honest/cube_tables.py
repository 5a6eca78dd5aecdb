"""Honest tables that become cubes: costs, flags and prices of people, with one row each and with several."""

from __future__ import annotations

from collections.abc import Sequence

from tests.honest.honest_table import Columns, HonestTable

REGIONS, SEXES = ("north", "south", "west"), ("f", "m")
BY = "--dimensions region,sex --require threshold=10"


def people(**measures: Sequence[object]) -> Columns:
    """Return 240 people, 40 in each block of region and sex, whose measures go through their values in turn."""
    return {
        "region": [REGIONS[row % 3] for row in range(240)],
        "sex": [SEXES[row // 3 % 2] for row in range(240)],
        **{name: [values[row // 6 % len(values)] for row in range(240)] for name, values in measures.items()},
    }


def visits(**measures: Sequence[object]) -> Columns:
    """Return three visits of each of 120 people, in three months; measures go through their values in turn."""
    return {
        "patient": [visit // 3 for visit in range(360)],
        "region": [REGIONS[visit // 3 % 3] for visit in range(360)],
        "month": [("may", "june", "july")[visit % 3] for visit in range(360)],
        **{name: [values[visit % len(values)] for visit in range(360)] for name, values in measures.items()},
    }


def cube(name: str, defence: str, command: str, columns: Columns, **more: str) -> HonestTable:
    return HonestTable(name, defence, f"cube {{t}} {command}", columns, **more)


VISITS = "--dimensions region,month --entity patient --require threshold=10"
TABLES = [
    cube("numbers of people", "Every block has 40 people.", BY, people()),
    cube(
        "incomes", "Forty people in each block, with many incomes.", f"{BY} --measures income", people(income=range(40))
    ),
    cube(
        "incomes of which no one has most",
        "The largest of 40 similar incomes is no large share.",
        f"{BY} --measures income --require dominance=n:1,k:50 --require p_percent=10",
        people(income=range(1000, 1040)),
    ),
    cube("smokers", "In each block some smoke and some do not.", f"{BY} --measures smokes", people(smokes=(0, 1, 0))),
    cube(
        "smokers in words",
        "As above.",
        f"{BY} --measures \"CASE WHEN smokes = 'yes' THEN 1 ELSE 0 END\"",
        people(smokes=("yes", "no", "no")),
    ),
    cube(
        "a rare event in each block",
        "In each block one of eight has it, and seven have not.",
        f"{BY} --measures fell",
        people(fell=(1, 0, 0, 0, 0, 0, 0, 0)),
    ),
    cube(
        "weights in kilograms with a decimal",
        "As above.",
        f"{BY} --measures weight",
        people(weight=(70.5, 82.25, 64.0)),
    ),
    cube("some incomes are missing", "30 of 40 have one.", f"{BY} --measures income", people(income=(None, 1, 2, 3))),
    cube(
        "some regions are missing",
        "Rows without a region are a block of their own, of 80 people.",
        BY,
        {**people(), "region": [(None, "north", "south")[row % 3] for row in range(240)]},
    ),
    cube(
        "ages at a level",
        "Two bands of ages, each with more than ten people in each region.",
        "--dimensions 'age=20 years,region' --measures income --require threshold=10",
        people(age=range(20, 60), income=range(7)),
    ),
    cube("costs of visits", "Costs differ between visits.", f"{VISITS} --measures cost", visits(cost=range(1, 8))),
    cube(
        "flags of visits",
        "A visit is urgent or not, whoever comes.",
        f"{VISITS} --measures urgent",
        visits(urgent=(1, 0, 0, 1, 0)),
    ),
    cube("visits alone", "Only people are counted.", VISITS, visits()),
    cube(
        "visits of patients who know two others",
        "Twelve people or more in each block.",
        f"{VISITS} --measures cost --known-contributors 2",
        visits(cost=range(1, 8)),
    ),
    cube(
        "one price for everyone",
        "The price is on the door.",
        f"{BY} --measures price",
        people(price=(25,)),
        refused_because="Whether a value may be known is not in the data.",
        settled_by="--uniform keep",
    ),
    cube(
        "one price for all visits",
        "The price is on the door.",
        f"{VISITS} --measures price",
        visits(price=(25,)),
        refused_because="Whether a value may be known is not in the data.",
        settled_by="--uniform keep",
    ),
]
