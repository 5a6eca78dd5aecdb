"""Print how large the package is, and how well its names speak: python docs/size.py [FOLDER]

Code is what is not blank, comment or docstring. FOLDER is another checkout, for instance one of `git worktree add`. The
last figures are of one small audit, which is run: the functions that it enters, in files of the package.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median

SMALL = 4
"""Private functions of up to so many lines below their `def` that are used once are counted."""
VAGUE = (
    "found one said told made asked given known some wanted shown taken held kept apart beside besides every there more"
    " few whole alike listed place own counted judged"
)
"""Names that do not say what a thing is."""
GENERIC = "item thing data result entry info object element"
"""Names that fit everything; some are at home in any program."""
LONG = 10
"""Private functions of so many lines below their `def`, and more, need a sentence."""
AUDIT = "audit t.csv --qi a,b --sensitive s --require k=5"
RECORDER = """
import enum, json, os, sys, threading
entered, bundles = {}, {}
def is_ours(value):
    return type(value).__module__.startswith("sqlaudit.") and not isinstance(value, enum.Enum) and not callable(value)
def note(frame, event, argument):
    if event == "call":
        code = frame.f_code
        entered.setdefault((code.co_filename, code.co_firstlineno, code.co_qualname))
        for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
            value = frame.f_locals.get(name)
            if is_ours(value):
                parts = getattr(type(value), "__dataclass_fields__", ())
                if sum(is_ours(getattr(value, part, None)) for part in parts) > 1:
                    bundles.setdefault(type(value).__qualname__, set()).add(code.co_filename)
def leave(code):
    sys.setprofile(None)
    print(json.dumps({name: sorted(files) for name, files in bundles.items()}), file=sys.stderr)
    print(json.dumps(list(entered)), file=sys.stderr, flush=True)
    sys.stdout.flush()
    leave_at_once(code)
leave_at_once, os._exit = os._exit, leave
threading.setprofile(note)
sys.setprofile(note)
sys.argv = ["sqlaudit", *sys.argv[1:]]
from sqlaudit.cli import run
try:
    run()
finally:
    leave(0)
"""
"""Runs the command line, and prints the functions that were entered, in the order of their first call."""
_SCOPES = (ast.Module, ast.ClassDef, ast.FunctionDef)


def lines_of(nodes: Iterable[ast.stmt]) -> set[int]:
    """The lines of these statements."""
    return {line for node in nodes for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def code_of(text: str, tree: ast.Module) -> set[int]:
    """The lines of code of a module."""
    documented = [node for node in ast.walk(tree) if isinstance(node, _SCOPES) and ast.get_docstring(node) is not None]
    docstrings = lines_of(node.body[0] for node in documented)
    rows = enumerate(map(str.strip, text.split("\n")), 1)
    return {row for row, line in rows if line and not line.startswith("#") and row not in docstrings}


def is_small(node: ast.stmt, uses: Counter[str]) -> bool:
    """Whether a statement of a module is a private function of few lines that is used once."""
    private = isinstance(node, ast.FunctionDef) and node.name.startswith("_") and uses[node.name] == 1
    return private and (node.end_lineno or 0) - node.lineno <= SMALL


def imports_of(module: str, tree: ast.Module, modules: Iterable[str]) -> set[str]:
    """The modules of the same package, its folders included, that a module imports anywhere."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
    package = module.split(".")[:2]
    return {one for one in found & set(modules) if one != module and one.split(".")[:2] == package}


def circles(imports: dict[str, set[str]]) -> list[set[str]]:
    """Groups of modules that import each other, directly or through others."""
    reached: dict[str, set[str]] = {}
    for start, first in imports.items():
        seen, ahead = set(first), set(first)
        while ahead:
            ahead = {after for one in ahead for after in imports[one]} - seen
            seen |= ahead
        reached[start] = seen
    groups = {frozenset(two for two in reached[one] if one in reached[two]) for one in reached if one in reached[one]}
    return [set(group) for group in groups]


def names_of(tree: ast.Module) -> Iterator[str]:
    """Yield each assigned name and each argument but `self` and `cls`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg) and node.arg not in ("self", "cls"):
            yield node.arg


def private_functions(tree: ast.Module) -> list[ast.FunctionDef]:
    """Return the functions and methods of at least LONG lines whose names begin with one underscore."""
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    private = (node for node in functions if node.name.startswith("_") and not node.name.startswith("__"))
    return [node for node in private if (node.end_lineno or 0) - node.lineno >= LONG]


def road(root: Path) -> tuple[int, int, list[str]]:
    """Run one small audit, and return what a reader of it has to follow.

    Returns:
        The lines of code of the functions that it enters, the number of their files, and its carriers: the dataclasses
        of two or more other objects of the package that arrive as arguments in two or more files, without reports.
    """
    with tempfile.TemporaryDirectory(prefix="sqlaudit-") as folder:
        Path(folder, "t.csv").write_text("a,b,s\n" + "1,x,u\n1,x,v\n" * 5, encoding="utf-8")
        code = f"import sys; sys.path.insert(0, {str(root)!r})\n{RECORDER}"
        command = [sys.executable, "-c", code, *AUDIT.split()]
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    *_, bundles, functions_entered = ran.stderr.splitlines()
    entered = {(Path(file), line) for file, line, _ in json.loads(functions_entered)}
    package = (root / "sqlaudit").resolve()
    code_lines = 0
    files = {file for file, _ in entered if file.resolve().is_relative_to(package) and file.suffix == ".py"}
    entered_files = set()
    for file in files:
        text = file.read_text(encoding="utf-8")
        tree = ast.parse(text)
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        firsts = {line for at, line in entered if at == file}
        bodies = [
            node.body for node in functions if {node.lineno, *(line.lineno for line in node.decorator_list)} & firsts
        ]
        in_bodies = set().union(*map(lines_of, bodies)) & code_of(text, tree)
        code_lines += len(in_bodies)
        if in_bodies:
            entered_files.add(file)
    arrived = {name: [file for file in files if "/reports/" not in file] for name, files in json.loads(bundles).items()}
    return code_lines, len(entered_files), sorted(name for name, files in arrived.items() if len(files) > 1)


def lines(files: Iterable[Path]) -> tuple[int, int]:
    """(files, their lines)."""
    sizes = [len(file.read_text(encoding="utf-8").splitlines()) for file in files]
    return len(sizes), sum(sizes)


def figures(root: Path) -> list[tuple[str, str]]:
    """What is counted of a checkout, with its figure."""
    codes, imported, small, trees, any_words = [], 0, 0, {}, 0
    names: Counter[str] = Counter()
    private: list[ast.FunctionDef] = []
    for path in sorted(root.glob("sqlaudit/**/*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        code = code_of(text, tree)
        codes.append(len(code))
        imported += len(code & lines_of(n for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom))))
        uses = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
        small += sum(is_small(node, uses) for node in tree.body)
        names.update(names_of(tree))
        private += private_functions(tree)
        any_words += len(re.findall(r"\bAny\b", text))
        trees[".".join(path.relative_to(root).with_suffix("").parts)] = tree
    found = circles({module: imports_of(module, tree, trees) for module, tree in trees.items()})
    schemas_there = (file for file in root.glob("sqlaudit/**/*schema.json") if file.name != "policy_schema.json")
    written = (file for file in schemas_there if "generated by docs/" not in file.read_text(encoding="utf-8"))
    silent = sum(ast.get_docstring(node) is None for node in private)
    vague, generic = (sum(names[name] for name in words.split()) / max(1, names.total()) for words in (VAGUE, GENERIC))
    schemas, golden = lines(written), lines(root.glob("tests/base/golden/**/*.sql"))
    return [
        ("lines of code in sqlaudit/", f"{sum(codes):,}"),
        ("modules", f"{len(codes):,}"),
        ("median of their code", f"{median(codes):g}"),
        ("import lines", f"{imported:,} ({imported / sum(codes):.1%} of the code)"),
        (f"private functions of up to {SMALL} lines used once", f"{small:,}"),
        ("JSON schemas written by hand", f"{schemas[0]:,} files, {schemas[1]:,} lines"),
        ("golden SQL", f"{golden[0]:,} files, {golden[1]:,} lines"),
        ("tests, lines of Python", f"{lines(root.glob('tests/**/*.py'))[1]:,}"),
        ("modules in import circles inside packages", ", ".join(map(str, sorted(map(len, found)))) or "0"),
        ("names that say nothing, of all names and arguments", f"{vague:.1%}"),
        ("names such as item, data, result", f"{generic:.1%}"),
        (f"private functions of {LONG} lines and more", f"{len(private):,}, {silent:,} without a sentence"),
        ("the word Any", f"{any_words:,}"),
    ]


if __name__ == "__main__":
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]
    for name, figure in figures(root):
        print(f"{name:<52}{figure}")
    try:
        code_lines, files, carriers = road(root.resolve())
        entered, carried = f"{code_lines:,} lines in {files:,} files", f"{len(carriers)}: {', '.join(carriers)}"
    except subprocess.CalledProcessError:
        entered = carried = "not counted: sqlaudit does not run in this environment"
    print(f"{'functions that one small audit enters':<52}{entered}")
    print(f"{'dataclasses that carry it from file to file':<52}{carried}")
