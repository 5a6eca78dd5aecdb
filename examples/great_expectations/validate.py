"""Run the statements of `sqlaudit compile --returns failing-rows` as expectations; exit with 1 if one fails.

python validate.py statements sqlite:///clinic.sqlite
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

import great_expectations as gx
from great_expectations.expectations import UnexpectedRowsExpectation


def expectations(folder: Path) -> dict[str, list[UnexpectedRowsExpectation]]:
    """Expectations by table: a statement returns no row if its requirement is met."""
    found = defaultdict(list)
    for path in sorted(folder.glob("*.sql")):
        table, _, test = path.stem.rpartition("__")[0].partition("__")
        statement = path.read_text(encoding="utf-8").replace("{", "{{").replace("}", "}}")  # not parameters
        found[table].append(UnexpectedRowsExpectation(unexpected_rows_query=statement, meta={"test": test}))
    if not found:
        raise SystemExit(f"{folder} contains no statement. Run `sqlaudit compile` first; see README.md.")
    return found


def main(folder: Path, database: str) -> int:
    """The exit code: 0 if every table meets every expectation."""
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    source = context.data_sources.add_sqlite("clinic", connection_string=database)
    failed = False
    for table, asked in expectations(folder).items():
        batch = source.add_table_asset(table, table_name=table).add_batch_definition_whole_table("all")
        suite = gx.ExpectationSuite(table, expectations=asked)
        checked = batch.get_batch().validate(suite)
        for one in checked.results:
            print(table, one.expectation_config.meta["test"], "holds" if one.success else "FAILS")
        failed = failed or not checked.success
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
