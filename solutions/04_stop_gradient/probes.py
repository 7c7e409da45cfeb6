"""What chapter 04 runs beside the learner's code, beyond calling a function of tensors."""

import numpy as np

from grader.contract import Source
from grader.probe.graphs import nodes
from grader.probe.modes import MODES, compile_source


def made_function(answer, case, mode):
    """Builds a function from two, runs it in the mode, and looks at how it was built.

    "bit exact": whether its value is that of `forward`, to the last bit. "gradient made by": what
    its graph says about the gradient, since this exercise is about one tool.
    """
    import tensorflow as tf

    forward = compile_source(case.inputs["forward"])

    @tf.autograph.experimental.do_not_convert
    def built(first, second, x):
        return answer(first, second)(x)

    answers = MODES[mode](built, case)
    if "value" in case.wants:
        answers["bit exact"] = _same_bits(answers["value"], forward, case)
    if "gradient" in case.wants:
        answers["gradient made by"] = _tool(built, case)
    return answers


def _same_bits(value, forward, case):
    import tensorflow as tf

    wanted = forward(tf.constant(case.inputs["x"])).numpy()
    got = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    return got.shape == wanted.shape and bool(np.all(got == wanted))


def _tool(built, case):
    """Says "custom rule" where an op of the traced function brings a gradient of its own."""
    import tensorflow as tf

    given = [
        compile_source(value) if isinstance(value, Source) else value
        for value in case.inputs.values()
    ]
    graph = tf.Graph()
    with graph.as_default():
        built(*given[:-1], tf.constant(given[-1]))
    marked = any("_gradient_op_type" in node.attr for node in nodes(graph))
    return "custom rule" if marked else "stop_gradient"
