"""What is told of an exception is the learner's: their line, not the probe's or AutoGraph's."""

import linecache

import pytest

from grader.probe.failure import of_exception
from grader.whose import PROBES

LEARNERS = """
def f(x):
    y = x * 2
    if tf.reduce_sum(y) > 0:
        y = y.numpy()
    return y
"""
PROBE = """
def probe(answer, x):
    return tf.function(answer)(x)

def own(answer, x):
    return answer.__missing__
"""


def _made(text, file, tf):
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space = {"tf": tf}
    exec(compile(text, file, "exec"), space)
    return space


@pytest.fixture
def raised(tf):
    def run(name):
        answer = _made(LEARNERS, "<learner's>", tf)["f"]
        with pytest.raises(AttributeError) as error:
            _made(PROBE, PROBES, tf)[name](answer, tf.ones(2))
        beyond = error.value.__traceback__.tb_next  # this test's own line would be a learner's
        return of_exception(error.value.with_traceback(beyond))

    return run


def test_in_a_traced_call_the_line_is_the_learners_own(raised):
    told = raised("probe")
    assert told.detail == {"type": "AttributeError", "line": 5, "code": "y = y.numpy()"}
    assert told.text == "'SymbolicTensor' object has no attribute 'numpy'"


def test_of_a_variable_in_a_message_the_numbers_are_left_out(tf):
    kernel = tf.Variable(tf.ones((4, 2)))
    told = of_exception(ValueError(f"no rule for {kernel}, f > 1")).text
    assert told.startswith("no rule for <tf.Variable")
    assert "shape=(4, 2)" in told
    assert told.endswith("dtype=float32>, f > 1")
    assert "numpy=1.0" in of_exception(ValueError(repr(tf.constant(1.0)))).text


def test_names_of_nodes_and_ops_are_left_out(tf):
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        tf.function(lambda x: tf.numpy_function(float, [x], tf.float32))(tf.ones((), tf.float64))
    text = of_exception(error.value).text
    assert "pyfunc" in text
    assert "{{" not in text
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        tf.ones((2, 3)) @ tf.ones((2, 3))
    assert "[Op:" in str(error.value)
    assert "[Op:" not in of_exception(error.value).text


def test_a_probe_of_the_chapter_is_nobodys_line(raised):
    assert raised("own").detail == {"type": "AttributeError"}
