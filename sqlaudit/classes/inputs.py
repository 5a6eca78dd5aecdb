"""Further inputs of models from a YAML file: categories, orders, trees, class functions, a population table.

One file may serve several audits. Inputs of a sensitive attribute are at the top level if there is only one attribute,
else under `sensitive: {attribute: …}`. Values are read as they are written, never as YAML's types (`yes` and `010` stay
texts). A plain `null`, `~` or an empty value names NULL; `"null"` in quotes is the text. See `docs/inputs.md`.
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
from sqlaudit.base.parameter_names import speaking
from sqlaudit.base.spec import Reading, TableOptions, Target, table_options_from_texts
from sqlaudit.hierarchies.read import read_section, tree_of, tree_of_csv

# Class functions that are curves: by break points, by an expression, or Gompertz's (Hsu, 3.6).
#
# A curve is a tree of operations. Python computes it (exactly, unless it has a root, logarithm or exponential), and a
# template spells it as SQL, so that no statement contains a number that was computed from a value.

Tree = tuple[Any, ...]
"""("x",), ("number", n), (operation, tree, …), or ("points", ((x, y), …))."""
X: Tree = ("x",)
FUNCTIONS: Mapping[str, Callable[..., object]] = {
    "exp": math.exp,
    "ln": math.log,
    "log10": math.log10,
    "sqrt": math.sqrt,
    "abs": abs,
    "least": min,
    "greatest": max,
}
_WITH_TWO_ARGUMENTS = ("least", "greatest")
_OPERATIONS: Mapping[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "power"}
MAX_EXPRESSION_NODES = 200
"""Largest number of syntax nodes of an expression."""
LARGEST_EXACT_POWER = 64
LARGEST_EXACT_BASE_BITS = 512
"""Powers are exact up to this exponent and this size of the base; larger ones are floats."""


@dataclass(frozen=True)
class Curve:
    """A class function of a number.

    Args:
        tree: the operations.
        place: the line of the file.
        ends: the smallest and the largest number that it is defined for; None = all numbers.
    """

    tree: Tree
    place: str
    ends: tuple[Fraction, Fraction] | None = None

    def spelled(self) -> Tree:
        """Return the tree with floats for numbers, as its SQL has them."""
        return _with_floats(self.tree)

    def at(self, value: Fraction) -> Fraction:
        """Return the number for a value.

        Raises:
            UsageError: there is none. The message does not quote the value.
        """
        if self.ends is not None and not self.ends[0] <= value <= self.ends[1]:
            raise UsageError(
                f"{self.place}: a value is outside the break points. Include the smallest and the largest value."
            )
        try:
            return Fraction(_evaluate(self.tree, value))
        except (ArithmeticError, ValueError, TypeError):
            raise UsageError(f"{self.place}: the class function has no number for a value of the table.") from None


def by_points(node: Node) -> Curve:
    """Return the curve of straight lines between break points, from a mapping of values to numbers.

    Raises:
        UsageError: there are fewer than two points, or the numbers fall.
    """
    subject = "'points'"
    points = sorted((exact_number(key, "a break point"), exact_number(y, subject)) for key, y in node.pairs(subject))
    if len(points) < 2 or any(left[0] == right[0] for left, right in pairwise(points)):
        raise node.fail("'points' needs at least two different values, each with a number, for example {0: 0, 100: 1}.")
    if any(left[1] > right[1] for left, right in pairwise(points)):
        raise node.fail("a class function must not fall, but a larger value has a smaller number.")
    return Curve(("points", tuple(points)), node.place, (points[0][0], points[-1][0]))


def gompertz(node: Node) -> Curve:
    """Return the shifted Gompertz distribution, (1 − e^(−b·s)) · e^(−η·e^(−b·s)), with `b` and `eta`.

    Raises:
        UsageError: `b` or `eta` is missing, or not above 0.
    """
    parameters = {
        key.text("a key"): exact_number(value, key.text("a key"), Fraction(0), above=True)
        for key, value in node.pairs("'gompertz'")
    }
    if set(parameters) != {"b", "eta"}:
        raise node.fail("'gompertz' needs b and eta, for example {b: 0.1, eta: 2}.")
    b, eta = (("number", parameters[name]) for name in ("b", "eta"))
    falling: Tree = ("exp", ("negative", ("*", b, X)))
    shape: Tree = ("exp", ("negative", ("*", eta, falling)))
    return Curve(("*", ("-", ("number", Fraction(1)), falling), shape), node.place)


def by_expression(node: Node) -> Curve:
    """Return the curve of an expression over x with + - * / ** and `FUNCTIONS`.

    Raises:
        UsageError: the expression has anything else in it, or is too long.

    Example:
        >>> by_expression(Node("x ** 2 / 4", "here")).at(Fraction(3))
        Fraction(9, 4)
    """
    try:
        parsed = ast.parse(node.text("'expression'").strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise node.fail(_expression_help()) from None
    if sum(1 for _ in ast.walk(parsed)) > MAX_EXPRESSION_NODES:
        raise node.fail("the expression is too long.")
    return Curve(_tree(parsed.body, node), node.place)


def _expression_help() -> str:
    functions = ", ".join(FUNCTIONS)
    return f"the expression of a class function may use x, + - * / ** and {functions}, for example ln(1 + x / 1000)."


def _tree(part: ast.expr, node: Node) -> Tree:
    """Return a parsed expression as a tree. Errors name the line of `node`."""
    match part:
        case ast.Name(id="x"):
            return X
        case ast.Constant(value=int() | float()) if not isinstance(part.value, bool):
            return ("number", exact_number(Node(str(part.value), node.place), "a number of the expression"))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return ("negative", _tree(operand, node))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            return (_OPERATIONS[type(op)], _tree(left, node), _tree(right, node))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            if len(arguments) == (2 if name in _WITH_TWO_ARGUMENTS else 1):
                return (name, *(_tree(argument, node) for argument in arguments))
    raise node.fail(_expression_help())


def _evaluate(tree: Tree, x: Fraction) -> Any:
    """Return the number of a tree for x: a fraction, or a float if a function needs one."""
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
    operands = [_evaluate(part, x) for part in parts]
    return FUNCTIONS[kind](*operands) if kind in FUNCTIONS else _apply_operation(kind, operands)


def _apply_operation(kind: str, operands: Sequence[Any]) -> object:
    """Return the number of an operation. Powers that grow too large for exact arithmetic are floats."""
    if kind == "negative":
        return -operands[0]
    left, right = operands
    if kind == "power":
        is_integer = isinstance(left, Fraction) and isinstance(right, Fraction) and right.denominator == 1
        is_exact = (
            is_integer and abs(right) <= LARGEST_EXACT_POWER and left.numerator.bit_length() <= LARGEST_EXACT_BASE_BITS
        )
        return left ** int(right) if is_exact else math.pow(left, right)
    return {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}[kind](left, right)


def _with_floats(tree: Tree) -> Tree:
    """Return the tree with floats for numbers, as its SQL has them."""
    kind, *parts = tree
    if kind == "number":
        return (kind, float(parts[0]))
    if kind == "points":
        return (kind, tuple((float(x), float(y)) for x, y in parts[0]))
    return (kind, *(_with_floats(part) for part in parts))


@dataclass(frozen=True)
class ValueList:
    """Values that a file names, each once. `place` is the line of the file."""

    names: tuple[Name, ...]
    place: str


@dataclass(frozen=True)
class Numbers:
    """Numbers of values.

    Args:
        values: the number of each named value; None = the numbers follow from the values of the table.
        place: the line of the file.
        curve: the function that computes the numbers from the values; None = there is none.
        distribution: whether each number is the share of the rows whose value is not larger.
    """

    values: Mapping[Name, Fraction] | None
    place: str
    curve: Curve | None = None
    distribution: bool = False

    @property
    def identity(self) -> bool:
        """True if the values themselves are the numbers."""
        return self.values is None and self.curve is None and not self.distribution


@dataclass(frozen=True)
class Distances:
    """The distances of pairs of values. `place` is the line of the file."""

    pairs: Mapping[tuple[Name, Name], Fraction]
    place: str


@dataclass(frozen=True)
class PersonDescription:
    """A person of the population, described by values of columns. `place` is the line of the file."""

    values: Mapping[str, Name]
    place: str


class Inputs(dict[str, Any]):
    """Validated inputs, as `load_inputs` and `read_inputs` return them."""


def load_inputs(path: str | Path) -> Inputs:
    """Read the inputs in a YAML file.

    Args:
        path: the file. Paths under `tree_csv` are relative to it.

    Returns:
        A mapping of the file's keys to validated values.

    Raises:
        InputError: the file cannot be read, or is not YAML.
        UsageError: a key is unknown, or a value has the wrong shape. The message names file and line, never a value.
    """
    root = load_nodes(path)
    return Inputs() if root is None else inputs_from(root, Path(path).parent)


def inputs_from(node: Node, folder: Path) -> Inputs:
    """Read the inputs in a node of another file. Paths under `tree_csv` are relative to the folder.

    Raises:
        UsageError: a key is unknown, or a value has the wrong shape.
    """
    inputs = Inputs(_section(node, {**OF_AN_ATTRIBUTE, **OF_THE_FILE}, folder))
    if "sensitive" in inputs:
        for key in OF_AN_ATTRIBUTE:
            if key in inputs:
                raise UsageError(f"{node.place}: {key!r} is next to 'sensitive'. Put it under its attribute.")
    return inputs


def read_inputs(inputs: Mapping[str, object]) -> Inputs:
    """Read the inputs in a Python mapping. Inputs that were read before are returned unchanged.

    Other than in a file, the population may also be a frame or a `Target`.

    Raises:
        UsageError: a key is unknown, or a value has the wrong shape.

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


def further_targets(inputs: Mapping[str, object], audited: Target) -> tuple[Target, ...]:
    """Return the tables that are read in addition to the audited one: the population, if the inputs name one."""
    inputs = read_inputs(inputs)
    return (population_target(inputs, audited),) if "population" in inputs else ()


def population_target(inputs: Mapping[str, Any], audited: Target) -> Target:
    """Return the population table as a target. Files are read with the options of the audited one, and its own."""
    population: Mapping[str, Any] | Target = inputs["population"]
    reading = audited.reading or Reading(audited.read)
    if isinstance(population, Target):
        return reading.over(population, "population")
    target = Target(
        relation=population.get("table", ""),
        query=population.get("query", ""),
        where=population.get("where", ""),
        label=population.get("table", "") or "the population query",
    )
    return reading.table(target, "population", population.get("read"))


def _section(node: Node, readers: Mapping[str, Reader], folder: Path) -> dict[str, Any]:
    """Return the validated inputs of a section by key, `tree_csv` under `tree`.

    Args:
        node: the section.
        readers: the reader of each key that may be in it.
        folder: the folder of the file.

    Raises:
        UsageError: a key is unknown, or a value has the wrong shape.
    """
    section: dict[str, object] = {}
    for key, value in node.pairs("the file" if readers.keys() & OF_THE_FILE.keys() else "an attribute's section"):
        name = key.text("a key")
        if name not in readers:
            raise key.fail(f"there is no input {name!r}.{closest(name, readers)} Available: {', '.join(readers)}.")
        section["tree" if name == "tree_csv" else name] = readers[name](value, folder)
    if {"tree", "tree_csv"} <= {key.value for key, _ in node.pairs("a section")}:
        raise node.fail("give either 'tree' or 'tree_csv'.")
    if "categories" in section:
        _refuse_overlap(section)
    return section


def _refuse_overlap(section: Mapping[str, Any]) -> None:
    """Raise UsageError if a value is in a category and in the don't-care set."""
    if "dont_care" not in section:
        return
    dont_care = set(section["dont_care"].names)
    for category in section["categories"].values():
        if both := dont_care.intersection(category.names):
            raise UsageError(
                f"{category.place}: {len(both)} of the values of this category are also under 'dont_care'. "
                "A value cannot be in both."
            )


Reader = Callable[[Node, Path], Any]


def _values(node: Node, _: Path, subject: str = "a list of values") -> ValueList:
    names = tuple(item.name(subject) for item in node.items(subject))
    if len(set(names)) < len(names):
        raise node.fail("a value is listed twice.")
    return ValueList(names, node.place)


def _categories(node: Node, folder: Path) -> dict[str, ValueList]:
    pairs = node.pairs("'categories'")
    return {key.text("a category's name"): _values(value, folder, "a category") for key, value in pairs}


def _distances(node: Node, _: Path) -> Distances:
    """Return the distance of each pair of values, which the file has once or in both orders."""
    distances: dict[tuple[Name, Name], Fraction] = {}
    for key, line in node.pairs("'distances'"):
        for other, number in line.pairs("the distances of a value"):
            pair = (key.name("a value"), other.name("a value"))
            distance = distances[pair] = exact_number(number, "a distance", Fraction(0))
            if distances.get(pair[::-1], distance) != distance or (pair[0] == pair[1] and distance):
                raise number.fail("distances must be symmetric, and 0 from a value to itself.")
    return Distances(distances, node.place)


def _positive(subject: str) -> Reader:
    return lambda node, _: exact_number(node, subject, Fraction(0), above=True)


def _numbers(subject: str, lowest: Fraction | None, *, identity: bool) -> Reader:
    """Return a reader of numbers of values.

    Args:
        subject: the input in messages.
        lowest: the smallest number that is allowed; None = any.
        identity: whether the numbers may follow from the values: `identity`, a curve or the distribution.
    """

    def read(node: Node, _: Path) -> Numbers:
        if identity and node.value == "identity":
            return Numbers(None, node.place)
        if identity and (computed := _computed_numbers(node)) is not None:
            return computed
        pairs = node.pairs(subject)
        numbers = {key.name(subject): exact_number(value, subject, lowest) for key, value in pairs}
        return Numbers(numbers, node.place)

    return read


_CURVES = {"points": by_points, "expression": by_expression, "gompertz": gompertz}


def _computed_numbers(node: Node) -> Numbers | None:
    """Return a class function that follows from the values; None if the node lists numbers of values.

    Its only key names the kind of function. A value of the table may have the same name, but then it has a number.
    """
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


def _population(node: Node, _: Path) -> dict[str, Any]:
    if not node.is_mapping:
        return {"table": node.text("'population'")}
    parts: dict[str, Any] = {
        (name := key.text("a key")): _said(value) if name == "read" else value.text("a part of 'population'")
        for key, value in node.pairs("'population'")
    }
    if parts.keys() - {"table", "query", "where", "read"} or ("table" in parts) == ("query" in parts):
        raise node.fail("'population' has a table or a query, and may have a condition: where, and read.")
    return parts


def _said(node: Node) -> TableOptions:
    """Return how the files of one table are read."""
    texts = {
        key.text("a key"): [item.text("'read'") for item in value.items("'read'")]
        if isinstance(value.value, list)
        else value.text("'read'")
        for key, value in node.pairs("'read'")
    }
    try:
        with speaking(lambda field, _: "'read'" if field == "read" else None):
            return table_options_from_texts(texts)
    except UsageError as error:
        raise node.fail(str(error)) from None


def _columns(node: Node, _: Path) -> tuple[str, ...]:
    items = node.items("'original_qi'") if isinstance(node.value, list) else [node]
    return tuple(item.text("a column") for item in items)


def _person(node: Node, _: Path) -> PersonDescription:
    pairs = node.pairs("'person'")
    return PersonDescription(
        {key.text("a column"): value.name("a value of a person") for key, value in pairs}, node.place
    )


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
"""The keys at the top level of a file, each with its reader. Unknown keys are errors."""
