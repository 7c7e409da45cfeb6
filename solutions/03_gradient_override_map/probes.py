"""Probes of this chapter. They run beside the learner's code and know no answer."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from grader.probe.graphs import nodes
from grader.probe.modes import MODES

OVERRIDE = "_gradient_op_type"  # the attribute that an override leaves on an op


def listed(answer, case, mode):
    """A list of words, also where it comes as an array, a map or a generator.

    A set has no order that could be judged: it is sorted, as others do who lose the order.
    """

    def as_list(*given):
        found = answer(*given)
        if isinstance(found, set | frozenset):
            return sorted(found)
        if isinstance(found, np.ndarray):
            return found.tolist()
        return list(found) if isinstance(found, Iterator) else found

    return MODES[mode](as_list, case)


def mapped(answer, case, mode):
    """Value and gradient; in a graph also whether an op of the asked type carries an override
    that matters."""
    answers = MODES[mode](answer, case)
    if mode == "graph" and "gradient" in case.wants:
        answers["gradient mapped"] = _mapped(answer, case)
    return answers


def _mapped(answer, case):
    import tensorflow as tf

    with tf.Graph().as_default() as graph:
        given = [tf.constant(value) for value in case.inputs.values()]
        ends = given[0], answer(*given)
    found = [node for node in nodes(graph) if node.op == case.options["op"]]
    if not found:
        return "absent"
    carried = any(OVERRIDE in node.attr for node in found)
    return "mapped" if carried and _matters(graph, ends, case) else "plain"


def _matters(graph, ends, case):
    """Whether the gradient from y to x (the ends) is another one without the overrides.

    Those in the body of a function are believed: a call brings along a gradient of its own.
    """
    import tensorflow as tf

    made, op = graph.as_graph_def(), case.options["op"]
    bodies = [node for body in made.library.function for node in body.node_def]
    if not tf.is_tensor(ends[1]) or any(n.op == op and OVERRIDE in n.attr for n in bodies):
        return True
    for node in made.node:
        if node.op == op:
            node.attr.pop(OVERRIDE, None)
    with tf.Graph().as_default() as bare:
        again = tf.import_graph_def(made, return_elements=[end.name for end in ends], name="")
    return not np.array_equal(_slope(graph, ends, case), _slope(bare, again, case))


def _slope(graph, ends, case):
    import tensorflow as tf

    x, y = ends
    with graph.as_default(), tf.compat.v1.Session() as session:
        (slope,) = tf.compat.v1.gradients(y, x, tf.constant(case.upstream))
        return None if slope is None else session.run(slope)


def in_model(answer, case, mode):
    """The function itself, or (part "model") as the activation of a small Keras model."""
    if case.part != "model":
        return MODES[mode](answer, case)
    import keras

    kernel, head = case.inputs["kernel"], case.inputs["head"]
    model = keras.Sequential(
        [
            keras.Input((kernel.shape[0],)),
            keras.layers.Dense(kernel.shape[1], activation=answer, use_bias=False),
            keras.layers.Dense(head.shape[1], use_bias=False),
        ]
    )
    model.set_weights([kernel, head])
    return MODES[mode](model, replace(case, inputs={"x": case.inputs["x"]}))


def in_fit(answer, case, mode):
    """The function itself, or (part "fit") as the quantiser of a kernel in one epoch of fit."""
    if case.part != "fit":
        return MODES[mode](answer, case)
    import keras
    import tensorflow as tf

    start = case.inputs["kernel"]

    class Binary(keras.layers.Layer):
        def build(self, shape):
            self.kernel = self.add_weight(shape=start.shape, name="kernel")

        def call(self, x):
            return tf.matmul(x, answer(tf.convert_to_tensor(self.kernel)))

    model = keras.Sequential([keras.Input((start.shape[0],)), Binary()])
    model.set_weights([start])
    x, y = case.inputs["x"], case.inputs["y"]
    optimizer = keras.optimizers.SGD(case.inputs["rate"])
    model.compile(optimizer=optimizer, loss="mse", jit_compile=False)
    model.fit(x, y, batch_size=len(x), epochs=1, verbose=0)
    return {"kernel": model.get_weights()[0]}
