"""Writes sqlaudit/gates/policy_schema.json, the JSON Schema of policies, from the registry of models.

python docs/make_policy_schema.py           write the file
python docs/make_policy_schema.py --print   print it
"""

from __future__ import annotations

import sys
from pathlib import Path

from sqlaudit.gates.schema import policy_schema
from sqlaudit.reports.formats import render_json

FILE = Path(__file__).parents[1] / "sqlaudit" / "gates" / "policy_schema.json"


def main() -> None:
    """Write or print the schema."""
    text = render_json(policy_schema())
    if "--print" in sys.argv[1:]:
        sys.stdout.write(text)
    else:
        FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
