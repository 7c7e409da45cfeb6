from grader.probe.graphs import nodes


def test_the_bodies_of_functions_count(tf):
    inner = tf.function(lambda x: tf.sin(x))
    with tf.Graph().as_default() as graph:
        inner(tf.exp(tf.constant(1.0)))
    types = [node.op for node in nodes(graph)]
    assert "Exp" in types
    assert "Sin" in types
