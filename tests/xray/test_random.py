"""On random compositions the X-ray agrees with the tape, in eager and in a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.xray import explain

UNARY = {
    "sin": tf.sin,
    "square": tf.square,
    "abs": tf.abs,
    "exp": tf.exp,
    "log": tf.math.log,
    "sqrt": tf.sqrt,
    "floor": tf.floor,
    "round": tf.round,
    "sign": tf.sign,
    "relu": tf.nn.relu,
    "stop": tf.stop_gradient,
    "clip": lambda x: tf.clip_by_value(x, -0.5, 0.5),
    "to int and back": lambda x: tf.cast(tf.cast(x, tf.int32), tf.float32),
    "step": lambda x: tf.cast(x > 0.0, tf.float32),
    "times zero": lambda x: x * 0.0,
    "softmax": tf.nn.softmax,
    "reverse": lambda x: tf.reverse(x, [0]),
    "gather": lambda x: tf.gather(x, [0, 0, 1]),
    "straight through": lambda x: x + tf.stop_gradient(tf.round(x) - x),
    "numpy": lambda x: tf.numpy_function(np.sin, [x], tf.float32),
    "masked": lambda x: tf.where(x > 0.0, tf.math.log(x), 0.0),
}
BINARY = {
    "+": tf.add,
    "-": tf.subtract,
    "*": tf.multiply,
    "/": tf.divide,
    "maximum": tf.maximum,
    "first": lambda a, b: a + 0.0 * tf.stop_gradient(b),
}
VALUES = st.sampled_from([-2.0, -0.5, 0.0, 0.25, 1.0, 3.0])
STEPS = st.lists(
    st.tuples(
        st.sampled_from(sorted(UNARY)),
        st.sampled_from(sorted(BINARY)),
        st.integers(0, 5),
    ),
    min_size=1,
    max_size=7,
)


def build(steps: list[tuple[str, str, int]]) -> Any:
    def f(x, y):
        made = [x, y]
        for unary, binary, pick in steps:
            first = UNARY[unary](made[pick % len(made)])
            first = tf.ensure_shape(first, [3])
            made.append(BINARY[binary](first, made[-1]) if pick % 2 else first)
        return made[-1]

    return f


def by_the_tape(f: Any, x: Any, y: Any) -> dict[str, str]:
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        result = f(x, y)
    return dict(zip("xy", map(_state, tape.gradient(result, [x, y])), strict=True))


def _state(grad: Any) -> str:
    if grad is None:
        return "none"
    values = tf.convert_to_tensor(grad).numpy()
    return "nan" if np.isnan(values).any() else "alive" if values.any() else "zero"


@pytest.mark.filterwarnings("ignore")  # NumPy's, on the values at which log and / are infinite
@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(STEPS, st.lists(VALUES, min_size=6, max_size=6))
def test_agrees_in_eager(steps, values):
    _check(build(steps), values)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(STEPS, st.lists(VALUES, min_size=6, max_size=6))
def test_agrees_in_a_graph(steps, values):
    _check(tf.function(build(steps)), values)


CONTROL = {
    "cond": lambda a, b: tf.cond(a[0] > 0.0, lambda: tf.sin(a), lambda: b * 2.0),
    "cond with floor": lambda a, b: tf.cond(a[0] > 0.0, lambda: tf.floor(a), lambda: a * b),
    "loop": lambda a, b: tf.while_loop(
        lambda i, t: i < 3, lambda i, t: (i + 1, t * tf.tanh(b) + a), [0, a]
    )[1],
    "loop on a value": lambda a, b: tf.while_loop(
        lambda i, t: i < a[0], lambda i, t: (i + 1.0, t * 0.5), [0.0, b]
    )[1],
    "switch": lambda a, b: tf.switch_case(
        tf.cast(tf.abs(a[0]), tf.int32), [lambda: a, lambda: tf.round(b), lambda: a * b]
    ),
    "+": tf.add,
}
CONTROLLED = st.lists(
    st.tuples(st.sampled_from(sorted(UNARY)), st.sampled_from(sorted(CONTROL)), st.integers(0, 5)),
    min_size=1,
    max_size=3,
)


def build_controlled(steps: list[tuple[str, str, int]]) -> Any:
    def f(x, y):
        made = [x, y]
        for unary, control, pick in steps:
            first = tf.ensure_shape(UNARY[unary](made[pick % len(made)]), [3])
            made.append(tf.ensure_shape(CONTROL[control](first, made[-1]), [3]))
        return made[-1]

    return f


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=30, suppress_health_check=list(HealthCheck))
@given(CONTROLLED, st.lists(VALUES, min_size=6, max_size=6), st.booleans())
def test_agrees_on_control_flow(steps, values, traced):
    """Inside a graph a branch that was not taken gives zeros where eager execution gives None."""
    f = build_controlled(steps)
    f = tf.function(f) if traced else f
    x, y = tf.constant(values[:3]), tf.constant(values[3:])
    shown = explain(f, x, y)
    assert shown.status == by_the_tape(f, x, y)
    kinds = {b.kind for bs in shown.blame.values() for b in bs}
    assert not kinds & {"tape_only", "unknown"}
    assert shown.left_out == []


def _check(f: Any, values: list[float]) -> None:
    x, y = tf.constant(values[:3]), tf.constant(values[3:])
    shown = explain(f, x, y)
    assert shown.status == by_the_tape(f, x, y)
    # the walk, which knows nothing of the tape's answer, comes to the same states
    walked = {s.name: shown.flow.state.get(s.key, "none") for s in shown.run.sources}
    assert walked == shown.status
    dead = {name for name, state in shown.status.items() if state != "alive"}
    assert set(shown.blame) == dead
    assert all(b.kind not in ("tape_only", "unknown") for bs in shown.blame.values() for b in bs)
    assert shown.left_out == []
    assert shown.finding in shown._repr_mimebundle_()["text/plain"]
