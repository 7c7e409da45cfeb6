"""What a traced function is made of."""

from __future__ import annotations

from typing import Any


def nodes(graph: Any) -> list[Any]:
    """The nodes (NodeDef) of a tf.Graph, those in the bodies of functions that it brings along
    included: a tf.function of the learner's own is one call in the graph, a loop another."""
    made = graph.as_graph_def()
    return [*made.node, *(node for body in made.library.function for node in body.node_def)]
