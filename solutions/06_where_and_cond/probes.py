"""How some exercises are run: only a pair, a loop in the graph, a value exact to the bit?"""

import numpy as np
import tensorflow as tf

from grader.probe.graphs import nodes
from grader.probe.modes import MODES, tensors

LOOPS = frozenset(("While", "StatelessWhile"))


def pairing(answer, case, mode):
    """The values; beside them, whether there are no more than two."""
    answers = MODES[mode](answer, case)
    return answers | {"pair": not any(key.startswith("value[2]") for key in answers)}


def looping(answer, case, mode):
    """Value and gradients; where it is traced, whether the graph holds a loop."""
    answers = MODES[mode](answer, case)
    if mode == "outside" and "value" in case.wants:
        given = tensors(case).values()
        traced = tf.function(answer).get_concrete_function(*given)
        answers["loop"] = any(node.op in LOOPS for node in nodes(traced.graph))
    return answers


def thresholding(answer, case, mode):
    """Value and gradients; beside them, whether the value is exact to the last bit."""
    answers = MODES[mode](answer, case)
    if "value" in case.wants:
        x, level = case.inputs["x"], case.inputs["threshold"]
        kept = np.where(np.greater(x, level), x, np.zeros_like(x))
        answers["exact"] = bool(np.array_equal(np.asarray(answers["value"]), kept))
    return answers
