"""`explain` says what `tape.gradient` says, and names the right operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from grader.xray import Xray, explain

X = tf.constant([1.5, -2.25])
AT_ZERO = tf.constant([0.0, 2.0])
VARIABLE = tf.Variable([1.0, 2.0], name="variable")


@tf.RegisterGradient("XrayFive")
def _five(op: Any, grad: Any) -> Any:
    return 5.0 * grad


@tf.RegisterGradient("XrayNone")
def _none(op: Any, grad: Any) -> Any:
    return None


def override(mapping: dict[str, str]) -> Any:
    return tf.compat.v1.get_default_graph().gradient_override_map(mapping)


@tf.custom_gradient
def straight_through(x):
    return tf.round(x), lambda upstream: upstream


@tf.custom_gradient
def says_none(x):
    return x * 1.0, lambda upstream: None


@tf.custom_gradient
def says_zero(x):
    return x * 1.0, lambda upstream: upstream * 0.0


@tf.custom_gradient
def with_variable(x):
    scaled = VARIABLE * x

    def grad(upstream, variables=None):
        return upstream * 3.0, [upstream for _ in variables]

    return scaled, grad


def numpy_detour(x):
    values = x.numpy()
    return tf.constant(values) * 2.0


def float_detour(x):
    number = float(x[0])
    return tf.square(number)


def numpy_calls(x):
    sine = np.sin(x)
    return tf.constant(sine) * 2.0


def assigns(x):
    VARIABLE.assign(x)
    return VARIABLE * 2.0


def overridden_in_eager(x):
    with override({"Sign": "XrayFive"}):
        return tf.sign(x)


def wrong_key(x):
    with override({"tf.sign": "XrayFive"}):
        return tf.sign(x)


def tape_inside(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        with override({"Sign": "XrayFive"}):
            y = tf.sign(x) * x
    return tape.gradient(y, x)


def python_if(x):
    if x[0] > 1.0:
        return 3.0
    return x


def stops_the_tape(x):
    from tensorflow.python.eager import record

    with record.stop_recording():
        y = x * 2.0
    return y * 3.0


def loop(n, y):
    return tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1.0, a * 2.0), [0.0, y])[1]


def loop_floor(y):
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.floor(a) * 2.0), [0, y])[1]


def cond(a, b):
    return tf.cond(a > 0.0, lambda: a * a, lambda: b * 3.0)


def cond_floor(a):
    return tf.cond(a > 0.0, lambda: tf.floor(a), lambda: a * 3.0)


def switch(a, b):
    return tf.switch_case(tf.constant(1), [lambda: a * 2.0, lambda: tf.round(b)])


def creates_variable(x):
    weights = tf.Variable([2.0, 2.0])
    return weights * tf.floor(x)


def needs_graph(x):
    return tf.gradients(tf.square(x), x)[0]


def log_where(x):
    return tf.where(x > 0.0, tf.math.log(x), 0.0)


@dataclass
class Case:
    f: Callable[..., Any]
    inputs: tuple[Any, ...] = (X,)
    op: str = ""  # the type of the operation to blame for the first dead input
    kind: str = ""
    status: dict[str, str] = field(default_factory=dict)


ONE, TWO = tf.constant(1.0), tf.constant(2.0)
CASES = {
    "alive": Case(lambda x: tf.sin(x) * x, status={"x": "alive"}),
    "floor": Case(lambda x: tf.floor(x) * 2.0, op="Floor", kind="no_derivative"),
    "ceil": Case(lambda x: tf.math.ceil(x), op="Ceil", kind="no_derivative"),
    "round": Case(lambda x: tf.round(x) + 1.0, op="Round", kind="no_derivative"),
    "rint": Case(lambda x: tf.math.rint(x), op="Rint", kind="no_derivative"),
    "floordiv": Case(lambda x: x // 2.0, op="FloorDiv", kind="no_derivative"),
    "floormod": Case(lambda x: x % 1.0, status={"x": "alive"}),
    "sign": Case(lambda x: tf.sign(x) * 3.0, op="Sign", kind="flat", status={"x": "zero"}),
    "cast": Case(
        lambda x: tf.cast(tf.cast(x, tf.int32), tf.float32) * 2.0, op="Cast", kind="to_int"
    ),
    "argmax": Case(lambda x: tf.cast(tf.argmax(x), tf.float32), op="ArgMax", kind="to_int"),
    "argmax as result": Case(lambda x: tf.argmax(x), op="ArgMax", kind="to_int"),
    "comparison": Case(lambda x: tf.cast(x > 0.0, tf.float32), op="Greater", kind="to_int"),
    "stop_gradient": Case(lambda x: tf.stop_gradient(x) * 2.0, op="StopGradient"),
    "numpy()": Case(numpy_detour, kind="left_tensorflow"),
    "float()": Case(float_detour, kind="left_tensorflow"),
    "np.sin": Case(numpy_calls, kind="numpy_call"),
    "numpy_function": Case(
        lambda x: tf.numpy_function(np.sin, [x], tf.float32) * 2.0,
        op="PyFunc",
        kind="python_function",
    ),
    "numpy_function in a graph": Case(
        tf.function(lambda x: tf.numpy_function(np.sin, [x], tf.float32) * 2.0),
        op="PyFunc",
        kind="python_function",
    ),
    "py_function": Case(lambda x: tf.py_function(tf.sin, [x], tf.float32), status={"x": "alive"}),
    "py_function in a graph": Case(
        tf.function(lambda x: tf.py_function(tf.sin, [x], tf.float32)), status={"x": "alive"}
    ),
    "assign": Case(assigns, op="AssignVariableOp", kind="assigned"),
    "computed index": Case(
        lambda x: tf.gather(tf.constant([1.0, 2.0]), tf.argmax(x)), op="ArgMax", kind="to_int"
    ),
    "gather from x": Case(lambda x: tf.gather(x, tf.argmax(x)), status={"x": "alive"}),
    "where with NaN": Case(log_where, (AT_ZERO,), "Log", "zero_times_inf", {"x": "nan"}),
    "norm at 0": Case(lambda x: tf.norm(x), (tf.zeros(2),), "Sqrt", "inf_times_zero", {"x": "nan"}),
    "infinity minus infinity": Case(
        lambda x: tf.exp(x) / x, (tf.zeros(1),), "Exp and RealDiv", "inf_minus_inf", {"x": "nan"}
    ),
    "NaN from a cond's zeros": Case(
        tf.function(lambda x: cond(tf.math.log(x)[0] * 0.0 - 1.0, tf.math.log(x)[1])),
        (tf.constant([1.0, 2.0]),),
    ),
    "NaN from an unused branch's zeros": Case(
        tf.function(lambda x, y: cond(-tf.abs(tf.math.log(x)), y)),
        (tf.constant(0.0), TWO),
        "Log",
        "zero_times_inf",
        {"x": "nan", "y": "alive"},
    ),
    "NaN in the input": Case(
        lambda x: x * x, (tf.constant([np.nan, 1.0]),), kind="nan_input", status={"x": "nan"}
    ),
    "NaN on the way": Case(
        lambda x: tf.math.log(x) * x, (tf.constant([-1.0, 1.0]),), "Log", "forward_nan"
    ),
    "where not chosen": Case(lambda x: tf.where(x > 9.0, x, 0.0), op="SelectV2", kind="not_chosen"),
    "cond, eager": Case(cond, (ONE, TWO), status={"a": "alive", "b": "none"}),
    "cond, graph": Case(
        tf.function(cond), (ONE, TWO), "StatelessIf", "branch", {"a": "alive", "b": "zero"}
    ),
    "cond with floor, eager": Case(cond_floor, (ONE,), "Floor", "no_derivative"),
    "cond with floor, graph": Case(
        tf.function(cond_floor), (ONE,), "Floor", "no_derivative", {"a": "zero"}
    ),
    "while_loop, eager": Case(
        loop, (TWO, ONE), kind="condition", status={"n": "none", "y": "alive"}
    ),
    "while_loop, graph": Case(
        tf.function(loop), (TWO, ONE), "StatelessWhile", "branch", {"n": "zero", "y": "alive"}
    ),
    "floor in while_loop": Case(tf.function(loop_floor), (ONE,), "Floor", "no_derivative"),
    "switch_case, eager": Case(switch, (ONE, TWO), "Round", status={"b": "none"}),
    "switch_case, graph": Case(tf.function(switch), (ONE, TWO), "StatelessCase", "branch"),
    "cancelling": Case(
        lambda x: x - (x - tf.floor(x)), op="Sub", kind="cancel", status={"x": "zero"}
    ),
    "clip": Case(lambda x: tf.clip_by_value(x, -1.0, 1.0), op="Minimum", kind="saturated"),
    "times zero": Case(lambda x: x * tf.zeros(2), op="Mul", kind="times_zero"),
    "custom_gradient": Case(lambda x: straight_through(x) * 2.0, status={"x": "alive"}),
    "custom_gradient, graph": Case(
        tf.function(lambda x: straight_through(x) * 2.0), status={"x": "alive"}
    ),
    "custom_gradient says None": Case(
        lambda x: says_none(x) * 2.0, op="says_none", kind="custom_none"
    ),
    "custom_gradient says None, graph": Case(
        tf.function(lambda x: says_none(x) * 2.0), op="IdentityN", kind="custom_none"
    ),
    "custom_gradient says zero": Case(
        lambda x: says_zero(x) * 2.0, op="says_zero", kind="custom_zero"
    ),
    "custom_gradient of floor": Case(
        tf.function(lambda x: straight_through(tf.floor(x))), op="Floor", kind="no_derivative"
    ),
    "custom_gradient with variable": Case(
        with_variable, status={"x": "alive", "VARIABLE": "alive"}
    ),
    "custom_gradient with variable, graph": Case(
        tf.function(lambda x: with_variable(x)), status={"x": "alive"}
    ),
    "override in eager": Case(overridden_in_eager, op="Sign", kind="override_ignored"),
    "override in a graph": Case(tf.function(overridden_in_eager), status={"x": "alive"}),
    "override of nothing": Case(tf.function(wrong_key), op="Sign", kind="flat"),
    "tape inside": Case(tf.function(tape_inside)),
    "returns a float": Case(python_if, kind="no_tensor"),
    "returns None": Case(lambda x: None, kind="no_tensor"),
    "stopped tape": Case(stops_the_tape, op="Mul", kind="unrecorded"),
    "creates a variable": Case(creates_variable, op="Floor"),
    "needs a graph": Case(needs_graph, status={"x": "alive"}),
    "unused": Case(lambda x, y: x * 2.0, (X, X), status={"y": "none"}, kind="unused"),
    "integer": Case(lambda x: x * 2, (tf.constant(3),), kind="int_input"),
    "not trainable": Case(
        lambda x, w: x * w, (X, tf.Variable(2.0, trainable=False)), kind="not_trainable"
    ),
    "same tensor twice": Case(
        lambda a, b: a * tf.round(b), (X, X), "Round", status={"a": "alive", "b": "none"}
    ),
    "softmax summed": Case(
        lambda x: tf.nn.softmax(x), (tf.zeros(2),), "Softmax", "upstream_cancels", {"x": "zero"}
    ),
    "nested": Case(
        lambda d: {"a": d["p"] * 2.0, "b": [tf.round(d["q"])]},
        ({"p": X, "q": np.ones(3)},),
        "Round",
        status={"d['p']": "alive", "d['q']": "none"},
    ),
    "map_fn": Case(tf.function(lambda x: tf.map_fn(lambda e: e * 2.0, x))),
    "vectorized_map": Case(lambda x: tf.vectorized_map(lambda e: tf.floor(e), x), op="Floor"),
    "python integer": Case(lambda x, n: x**n, (X, 2), status={"x": "alive"}),
    "float16": Case(lambda x: tf.round(x), (tf.constant([1.5], tf.float16),), "Round"),
    "bfloat16": Case(lambda x: tf.sign(x) * x, (tf.constant([1.5], tf.bfloat16),)),
    "complex": Case(lambda z: tf.abs(z), (tf.constant([1 + 2j]),), status={"z": "alive"}),
    "empty": Case(lambda x: x * 2.0, (tf.zeros([0]),)),
}


def by_the_tape(f: Callable[..., Any], inputs: tuple[Any, ...], names: list[str]) -> dict[str, str]:
    """The four states straight from TensorFlow, without any code of the X-ray."""
    leaves = [
        tf.identity(v) if isinstance(v, tf.Tensor) else v
        for v in tf.nest.flatten([tf.nest.map_structure(_tensor, i) for i in inputs])
    ]
    with tf.GradientTape() as tape:
        for leaf in leaves:
            if isinstance(leaf, tf.Tensor) and (leaf.dtype.is_floating or leaf.dtype.is_complex):
                tape.watch(leaf)
        result = f(*tf.nest.pack_sequence_as(list(inputs), leaves))
    sources = [v for v in leaves if isinstance(v, tf.Tensor | tf.Variable)]
    targets = [
        t
        for t in tf.nest.flatten(result)
        if isinstance(t, tf.Tensor) and (t.dtype.is_floating or t.dtype.is_complex)
    ]
    grads = tape.gradient(targets, sources) if targets else [None] * len(sources)
    return dict(zip(names, map(_state, grads), strict=False))


def _tensor(value: Any) -> Any:
    return tf.constant(value) if isinstance(value, np.ndarray) else value


def _state(grad: Any) -> str:
    if grad is None:
        return "none"
    values = tf.cast(tf.convert_to_tensor(grad), tf.complex128).numpy()
    if np.isnan(values).any():
        return "nan"
    return "alive" if values.size == 0 or np.any(values != 0) else "zero"


@pytest.fixture(autouse=True)
def _fresh_variable():
    VARIABLE.assign([1.0, 2.0])


def seen(name: str) -> Xray:
    case = CASES[name]
    return explain(case.f, *case.inputs)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore")  # TensorFlow's own, on complex and integer casts
def test_agrees_with_the_tape(name):
    case, shown = CASES[name], seen(name)
    if name == "needs a graph":
        return  # there is no eager tape to compare with; its status is checked below
    inputs = [n for n in shown.status if n != "VARIABLE"]
    expected = by_the_tape(case.f, case.inputs, inputs)
    assert {n: shown.status[n] for n in expected} == expected


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore")
def test_names_the_culprit(name):
    case, shown = CASES[name], seen(name)
    assert {n: shown.status[n] for n in case.status} == case.status
    blamed = [b for items in shown.blame.values() for b in items]
    if case.op:
        assert case.op in {b.op for b in blamed}
    if case.kind:
        assert case.kind in {b.kind for b in blamed}
    assert all(b.kind not in ("tape_only", "unknown") for b in blamed)
    assert shown.left_out == []


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore")
def test_shows_itself(name):
    shown = seen(name)
    bundle = shown._repr_mimebundle_()
    assert shown.finding in bundle["text/plain"]
    assert repr(shown) == str(shown) == bundle["text/plain"]
    assert "\n" not in shown.finding
    assert "grader-xray" in bundle["text/html"]


def test_finding_in_words():
    assert explain(tf.round, X).finding == (
        "round cuts the gradient to x: "
        "Round has no derivative (its registered gradient returns None)"
    )


def test_line_of_the_culprit():
    shown = explain(numpy_detour, X)
    (blamed,) = shown.blame["x"]
    assert blamed.line.text == "values = x.numpy()"
    assert explain(tf.function(creates_line), X).blame["x"][0].line.text == "y = tf.floor(x)"


def creates_line(x):
    y = tf.floor(x)
    return y * 2.0


def test_ignored_overrides_are_warned_of():
    assert "is ignored" in explain(overridden_in_eager, X).warnings[0]
    inside = explain(tf.function(tape_inside), X).warnings
    assert any("tape inside the same tf.function" in w for w in inside)
    assert explain(tf.function(overridden_in_eager), X).warnings == []


def test_override_of_no_such_operation():
    assert 'names "tf.sign"' in explain(wrong_key, X).warnings[0]
    assert 'names "tf.sign"' in explain(tf.function(wrong_key), X).warnings[0]


def test_override_that_acts_is_noted():
    assert "passes the override of Sign with XrayFive" in seen("override in a graph").notes[0]


def test_override_that_returns_none():
    def f(x):
        with override({"Sign": "XrayNone"}):
            return tf.sign(x)

    shown = explain(tf.function(f), X)
    assert shown.status == {"x": "none"}
    assert shown.blame["x"][0].kind == "override_none"


def test_missing_gradient():
    def f(x):
        with override({"Sign": "XrayNobody"}):
            return tf.sign(x)

    shown = explain(tf.function(f), X)
    assert 'the gradient "XrayNobody"' in shown.finding
    assert "no gradient of that name is registered" in explain(f, X).warnings[0]


def test_unregistered_operation():
    shown = explain(lambda x, y: tf.bitcast(x, tf.float32) + y, X, X)
    assert shown.status == {"x": "none", "y": "alive"}
    assert shown.blame["x"][0].kind == "unregistered"
    assert "LookupError" in shown.warnings[0]


def test_function_that_raises():
    shown = explain(lambda x: tf.matmul(x, x), X)
    assert shown.status == {}
    assert shown.finding.startswith("the function raised InvalidArgumentError")
    assert "grader-xray" in shown._repr_mimebundle_()["text/html"]


def test_gradient_function_that_raises():
    @tf.custom_gradient
    def wrong(x):
        return x * 2.0, lambda upstream: (upstream, upstream)

    shown = explain(lambda x: wrong(x), X)
    assert "tape.gradient raised ValueError" in shown.finding


def test_no_inputs():
    assert explain(lambda: tf.constant(1.0)).status == {}
    assert explain(lambda: VARIABLE * 2.0).status == {"VARIABLE": "alive"}


def test_keyboard_interrupt_is_not_swallowed():
    def f(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explain(f, X)


def test_inputs_of_all_kinds():
    assert explain(lambda x: x * 2.0, 3.0).status == {"x": "alive"}
    assert explain(lambda x: x * 2.0, [1.0, 2.0]).status == {"x": "alive"}
    assert explain(lambda x: x * 2.0, np.float64(3)).status == {"x": "alive"}
    assert explain(lambda *xs: xs[0] * tf.round(xs[1]), X, X).status == {
        "xs[0]": "alive",
        "xs[1]": "none",
    }
    ragged = tf.ragged.constant([[1.0], [2.0, 3.0]])
    assert "alive" in explain(lambda r: r * 2.0, ragged).status.values()


def test_zero_and_infinite_entries_are_noted():
    shown = explain(lambda x: tf.nn.relu(x), X)
    assert shown.notes == ["1 of 2 entries of the gradient to x are zero"]
    assert "infinite" in explain(lambda x: tf.sqrt(x), AT_ZERO).notes[-1]


def test_detour_beside_a_live_path():
    def f(x):
        scale = float(x[0])
        return x * scale

    assert explain(f, X).warnings[0].startswith("float() (line ")


@pytest.mark.parametrize(
    ("f", "inputs", "said"),
    [
        (lambda x, k, j=1: x, (), "f takes x and k, and no input was given: call explain(f, x, k)"),
        (lambda x: x, (1.0, 2.0), "f takes x, and 2 inputs were given: call explain(f, x)"),
        (lambda: 1.0, (X,), "f takes no inputs, and one input was given: call explain(f)"),
        (
            3,
            (),
            "an int is no function: hand over the function itself and its inputs, explain(f, x)",
        ),
    ],
)
def test_a_call_that_does_not_fit_is_told_and_nothing_runs(f, inputs, said):
    shown = explain(f, *inputs)
    assert shown.finding == said
    assert (shown.runs, shown.worst) == (0, "none")
    assert "The function did not run." in str(shown)
    assert "The function did not run." in shown._repr_mimebundle_()["text/html"]


def test_a_finding_quotes_the_line_since_notebooks_show_no_numbers():
    def f(x):
        return tf.round(x)

    assert ": return tf.round(x)): " in explain(f, X).finding


def test_a_nan_that_is_dropped_is_not_blamed_for_another_entrys_gradient():
    def f(x):
        return tf.where(x > 0, tf.math.log(x), tf.zeros_like(x))

    shown = explain(f, tf.constant([0.0, -1.0, 2.0]))  # the gradient is NaN at the first alone
    assert shown.blame["x"][0].kind == "zero_times_inf"
    assert "infinite at one of the values" in shown.finding
