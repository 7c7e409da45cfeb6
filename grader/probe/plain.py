"""Whether AutoGraph would leave a function's meaning as it is, and so need not rewrite it.

Rewriting takes AutoGraph 20 to 150 ms a function, mostly to find that there is nothing to do: it
changes branches, loops, logic, assertions and some builtins, and looks at every call for functions
that have them. A function is plain if its text holds none of these, if it calls only TensorFlow,
NumPy and functions that are plain as well, and if it gets hold of nothing that has methods of
anybody else's. Wherever that is not certain, it is not.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import textwrap
from collections.abc import Iterable
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

# What AutoGraph rewrites is not among these.
KNOWN = tuple(getattr(ast, name) for name in """
FunctionDef arguments arg Return Assign AugAssign AnnAssign Expr Pass With withitem Nonlocal
Call keyword Starred Lambda Name Attribute Constant JoinedStr FormattedValue
BinOp operator UnaryOp unaryop Compare cmpop Subscript Slice Tuple List Dict Set
ListComp GeneratorExp DictComp comprehension expr_context
""".split())  # fmt: skip
UNKNOWN = object()


def plain(f: Any, arguments: Iterable[Any] = ()) -> bool:
    """Whether a call of `f` does what a call of AutoGraph's version of it would do.

    arguments: what it is to be called with; anything but tensors, arrays and plain values among
    them may bring code along that nobody has looked at.
    """
    return all(map(_is_data, arguments)) and _plain(f, set())


def _plain(f: Any, seen: set[Any]) -> bool:
    if not isinstance(f, FunctionType) or f.__dict__:  # a decorator leaves its mark there
        return False
    if f in seen:
        return True  # it calls itself, or one that calls it
    seen.add(f)
    if not all(map(_is_data, (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()))):
        return False
    nodes = _text(f.__code__)
    return bool(nodes) and _Names(f, nodes, seen).left_alone()


@lru_cache(maxsize=256)
def _text(code: CodeType) -> tuple[ast.AST, ...]:
    """What the `def` of a function consists of; nothing if AutoGraph rewrites any of it, for a
    lambda, under a decorator, and where the source cannot be had."""
    linecache.checkcache(code.co_filename)  # a module may have been written again, and reloaded
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    try:
        body = ast.parse(textwrap.dedent("".join(inspect.getblock(lines)))).body
    except (SyntaxError, ValueError, IndexError, RecursionError):
        return ()
    found = body[0] if body else None
    if not isinstance(found, ast.FunctionDef) or found.name != code.co_name:
        return ()
    nodes = tuple(ast.walk(found))
    return nodes if not found.decorator_list and all(map(_known, nodes)) else ()


def _known(node: ast.AST) -> bool:
    """Whether AutoGraph leaves this node alone."""
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Not)
    if isinstance(node, ast.Compare):
        return len(node.ops) == 1  # more of them have an `and` between them
    if isinstance(node, ast.comprehension):
        return not node.ifs and not node.is_async
    return isinstance(node, KNOWN)


def _is_data(value: Any) -> bool:
    """Whether a value has no methods but TensorFlow's, NumPy's and Python's own."""
    kind = type(value)
    if kind in (list, tuple):
        return all(map(_is_data, value))
    if kind is dict:
        return all(map(_is_data, value.values()))
    if kind.__module__ == "builtins":  # UNKNOWN's, too
        return kind in (int, float, complex, bool, str, type(None))
    return kind.__module__.partition(".")[0] in ("tensorflow", "numpy")


class _Names:
    """What the names in one function's text stand for, and what of that is called."""

    def __init__(self, f: FunctionType, nodes: tuple[ast.AST, ...], seen: set[Any]) -> None:
        self.f, self.nodes, self.seen = f, nodes, seen
        defined = [node for node in nodes[1:] if isinstance(node, ast.FunctionDef)]
        stored = {node.id for node in nodes
                  if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}  # fmt: skip
        stored |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        self.inner = {node.name for node in defined} - stored
        self.local = stored | self.inner
        self.decorators = [each for node in defined for each in node.decorator_list]

    def left_alone(self) -> bool:
        """Whether AutoGraph would change nothing in any of what is called."""
        called = [node.func for node in self.nodes if isinstance(node, ast.Call)]
        named = [each for each in self.decorators if not isinstance(each, ast.Call)]
        within = [node.value for node in self.nodes if isinstance(node, ast.Attribute)]
        chains = [node for node in self.nodes
                  if isinstance(node, ast.Name | ast.Attribute) and node not in within]  # fmt: skip
        return all(map(self._known, chains)) and all(map(self._harmless, called + named))

    def _known(self, chain: ast.expr) -> bool:
        """Whether what `a.b.c` stands for has no methods of its own. With that none of the
        function's own variables can have any."""
        root, path = _chain(chain)
        if root is None:
            return True  # an attribute of a result
        found = self._outside(root)
        if root in self.local:
            # Where the name also stands for something outside, it may be that which is meant.
            return found is UNKNOWN or _is_data(found)
        if not _is_data(found):
            found = self._attribute(found, path)
        return _is_data(found) or isinstance(found, FunctionType) or self._untouched(found)

    def _harmless(self, called: ast.expr) -> bool:
        """Whether AutoGraph leaves alone what is called."""
        root, path = _chain(called)
        if root is None or root in self.local:
            # A method of a result, be it a tensor's, a shape's or a list's; or one of its own.
            return bool(path) or root in self.inner
        found = self._outside(root)
        if path and not isinstance(found, ModuleType):
            return False
        return self._untouched(self._attribute(found, path))

    @staticmethod
    def _attribute(found: Any, path: list[str]) -> Any:
        for name in path:
            found = getattr(found, name, UNKNOWN)
        return found

    def _outside(self, name: str) -> Any:
        """What a name stands for around the function."""
        cells = dict(zip(self.f.__code__.co_freevars, self.f.__closure__ or (), strict=True))
        if name in cells:
            try:
                return cells[name].cell_contents
            except ValueError:  # not assigned yet
                return UNKNOWN
        return self.f.__globals__.get(name, getattr(builtins, name, UNKNOWN))

    def _untouched(self, found: Any) -> bool:
        """Whether AutoGraph calls it as it is, or would find nothing to change in it."""
        from tensorflow.python.autograph.impl import conversion
        from tensorflow.python.autograph.operators import py_builtins
        from tensorflow.python.autograph.pyct import inspect_utils

        if found is UNKNOWN:
            return False
        if inspect_utils.isbuiltin(found):
            special = (eval, exec, super, globals, locals)
            return py_builtins.overload_of(found) is found and found not in special
        return bool(conversion.is_allowlisted(found)) or _plain(found, self.seen)


def _chain(place: ast.expr) -> tuple[str | None, list[str]]:
    """`a.b.c` as its first name and the others; None for the first where it is no name."""
    path: list[str] = []
    while isinstance(place, ast.Attribute):
        path.insert(0, place.attr)
        place = place.value
    return (place.id if isinstance(place, ast.Name) else None), path
