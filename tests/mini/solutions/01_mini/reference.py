from grader.contract import GRAPH_MODES, Case, Entry, Exercise, Mistake, table
from grader.draw import like, normal


def _cases(modes, wants=("value", "gradient")):
    def cases(rng):
        for name, shape, dtype, part in (
            ("a matrix", (2, 3), "float32", None),
            ("float64", (4,), "float64", "robust"),
        ):
            x = normal(rng, shape, dtype)
            yield Case(name, {"x": x}, like(rng, x), part, modes, wants)

    return lambda rng: list(cases(rng))


twice = Exercise(
    id="twice",
    cases=_cases(("eager", "outside")),
    truth=lambda c: {"value": 2 * c.arrays["x"], "gradient:x": 3.0 * c.upstream},
    plain=lambda c: {"gradient:x": 2.0 * c.upstream},
    parts={"value": 1, "gradient": 2, "robust": 1},
    hints=("stop_gradient hides a term from the tape.", "Add a term and take it away again."),
    mistakes=(
        Mistake("none", "Nothing is connected here.", pattern="none"),
        Mistake("divided", "You divided.", answer=lambda c: {"value": c.arrays["x"] / 2}),
        Mistake("fixed name", "That name is taken.", raises="KeyError.*taken"),
    ),
    reread="Exercise: twice",
    also="tf.custom_gradient does it too.",
    card="x",
)
words = table(
    "words",
    {"round": Entry("none", "Round has no derivative."), "sign": Entry("zero", "Sign is flat.")},
    ("none", "zero", "number"),
    ("Run them.", "round is none."),
    reread="Exercise: words",
    mistakes=(
        Mistake(
            "None and zero confused",
            "None is not zero.",
            answer=lambda c: {"entry:round": "zero", "entry:sign": "none"},
        ),
    ),
)
square_grad = Exercise(
    id="square_grad",
    cases=_cases(GRAPH_MODES, ("gradient",)),
    truth=lambda c: {
        "gradient:x": 2 * c.arrays["x"] * c.upstream,
        "gradient returns": "tensor",
    },
    parts={"gradient": 1, "robust": 1},
    hints=("a", "b"),
    probe="op_gradient",
    options={"op": "Square", "forward": "lambda x: tf.square(x)"},
    mistakes=(Mistake("x lost", "x is missing.", answer=lambda c: {"gradient:x": 2 * c.upstream}),),
    reread="Exercise: square_grad",
)
counter = Exercise(
    id="counter",
    cases=lambda rng: [
        Case("n", {}, None, "value", ("eager",), options={"n": int(rng.integers(3, 9))})
    ],
    truth=lambda c: {"length": float(c.options["n"]), "last": float(c.options["n"] - 1)},
    parts={"value": 1},
    hints=("a", "b"),
    probe="count",
    mistakes=(
        Mistake(
            "off by one",
            "range starts at 0.",
            answer=lambda c: {"last": float(c.options["n"])},
        ),
    ),
    reread="Exercise: counter",
)
EXERCISES = [twice, words, square_grad, counter]
