"""What the gradient is taken with respect to, and what to call it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Source:
    """An input tensor, an input variable, or a variable that the function used by itself."""

    name: str
    value: Any
    captured: bool = False

    @property
    def key(self) -> int:
        """The number of the tensor, or of the variable's handle."""
        return int(getattr(self.value, "handle", self.value)._id)


def prepare(f: Callable[..., Any], inputs: Sequence[Any]) -> tuple[list[Any], list[Source]]:
    """The arguments as TensorFlow values, and those of them that have a gradient to ask for.

    Arrays, NumPy numbers, Python floats and flat lists of them become tensors; integers, strings,
    None and functions are passed on as they are.
    """
    sources: list[Source] = []
    args = []
    for name, value in zip(_argument_names(f, len(inputs)), inputs, strict=True):
        args.append(_convert(value, name, sources, top=True))
    return args, sources


def _argument_names(f: Callable[..., Any], count: int) -> list[str]:
    target = getattr(f, "python_function", f)
    target = getattr(target, "call", target) if hasattr(target, "trainable_variables") else target
    try:
        parameters = list(inspect.signature(target).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names: list[str] = []
    for p in parameters:
        if p.kind is p.VAR_POSITIONAL:
            names += [f"{p.name}[{i}]" for i in range(count - len(names))]
        elif p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            names.append(p.name)
    names += [f"input {i + 1}" for i in range(len(names), count)]
    return names[:count]


def _convert(value: Any, name: str, sources: list[Source], top: bool = False) -> Any:
    if (variable := as_variable(value)) is not None:
        sources.append(Source(name, variable))
        return value
    if isinstance(value, Mapping):
        return {k: _convert(v, f"{name}[{k!r}]", sources) for k, v in value.items()}
    if isinstance(value, list | tuple) and not (top and _numbers(value)):
        items = [_convert(v, f"{name}[{i}]", sources) for i, v in enumerate(value)]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return _convert_leaf(value, name, sources)


def _convert_leaf(value: Any, name: str, sources: list[Source]) -> Any:
    import tensorflow as tf

    if isinstance(value, np.ndarray | np.generic | float | complex | list | tuple):
        value = tf.convert_to_tensor(value)
    if isinstance(value, tf.Tensor):
        if any(s.value is value for s in sources):
            value = tf.identity(value)  # one tensor given twice: two gradients, not their sum
        sources.append(Source(name, value))
    elif isinstance(value, tf.__internal__.CompositeTensor):
        for i, part in enumerate(tf.nest.flatten(value, expand_composites=True)):
            sources.append(Source(f"{name} (component {i})", part))
    return value


def _numbers(values: Sequence[Any]) -> bool:
    plain = type(values) in (list, tuple)  # a namedtuple is a structure, not a vector
    return plain and bool(values) and all(isinstance(v, float | np.floating) for v in values)


def as_variable(value: Any) -> Any:
    """The tf.Variable behind a tf.Variable or a keras.Variable, else None."""
    import tensorflow as tf

    if isinstance(value, tf.Variable):
        return value
    inner = getattr(value, "_value", None)
    return inner if isinstance(inner, tf.Variable) else None


def captured(f: Callable[..., Any], watched: Sequence[Any], known: list[Source]) -> list[Source]:
    """The watched variables that are no inputs, named as the function's code names them."""
    names = dict(_named_variables(f))
    taken = {s.name for s in known}
    found = []
    for variable in watched:
        if any(s.value is variable for s in known):
            continue
        name = base = names.get(id(variable)) or str(variable.name).removesuffix(":0")
        count = 1
        while name in taken:
            count += 1
            name = f"{base} ({count})"
        taken.add(name)
        found.append(Source(name, variable, captured=True))
    return found


def _named_variables(f: Callable[..., Any]) -> Iterator[tuple[int, str]]:
    """(id of variable, name) of all that a function's closure, globals or attributes reach."""
    for name, value in _names_in_scope(f):
        yield from _inside(value, name, depth=2)


def _names_in_scope(f: Callable[..., Any]) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = [("", f)]
    target = inspect.unwrap(getattr(f, "python_function", f))
    owner = getattr(target, "__self__", None)
    if owner is not None:
        found.append(("", owner))
    code = getattr(target, "__code__", None)
    if code is not None:
        for name, cell in zip(code.co_freevars, target.__closure__ or (), strict=False):
            try:
                found.append((name, cell.cell_contents))
            except ValueError:  # a cell that is not filled yet
                continue
        scope = target.__globals__
        found += [(name, scope[name]) for name in code.co_names if name in scope]
    return found


def _inside(value: Any, name: str, depth: int) -> Iterator[tuple[int, str]]:
    variable = as_variable(value)
    if variable is not None:
        yield id(variable), getattr(value, "path", None) or name
    elif hasattr(value, "trainable_variables") and not isinstance(value, type):
        for inner in value.trainable_variables:
            path = getattr(inner, "path", None) or str(inner.name).removesuffix(":0")
            yield id(as_variable(inner)), path
    elif depth and isinstance(value, Mapping):
        for key, inner in list(value.items())[:1000]:
            yield from _inside(inner, f"{name}[{key!r}]", depth - 1)
    elif depth and isinstance(value, list | tuple):
        for i, inner in enumerate(value[:1000]):
            yield from _inside(inner, f"{name}[{i}]", depth - 1)
