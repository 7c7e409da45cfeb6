from grader.message import bare


def test_only_what_tells_the_learner_something_stays():
    assert bare("{{function_node __inference_f_7}} 0-th value [[{{node PyFunc}}]]") == "0-th value"
    assert bare("shapes differ [Op:MatMul] name: ") == "shapes differ"
    assert bare("plain [1, 2] and {x}") == "plain [1, 2] and {x}"


def test_of_printed_tensors_the_numbers_go_where_they_are_many():
    variable = "<tf.Variable 'w:0' shape=(9,) dtype=float32, numpy=\narray([1., 2.,\n 3., 4.])>"
    assert bare(f"reads [{variable}]; 2 > 1") == (
        "reads [<tf.Variable 'w:0' shape=(9,) dtype=float32>]; 2 > 1"
    )
    few = "<tf.Tensor: shape=(), dtype=float32, numpy=1.0>"
    assert bare(few) == few
