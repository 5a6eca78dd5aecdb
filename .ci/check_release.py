"""What a release publishes, looked at before it is: the wheel has the package and its SQL, and no test.

python .ci/check_release.py FOLDER
"""

from __future__ import annotations

import os
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOREIGN = ("tests/", "docs/", "benchmarks/", "examples/", "docker/", ".ci/", ".github/")


def problems(folder: Path, tag: str = "") -> Iterator[str]:
    """What is wrong with the files of a release, a sentence each."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    if tag and tag != f"v{version}":
        yield f"The tag is {tag}, and the version {version}."
    wheels, sources = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    if [one.name for one in (*wheels, *sources)] != [
        f"sqlaudit-{version}-py3-none-any.whl",
        f"sqlaudit-{version}.tar.gz",
    ]:
        yield f"{folder} holds not just one wheel and one sdist of version {version}."
        return
    with zipfile.ZipFile(wheels[0]) as wheel:
        yield from of_wheel(wheel.namelist(), f"sqlaudit-{version}.dist-info/")
    with tarfile.open(sources[0]) as source:
        names = {name.partition("/")[2] for name in source.getnames()}
    yield from (f"The sdist lacks {name}." for name in ("LICENSE", "README.md", "hatch_build.py") if name not in names)
    if any(name.startswith(".ci/") for name in names):
        yield "The sdist holds .ci/."


def of_wheel(names: list[str], metadata: str) -> Iterator[str]:
    """What is wrong with the names in a wheel: each file and template, and nothing else."""
    package = {f"sqlaudit/{path.relative_to(ROOT / 'sqlaudit').as_posix()}" for path in files(ROOT / "sqlaudit")}
    templates = {
        f"sqlaudit/sql_templates/{path.relative_to(ROOT / 'sql_templates').as_posix()}"
        for path in files(ROOT / "sql_templates")
    }
    included = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    pages = {name for name in included["force-include"].values() if name.startswith("sqlaudit/pages/")}
    wanted = package | templates | pages
    yield from (f"The wheel lacks {name}." for name in sorted(wanted - set(names)))
    other = {name for name in names if not name.startswith((metadata, "sqlaudit/sql_compiled/"))} - wanted
    yield from (f"The wheel holds {name}, which is no part of the package." for name in sorted(other))
    yield from (f"The wheel holds {name}." for name in names if name.startswith(FOREIGN) or "/test_" in name)
    if not any(name.startswith("sqlaudit/sql_compiled/tmpl_") for name in names):
        yield "The wheel has no compiled templates."
    yield from (
        f"The wheel lacks {name}."
        for name in (f"{metadata}licenses/LICENSE", f"{metadata}entry_points.txt")
        if name not in names
    )


def files(folder: Path) -> Iterator[Path]:
    """The files of a folder that git would keep."""
    return (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1]), os.environ.get("EXPECTED_TAG", "")))
    for sentence in found:
        print(sentence, file=sys.stderr)
    if not found:
        print(
            "wheel and sdist are what a release publishes:", *sorted(path.name for path in Path(sys.argv[1]).iterdir())
        )
    sys.exit(1 if found else 0)
