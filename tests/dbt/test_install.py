"""How a project installs the package: from git with a subdirectory. (The sample project has it as a local package.)"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

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


def published(folder: Path) -> str:
    """The address of a git repository that holds the package where this one has it, tagged as a release."""
    shutil.copytree(ROOT / "sql_templates" / "dbt", folder / "sql_templates" / "dbt")
    (folder / "README.md").write_text("something else in the repository", encoding="utf-8")
    who = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org"]
    for command in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "all"], ["tag", "v1"]):
        subprocess.run(["git", *command], cwd=folder, check=True, stdin=subprocess.DEVNULL)
    return folder.as_uri()


def test_from_git_with_a_subdirectory(tmp_path: Path) -> None:
    address = published(tmp_path / "published")
    shop = tmp_path / "shop"
    (shop / "models").mkdir(parents=True)
    packages = {"packages": [{"git": address, "subdirectory": "sql_templates/dbt", "revision": "v1"}]}
    for name, content in [
        ("dbt_project.yml", PROJECT),
        ("profiles.yml", PROFILE),
        ("packages.yml", packages),
        ("models/schema.yml", in_words_of(VERSION, SCHEMA)),
    ]:
        (shop / name).write_text(yaml.safe_dump(content), encoding="utf-8")
    (shop / "models" / "orders.sql").write_text(ORDERS, encoding="utf-8")
    installed = run_dbt(shop, "deps")
    assert installed.returncode == 0, installed.stdout
    assert "and subdirectory sql_templates/dbt" in installed.stdout
    assert (shop / "dbt_packages" / "sqlaudit" / "dbt_project.yml").is_file()
    built = run_dbt(shop, "build")
    assert built.returncode == 1, built.stdout
    assert "FAIL 1 sqlaudit_k_anonymity_orders_2__town" in built.stdout
    assert "Done. PASS=1 WARN=0 ERROR=1" in built.stdout
