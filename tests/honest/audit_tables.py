"""Honest tables of ordinary audits: classes that meet what is required."""

from __future__ import annotations

from tests.honest.honest_table import HonestTable

TABLES = [
    HonestTable(
        name="ages in bands and sex, ten people each",
        defence="Every combination of band and sex has ten rows, and five are required.",
        command="audit {t} --qi band,sex --sensitive diagnosis --require k=5 --require l=2",
        columns={
            "band": ["20-29"] * 20 + ["30-39"] * 20,
            "sex": ["f", "m"] * 20,
            "diagnosis": ["a", "a", "b", "b"] * 10,
        },
    )
]
