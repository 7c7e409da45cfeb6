import pytest

from grader.probe.graphs import behind, nodes


def test_the_bodies_of_functions_count(tf):
    inner = tf.function(lambda x: tf.sin(x))
    with tf.Graph().as_default() as graph:
        inner(tf.exp(tf.constant(1.0)))
    types = [node.op for node in nodes(graph)]
    assert "Exp" in types
    assert "Sin" in types


def test_what_is_dropped_does_not_stand_behind_a_result(tf):
    @tf.function
    def inner(x):
        tf.sin(x)
        return tf.cos(x)

    with tf.Graph().as_default() as graph:
        x = tf.exp(tf.constant(1.0))
        with tf.control_dependencies([tf.tanh(x)]):
            y = tf.identity(inner(x))
        tf.sqrt(y)
    types = {node.op for node in behind(graph, [y])}
    assert {"Exp", "Cos"} <= types
    assert not types & {"Sin", "Tanh", "Sqrt"}


@pytest.mark.parametrize("seen", [True, False])
def test_a_loop_stands_behind_its_result(tf, seen):
    def body(i, v):
        w = tf.sin(v)
        return i + 1, w if seen else v

    traced = tf.function(lambda x: tf.while_loop(lambda i, v: i < 3, body, (0, x))[1])
    made = traced.get_concrete_function(tf.constant(1.0))
    assert ("Sin" in {node.op for node in behind(made.graph, made.outputs)}) is seen
