"""Further inputs of models from a YAML file: categories, orders, trees, class functions, a population table.

One file may serve several audits. What belongs to one sensitive attribute stands at the top level when there is only
one, else under `sensitive: {attribute: …}`. Values are taken as they are written, never as YAML's types (`yes` and
`010` stay texts); a plain `null`, `~` or nothing names NULL, `"null"` in quotes the text. `docs/inputs.md` has it all.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from sqlaudit.base.errors import UsageError
from sqlaudit.base.frozen import dataclass
from sqlaudit.base.names import closest
from sqlaudit.base.nodes import Name, Node, exact_number, load_nodes, nodes_of
from sqlaudit.base.spec import Target
from sqlaudit.hierarchies.read import read_section, tree_of, tree_of_csv

# Class functions that are curves: by break points, by an expression, or Gompertz's (Hsu, 3.6).
#
# A curve is a tree of operations, which Python computes (exactly, as long as no root, logarithm or exponential is in
# it) and a template spells as SQL, so that no statement has to hold a number that was made from a value.

Tree = tuple[Any, ...]
"""("x",), ("number", n), (operation, tree, …), or ("points", ((x, y), …))."""
X: Tree = ("x",)
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "exp": math.exp,
    "ln": math.log,
    "log10": math.log10,
    "sqrt": math.sqrt,
    "abs": abs,
    "least": min,
    "greatest": max,
}
_OF_TWO = ("least", "greatest")
_OPERATIONS: Mapping[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "power"}
MOST_PARTS = 200
LARGEST_POWER = 64
"""Whole powers up to this are exact."""
LARGEST_BASE = 512
"""Of numbers with so many bits."""


@dataclass(frozen=True)
class Curve:
    """A class function of a number. `ends`: the numbers between which it is known, None = everywhere."""

    tree: Tree
    place: str
    ends: tuple[Fraction, Fraction] | None = None

    def spelled(self) -> Tree:
        """The tree with the numbers that its SQL holds."""
        return _as_floats(self.tree)

    def at(self, value: Fraction) -> Fraction:
        """Its number for a value.

        Raises:
            UsageError: it has none there. The sentence does not quote the value.
        """
        if self.ends is not None and not self.ends[0] <= value <= self.ends[1]:
            raise UsageError(
                f"{self.place}: a value is outside the break points. Include the smallest and the largest value."
            )
        try:
            return Fraction(_value(self.tree, value))
        except (ArithmeticError, ValueError, TypeError):
            raise UsageError(f"{self.place}: the class function has no number for a value of the table.") from None


def by_points(node: Node) -> Curve:
    """Straight lines between break points: a mapping of values to numbers.

    Raises:
        UsageError: fewer than two points, or a number that falls.
    """
    what = "'points'"
    points = sorted((exact_number(key, "a break point"), exact_number(y, what)) for key, y in node.pairs(what))
    if len(points) < 2 or any(left[0] == right[0] for left, right in pairwise(points)):
        raise node.fail("'points' needs at least two different values, each with a number, for example {0: 0, 100: 1}.")
    if any(left[1] > right[1] for left, right in pairwise(points)):
        raise node.fail("a class function must not fall, but a larger value has a smaller number.")
    return Curve(("points", tuple(points)), node.place, (points[0][0], points[-1][0]))


def gompertz(node: Node) -> Curve:
    """The shifted Gompertz distribution, (1 − e^(−b·s)) · e^(−η·e^(−b·s)), with `b` and `eta`.

    Raises:
        UsageError: one of them is missing, or not above 0.
    """
    given = {
        key.text("a key"): exact_number(value, key.text("a key"), Fraction(0), above=True)
        for key, value in node.pairs("'gompertz'")
    }
    if set(given) != {"b", "eta"}:
        raise node.fail("'gompertz' needs b and eta, for example {b: 0.1, eta: 2}.")
    b, eta = (("number", given[name]) for name in ("b", "eta"))
    falling: Tree = ("exp", ("negative", ("*", b, X)))
    shape: Tree = ("exp", ("negative", ("*", eta, falling)))
    return Curve(("*", ("-", ("number", Fraction(1)), falling), shape), node.place)


def by_expression(node: Node) -> Curve:
    """An expression over x: + - * / ** and `FUNCTIONS`.

    Raises:
        UsageError: anything else stands in it.

    Example:
        >>> by_expression(Node("x ** 2 / 4", "here")).at(Fraction(3))
        Fraction(9, 4)
    """
    try:
        parsed = ast.parse(node.text("'expression'").strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise node.fail(_what_it_takes()) from None
    if sum(1 for _ in ast.walk(parsed)) > MOST_PARTS:
        raise node.fail("the expression is too long.")
    return Curve(_tree(parsed.body, node), node.place)


def _what_it_takes() -> str:
    named = ", ".join(FUNCTIONS)
    return f"the expression of a class function may use x, + - * / ** and {named}, for example ln(1 + x / 1000)."


def _tree(part: ast.expr, node: Node) -> Tree:
    match part:
        case ast.Name(id="x"):
            return X
        case ast.Constant(value=int() | float()) if not isinstance(part.value, bool):
            return ("number", exact_number(Node(str(part.value), node.place), "a number of the expression"))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return ("negative", _tree(operand, node))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            return (_OPERATIONS[type(op)], _tree(left, node), _tree(right, node))
        case ast.Call(func=ast.Name(id=name), args=given, keywords=[]) if name in FUNCTIONS:
            if len(given) == (2 if name in _OF_TWO else 1):
                return (name, *(_tree(one, node) for one in given))
    raise node.fail(_what_it_takes())


def _value(tree: Tree, x: Fraction) -> Any:
    kind, *parts = tree
    if kind == "x":
        return x
    if kind == "number":
        return parts[0]
    if kind == "points":
        points = parts[0]
        for (left, low), (right, high) in pairwise(points):
            if x <= right:
                return low + (high - low) * (x - left) / (right - left)
        return points[-1][1]
    found = [_value(part, x) for part in parts]
    return FUNCTIONS[kind](*found) if kind in FUNCTIONS else _computed(kind, found)


def _computed(kind: str, found: Sequence[Any]) -> Any:
    if kind == "negative":
        return -found[0]
    one, other = found
    if kind == "power":
        whole = isinstance(one, Fraction) and isinstance(other, Fraction) and other.denominator == 1
        small = whole and abs(other) <= LARGEST_POWER and one.numerator.bit_length() <= LARGEST_BASE
        return one ** int(other) if small else math.pow(one, other)
    return {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}[kind](one, other)


def _as_floats(tree: Tree) -> Tree:
    """The tree with the numbers that its SQL holds."""
    kind, *parts = tree
    if kind == "number":
        return (kind, float(parts[0]))
    if kind == "points":
        return (kind, tuple((float(x), float(y)) for x, y in parts[0]))
    return (kind, *(_as_floats(part) for part in parts))


@dataclass(frozen=True)
class ValueList:
    """Values that a file names, each once, and where."""

    names: tuple[Name, ...]
    place: str


@dataclass(frozen=True)
class Numbers:
    """A number for each of some values.

    Args:
        values: the numbers; None = they follow from the values themselves: they are these, or the curve makes them.
        distribution: each number is the share of the rows whose value is not larger.
    """

    values: Mapping[Name, Fraction] | None
    place: str
    curve: Curve | None = None
    distribution: bool = False

    @property
    def identity(self) -> bool:
        """Whether the values themselves are the numbers."""
        return self.values is None and self.curve is None and not self.distribution


@dataclass(frozen=True)
class Distances:
    """How far apart some pairs of values are."""

    pairs: Mapping[tuple[Name, Name], Fraction]
    place: str


@dataclass(frozen=True)
class Stated:
    """A person of the population, by the values of columns."""

    values: Mapping[str, Name]
    place: str


class Inputs(dict[str, Any]):
    """Inputs that were checked: what `load_inputs` and `read_inputs` give."""


def load_inputs(path: str | Path) -> Inputs:
    """The inputs in a YAML file.

    Args:
        path: the file; `tree_csv` in it is relative to the file.

    Returns:
        A mapping of the keys that the file has to checked values.

    Raises:
        InputError: the file cannot be read, or is not YAML.
        UsageError: an unknown key or a value of the wrong shape; the sentence names file and line, never a value.
    """
    root = load_nodes(path)
    return Inputs() if root is None else inputs_from(root, Path(path).parent)


def inputs_from(node: Node, folder: Path) -> Inputs:
    """The inputs that a node of another file holds; `tree_csv` in it is relative to the folder.

    Raises:
        UsageError: as `load_inputs`.
    """
    inputs = Inputs(_section(node, {**OF_AN_ATTRIBUTE, **OF_THE_FILE}, folder))
    if "sensitive" in inputs:
        for key in OF_AN_ATTRIBUTE:
            if key in inputs:
                raise UsageError(f"{node.place}: {key!r} is next to 'sensitive'. Put it under its attribute.")
    return inputs


def read_inputs(inputs: Mapping[str, Any]) -> Inputs:
    """The same from a Python mapping; what `load_inputs` gave comes back unchanged.

    The population may be a frame or a `Target` here, too.

    Raises:
        UsageError: as `load_inputs`.

    Example:
        >>> read_inputs({"dont_care": ["cold", None]})["dont_care"].names
        ('cold', None)
    """
    if isinstance(inputs, Inputs):
        return inputs
    frame = inputs.get("population")
    if frame is None or isinstance(frame, str | Path | Mapping):
        return inputs_from(nodes_of(inputs), Path())
    rest = {key: value for key, value in inputs.items() if key != "population"}
    target = frame if isinstance(frame, Target) else Target(frame=frame, label="the population frame")
    return Inputs(inputs_from(nodes_of(rest), Path()), population=target)


def further_targets(inputs: Mapping[str, Any], audited: Target) -> tuple[Target, ...]:
    """Return what is read besides the audited table: the population table, if the inputs name one."""
    inputs = read_inputs(inputs)
    return (population_target(inputs, audited),) if "population" in inputs else ()


def population_target(inputs: Mapping[str, Any], audited: Target) -> Target:
    """The population table as a target; files are read as the audited one is."""
    given: Mapping[str, str] | Target = inputs["population"]
    if isinstance(given, Target):
        return given
    return Target(
        relation=given.get("table", ""),
        query=given.get("query", ""),
        where=given.get("where", ""),
        read=audited.read,
        label=given.get("table", "") or "the population query",
    )


def _section(node: Node, known: Mapping[str, Reader], folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in node.pairs("the file" if known.keys() & OF_THE_FILE.keys() else "an attribute's section"):
        name = key.text("a key")
        if name not in known:
            raise key.fail(f"there is no input {name!r}.{closest(name, known)} There are: {', '.join(known)}.")
        found["tree" if name == "tree_csv" else name] = known[name](value, folder)
    if {"tree", "tree_csv"} <= {key.value for key, _ in node.pairs("a section")}:
        raise node.fail("give either 'tree' or 'tree_csv'.")
    if "categories" in found:
        _refuse_overlap(found)
    return found


def _refuse_overlap(section: Mapping[str, Any]) -> None:
    if "dont_care" not in section:
        return
    unwatched = set(section["dont_care"].names)
    for listed in section["categories"].values():
        if both := unwatched.intersection(listed.names):
            raise UsageError(
                f"{listed.place}: {len(both)} of the values of this category are also under 'dont_care'. "
                "A value cannot be in both."
            )


Reader = Callable[[Node, Path], Any]


def _values(node: Node, _: Path, what: str = "a list of values") -> ValueList:
    names = tuple(item.name(what) for item in node.items(what))
    if len(set(names)) < len(names):
        raise node.fail("a value is listed twice.")
    return ValueList(names, node.place)


def _categories(node: Node, folder: Path) -> dict[str, ValueList]:
    pairs = node.pairs("'categories'")
    return {key.text("a category's name"): _values(value, folder, "a category") for key, value in pairs}


def _distances(node: Node, _: Path) -> Distances:
    """A distance for each pair of values, written once or in both orders."""
    found: dict[tuple[Name, Name], Fraction] = {}
    for key, line in node.pairs("'distances'"):
        for other, number in line.pairs("the distances of a value"):
            pair = (key.name("a value"), other.name("a value"))
            found[pair] = exact_number(number, "a distance", Fraction(0))
            if found.get(pair[::-1], found[pair]) != found[pair] or (pair[0] == pair[1] and found[pair]):
                raise number.fail("distances must be symmetric, and 0 from a value to itself.")
    return Distances(found, node.place)


def _positive(what: str) -> Reader:
    return lambda node, _: exact_number(node, what, Fraction(0), above=True)


def _numbers(what: str, lowest: Fraction | None, *, identity: bool) -> Reader:
    def read(node: Node, _: Path) -> Numbers:
        if identity and node.value == "identity":
            return Numbers(None, node.place)
        if identity and (curved := _curved(node)) is not None:
            return curved
        pairs = node.pairs(what)
        return Numbers({key.name(what): exact_number(value, what, lowest) for key, value in pairs}, node.place)

    return read


_CURVES = {"points": by_points, "expression": by_expression, "gompertz": gompertz}


def _curved(node: Node) -> Numbers | None:
    """A class function that is no list of values: its only key says of which kind, and has no number."""
    if not node.is_mapping or len(pairs := node.pairs("'class_function'")) != 1:
        return None
    ((key, value),) = pairs
    if key.value == "distribution" and value.value == "table":
        return Numbers(None, node.place, distribution=True)
    if key.value not in _CURVES or (isinstance(value.value, str) and _is_number(value.value)):
        return None
    return Numbers(None, node.place, _CURVES[str(key.value)](value))


def _is_number(text: str) -> bool:
    try:
        Decimal(text)
    except InvalidOperation:
        return False
    return True


def _population(node: Node, _: Path) -> dict[str, str]:
    if not node.is_mapping:
        return {"table": node.text("'population'")}
    found = {key.text("a key"): value.text("a part of 'population'") for key, value in node.pairs("'population'")}
    if found.keys() - {"table", "query", "where"} or ("table" in found) == ("query" in found):
        raise node.fail("'population' has a table or a query, and may have a condition: where.")
    return found


def _columns(node: Node, _: Path) -> tuple[str, ...]:
    items = node.items("'original_qi'") if isinstance(node.value, list) else [node]
    return tuple(item.text("a column") for item in items)


def _person(node: Node, _: Path) -> Stated:
    pairs = node.pairs("'person'")
    return Stated({key.text("a column"): value.name("a value of a person") for key, value in pairs}, node.place)


def _attributes(node: Node, folder: Path) -> dict[str, dict[str, Any]]:
    pairs = node.pairs("'sensitive'")
    return {key.text("an attribute's name"): _section(value, OF_AN_ATTRIBUTE, folder) for key, value in pairs}


OF_AN_ATTRIBUTE: Mapping[str, Reader] = {
    "categories": _categories,
    "dont_care": _values,
    "must_occur": _values,
    "order": _values,
    "tree": tree_of,
    "tree_csv": tree_of_csv,
    "class_function": _numbers("'class_function'", None, identity=True),
    "distances": _distances,
    "width": _positive("'width'"),
    "kappa": _positive("'kappa'"),
    "alpha": _numbers("'alpha'", Fraction(0), identity=False),
}
OF_THE_FILE: Mapping[str, Reader] = {
    "sensitive": _attributes,
    "population": _population,
    "original_qi": _columns,
    "person": _person,
    "hierarchies": read_section,
}
"""Sections of later commands join here; an unknown key stays an error."""
