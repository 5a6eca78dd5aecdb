"""Tables that several tests of the window release."""

from __future__ import annotations

import random
from pathlib import Path

import pandas
import pyreadstat


def write_survey(file: Path, rows: int) -> tuple[dict[str, dict[float, str]], dict[str, str]]:
    """Write a file of SPSS; return the labels of its values, and the texts that say what its variables are."""
    generator = random.Random(3)
    frame = pandas.DataFrame(
        {
            "gender": [float(generator.choice([1, 2])) for _ in range(rows)],
            "age": [float(generator.randint(18, 70)) for _ in range(rows)],
            "mood": [float(generator.choice([1, 2, 9])) for _ in range(rows)],
        }
    )
    labels = {"gender": {1.0: "woman", 2.0: "man"}, "mood": {1.0: "fine", 2.0: "low", 9.0: "no answer"}}
    texts = {"gender": "Gender of the person", "age": "Age in years", "mood": "How are you?"}
    pyreadstat.write_sav(frame, str(file), variable_value_labels=labels, column_labels=texts)
    return labels, texts
