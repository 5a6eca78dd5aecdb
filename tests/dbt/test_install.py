"""How a project installs the package: from git, with a subdirectory or as a repository of its own, which dbt's hub has.
(The sample project has it as a local package.)"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.dbt.conftest import ROOT, VERSION, in_words_of, run_dbt

PROJECT = {"name": "shop", "profile": "shop"}
PROFILE = {"shop": {"target": "dev", "outputs": {"dev": {"type": "duckdb", "path": "shop.duckdb"}}}}
SCHEMA = {
    "models": [
        {
            "name": "orders",
            "data_tests": [{"sqlaudit.k_anonymity": {"arguments": {"quasi_identifiers": ["town"], "k": 2}}}],
        }
    ]
}
ORDERS = "select 'here' as town union all select 'here' union all select 'there'"


def published(folder: Path, subdirectory: str) -> str:
    """The address of a git repository that holds the package where this one has it, or at its root, with a tag."""
    if subdirectory:
        shutil.copytree(ROOT / subdirectory, folder / subdirectory)
        (folder / "README.md").write_text("something else in the repository", encoding="utf-8")
    else:
        subprocess.run([sys.executable, ROOT / "docs" / "make_dbt.py", "--hub", folder], check=True)
        assert {"LICENSE", "README.md", "dbt_project.yml", "macros"} == {path.name for path in folder.iterdir()}
    who = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org"]
    for command in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "all"], ["tag", "v1"]):
        subprocess.run(["git", *command], cwd=folder, check=True, stdin=subprocess.DEVNULL)
    return folder.as_uri()


@pytest.mark.parametrize("subdirectory", ["sql_templates/dbt", ""])
def test_from_git(tmp_path: Path, subdirectory: str) -> None:
    address = published(tmp_path / "published", subdirectory)
    shop = tmp_path / "shop"
    (shop / "models").mkdir(parents=True)
    package = {"git": address, "revision": "v1"} | ({"subdirectory": subdirectory} if subdirectory else {})
    for name, content in [
        ("dbt_project.yml", PROJECT),
        ("profiles.yml", PROFILE),
        ("packages.yml", {"packages": [package]}),
        ("models/schema.yml", in_words_of(VERSION, SCHEMA)),
    ]:
        (shop / name).write_text(yaml.safe_dump(content), encoding="utf-8")
    (shop / "models" / "orders.sql").write_text(ORDERS, encoding="utf-8")
    installed = run_dbt(shop, "deps")
    assert installed.returncode == 0, installed.stdout
    assert f"and subdirectory {subdirectory}" in installed.stdout or not subdirectory
    assert (shop / "dbt_packages" / "sqlaudit" / "dbt_project.yml").is_file()
    built = run_dbt(shop, "build")
    assert built.returncode == 1, built.stdout
    assert "FAIL 1 sqlaudit_k_anonymity_orders_2__town" in built.stdout
    assert "Done. PASS=1 WARN=0 ERROR=1" in built.stdout
