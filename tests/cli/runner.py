"""Runs the real command in this process, as a stranger would type it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from sqlaudit.cli import cli


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """Everything on stdout as one line of words."""
        return " ".join(self.out.split())


def run(*arguments: object, env: dict[str, str | None] | None = None) -> Ran:
    """The command with these arguments."""
    ran = CliRunner(env=env).invoke(cli, [str(argument) for argument in arguments], catch_exceptions=False)
    return Ran(ran.exit_code, ran.stdout, ran.stderr)


def write_csv(path: Path, header: str, *rows: str) -> Path:
    """A CSV file with these lines."""
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def as_parquet(file: Path) -> Path:
    """The rows of a CSV file in a Parquet file beside it, for Spark."""
    import duckdb

    made = file.with_suffix(".parquet")
    duckdb.sql(f"FROM read_csv('{file}')").write_parquet(str(made))
    return made


def patients(folder: Path) -> Path:
    """Twelve rows in four classes of age and sex, of 4, 2, 5 and 1 rows; those of 2 and 1 hold a single disease."""
    rows = ["30,F,flu"] * 3 + ["30,F,cold", "30,M,flu", "30,M,flu", "40,F,flu", "40,F,cold", "40,F,ulcer", "40,F,flu"]
    return write_csv(folder / "patients.csv", "age,sex,disease", *rows, "40,M,ulcer", "40,F,cold")
