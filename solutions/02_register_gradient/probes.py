"""Probes of this chapter. They run beside the learner's code and know no answer."""

import random

import numpy as np

from grader.placeholder import Blank
from grader.probe.graphs import behind
from grader.probe.modes import MODES

AGAIN = 130  # so many draws of 1000 random numbers are all different once in 5000 times


def registers(answer, case, mode):
    """Hands over two rules, the first one again and again, and uses the first two names.

    Reports the gradient under each of these two.
    """
    rules = [_scaling(case.inputs["first"]), _scaling(case.inputs["second"])]
    names = [answer(rule) for rule in rules]
    gap = next((name for name in names if isinstance(name, Blank)), None)
    if gap is not None:
        return {"value": gap, "gradient:first": gap, "gradient:second": gap}
    if not all(isinstance(name, str) for name in names):
        return dict.fromkeys(("value", "gradient:first", "gradient:second"), "no text")
    names += [answer(rules[0]) for _ in range(AGAIN)]
    if len(set(names)) < len(names):
        return dict.fromkeys(("value", "gradient:first", "gradient:second"), "one name")
    if _drawn(answer, rules[0]):
        return dict.fromkeys(("value", "gradient:first", "gradient:second"), "drawn name")
    first, second = (_gradient_under(name, case) for name in names[:2])
    return {"value": "two names", "gradient:first": first, "gradient:second": second}


def _drawn(answer, rule):
    """Whether a name comes again once the seeds are set to what they were."""
    states, names = (random.getstate(), np.random.get_state()), set()
    try:
        for _ in range(2):
            random.seed(0)
            np.random.seed(0)
            names.add(answer(rule))
    except KeyError:  # it is taken
        return True
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
    return len(names) < 2


def _scaling(factor):
    def rule(op, grad):
        return factor * grad

    return rule


def _gradient_under(name, case):
    import tensorflow as tf

    @tf.autograph.experimental.do_not_convert
    def handle(x):
        with tf.compat.v1.get_default_graph().gradient_override_map({"Identity": name}):
            return tf.identity(x)

    x = tf.constant(case.inputs["x"])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(handle)(x)
    return tape.gradient(y, x, output_gradients=tf.constant(case.upstream))


def by_numpy(answer, case, mode):
    """Value and gradient; from a graph also the static shape and what computes the value."""
    answers = MODES[mode](answer, case)
    if mode == "graph" and "value" in case.wants:
        answers |= _traced(answer, case)
    return answers


def _traced(answer, case):
    import tensorflow as tf

    with tf.Graph().as_default() as graph:
        y = answer(*(tf.constant(value) for value in case.inputs.values()))
        shape = getattr(y, "shape", None)
    known = shape is not None and shape.rank is not None
    types = {node.op for node in behind(graph, [y] if hasattr(y, "op") else [])}
    by = "TensorFlow"
    if types & {"PyFunc", "PyFuncStateless"}:
        by = "NumPy"
    elif "EagerPyFunc" in types:
        by = "py_function"
    return {"value shape": str(tuple(shape)) if known else "unknown", "value by": by}
