"""What a traced function is made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def nodes(graph: Any) -> list[Any]:
    """The nodes (NodeDef) of a tf.Graph, those in the bodies of functions that it brings along
    included: a tf.function of the learner's own is one call in the graph, a loop another."""
    made = graph.as_graph_def()
    return [*made.node, *(node for body in made.library.function for node in body.node_def)]


def behind(graph: Any, results: Iterable[Any]) -> list[Any]:
    """The nodes whose values reach the results, in the bodies of functions, too: what was computed
    and dropped, or only had to be run before, is not among them."""
    made = graph.as_graph_def()
    bodies = {body.signature.name: body for body in made.library.function}
    found = _reaching(made.node, [tensor.op.name for tensor in results])
    entered = set[str]()
    for node in found:  # which grows by the bodies that are called
        for name in _called(node):
            if name in bodies and name not in entered:
                entered.add(name)
                found += _reaching(bodies[name].node_def, bodies[name].ret.values())
    return found


def _reaching(nodes: Iterable[Any], ends: Iterable[str]) -> list[Any]:
    """The nodes behind the ends, which are names of outputs ("name:output:0")."""
    named, found, todo = {node.name: node for node in nodes}, dict[str, Any](), list(ends)
    while todo:
        name = todo.pop().partition(":")[0]
        if name in named and name not in found:  # what is not named is an argument, or "^control"
            found[name] = named[name]
            todo += named[name].input
    return list(found.values())


def _called(node: Any) -> list[str]:
    """The names of the functions that a node calls."""
    return [func.name for attr in node.attr.values() for func in (attr.func, *attr.list.func)]
