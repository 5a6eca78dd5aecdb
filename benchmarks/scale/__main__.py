"""The command line: see the package."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import benchmarks.scale as package
from benchmarks.scale.measure import of_file, run
from benchmarks.scale.shapes import Shape, generate


def measured(given: argparse.Namespace) -> None:
    """One engine through the grid."""
    largest = given.largest or (100_000_000 if given.engine == "duckdb" else 10_000_000)
    if given.engine == "duckdb":
        run("duckdb", of_file, given.folder, largest, min(largest, 10_000_000))
    elif given.engine == "postgres":
        from benchmarks.scale.postgres import served

        with served() as prepare:
            run("postgres", prepare, given.folder, largest, min(largest, 1_000_000))
    else:
        run("spark", lambda shape, folder: of_file(shape, folder, "spark:local"), given.folder, largest, 1_000_000)


def generated(given: argparse.Namespace) -> None:
    """One table; how much disk it takes is said before."""
    shape = Shape(given.rows, given.classes or max(1, given.rows // 10), given.qis, given.values, given.skew)
    print(f"{shape.name} will take about {shape.bytes / 1e6:,.0f} MB.")
    print(generate(shape, given.folder))


def screened(given: argparse.Namespace) -> None:
    """Sketches against exact counts."""
    from benchmarks.scale.screening import screen

    screen(given.folder, given.rows, given.seeds)


def incremented(given: argparse.Namespace) -> None:
    """Kept histograms against full audits."""
    from benchmarks.scale.increments import increments

    increments(given.folder, given.rows)


def fingerprinted(given: argparse.Namespace) -> None:
    """Proofs that nothing changed against counting again."""
    from benchmarks.scale.fingerprints import fingerprints

    fingerprints(given.folder, given.rows)


def costed(given: argparse.Namespace) -> None:
    """The fitted constants, and what they predict."""
    from benchmarks.scale.forecast import lines

    print("\n".join(lines(given.rows, given.classes or given.rows // 10)))


def tabled(_: argparse.Namespace) -> None:
    """The tables of the page."""
    from benchmarks.scale.tables import lines

    print("\n".join(lines()))


def plotted(_: argparse.Namespace) -> None:
    """The pictures."""
    from benchmarks.scale.plot import plot

    print(*plot(), sep="\n")


COMMANDS = {
    "generate": generated,
    "run": measured,
    "screen": screened,
    "increments": incremented,
    "fingerprints": fingerprinted,
    "cost": costed,
    "tables": tabled,
    "plot": plotted,
}


def arguments() -> argparse.ArgumentParser:
    """What can be asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale",
        description=package.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    default = Path(tempfile.gettempdir()) / "sqlaudit_scale"
    for name, command in COMMANDS.items():
        sub = commands.add_parser(name)
        sub.set_defaults(do=command)
        if name == "run":
            sub.add_argument("engine", choices=("duckdb", "postgres", "spark"))
            sub.add_argument("--largest", type=int)
        elif name == "generate":
            sub.add_argument("--qis", type=int, default=4)
            sub.add_argument("--values", type=int, default=14)
            sub.add_argument("--skew", action="store_true")
        if name in ("generate", "screen", "increments", "fingerprints", "cost"):
            sub.add_argument("--rows", type=int, default=10_000_000_000 if name == "cost" else 10_000_000)
        if name in ("generate", "cost"):
            sub.add_argument("--classes", type=int)
        if name == "screen":
            sub.add_argument("--seeds", type=int, default=30)
        if name not in ("cost", "tables", "plot"):
            sub.add_argument("folder", type=Path, nargs="?", default=default)
    return parser


def main() -> None:
    """Do what was asked for."""
    given = arguments().parse_args()
    if hasattr(given, "folder"):
        given.folder.mkdir(parents=True, exist_ok=True)
    given.do(given)


if __name__ == "__main__":
    main()
