"""Chapter 08's probes: layers, models and losses for the learner's functions, and tensor sizes."""

from grader.probe.modes import compile_source, tensors


def _called(answer, arguments, mode):
    """The answer's result, called directly or as a tf.function."""
    import tensorflow as tf

    return (tf.function(answer) if mode == "outside" else answer)(*arguments)


def _constants(case, *names):
    import tensorflow as tf

    return [tf.constant(case.inputs[name]) for name in names]


def value(answer, case, mode):
    """The value alone: no tape of ours around the learner's tapes, which makes tracing fast."""
    return {"value": _called(answer, list(tensors(case).values()), mode)}


def kernel_jacobian(answer, case, mode):
    """The learner's function on a dense layer with a given kernel."""
    import tensorflow as tf

    given, dtype = case.inputs, case.inputs["x"].dtype.name
    activation = case.options["activation"]
    units = given["bias"].size
    layer = tf.keras.layers.Dense(units, activation=activation, dtype=dtype)
    layer.build(given["x"].shape)
    layer.set_weights([given["kernel"], given["bias"]])
    return {"value": _called(answer, [layer, *_constants(case, "x")], mode)}


def hessian_matrix(answer, case, mode):
    """The learner's function on a loss without arguments, over variables in the case's order."""
    import tensorflow as tf

    formula = compile_source(case.options["loss"])
    made = {name: tf.Variable(value, name=name) for name, value in case.inputs.items()}
    variables = [made[name] for name in case.options["order"]]

    @tf.autograph.experimental.do_not_convert
    def loss():
        return formula(**{k: tf.convert_to_tensor(v) for k, v in made.items()})

    return {"value": _called(answer, [loss, variables], mode)}


def penalty(answer, case, mode):
    """The learner's function on a small model with given weights."""
    import tensorflow as tf

    given, dtype = case.inputs, case.inputs["x"].dtype.name
    hidden = tf.keras.layers.Dense(given["b1"].size, activation="tanh", dtype=dtype)
    output = tf.keras.layers.Dense(given["b2"].size, dtype=dtype)
    start = tf.keras.Input((given["x"].shape[1],), dtype=dtype)
    model = tf.keras.Model(start, output(hidden(start)))
    hidden.set_weights([given["w1"], given["b1"]])
    output.set_weights([given["w2"], given["b2"]])
    found = _called(answer, [model, *_constants(case, "x", "y")], mode)
    if type(found).__name__ == "Blank" or not isinstance(found, list | tuple):
        return {f"gradient[{i}]": found for i in range(4)}
    return {f"gradient[{i}]": each for i, each in enumerate(found)}


def per_example(answer, case, mode):
    """The value; in the part memory also whether a tensor is as large as the full Jacobian."""
    f = compile_source(case.inputs["f"])
    if case.part != "memory":
        return {"value": _called(answer, [f, *_constants(case, "x")], mode)}
    batch, ins = case.inputs["x"].shape
    outs = f(*_constants(case, "x")).shape[1]
    limit = batch * outs * batch * ins
    return _traced(answer, [f, *_constants(case, "x")], limit, "full Jacobian formed")


def hvp(answer, case, mode):
    """The product; in the part memory also whether a tensor is as large as the Hessian."""
    return _product(answer, case, mode, "v")


def hutchinson(answer, case, mode):
    """The estimate; in the part memory also whether a tensor is as large as the Hessian."""
    return _product(answer, case, mode, "probes")


def _product(answer, case, mode, second):
    given = [compile_source(case.inputs["f"]), *_constants(case, "x", second)]
    if case.part != "memory":
        return {"value": _called(answer, given, mode)}
    return _traced(answer, given, case.inputs["x"].size ** 2, "Hessian formed")


def _traced(answer, arguments, limit, formed):
    """What the traced function gives, and whether a tensor of its graph reaches the limit.

    Both: a graph without large tensors is no merit where nothing is computed.
    """
    import tensorflow as tf

    try:
        traced = tf.function(answer).get_concrete_function(*arguments)
    except TypeError:  # a gap in the answer cannot leave a tf.function
        result = answer(*arguments)
        if type(result).__name__ == "Blank":
            return {formed: result, "value": result}
        raise
    result = traced.structured_outputs
    if not tf.is_tensor(result):
        return {formed: result, "value": result}
    large = _largest_tensor(traced.graph) >= limit
    return {formed: bool(large), "value": traced(*arguments[1:])}


def _largest_tensor(graph):
    """Entries of the largest tensor in the graph and all it calls; unknown sizes count nothing."""
    graphs, seen, largest = [graph], set(), 0
    while graphs:
        graph = graphs.pop()
        for op in graph.get_operations():
            sizes = (tensor.shape.num_elements() for tensor in op.outputs)
            largest = max([largest, *(size for size in sizes if size is not None)])
            for name in _functions_of(op) - seen:
                seen.add(name)
                called = graph._get_function(name)
                if getattr(called, "graph", None) is not None:
                    graphs.append(called.graph)
    return largest


def _functions_of(op):
    """The names of the functions that an op calls."""
    names = set()
    for value in op.node_def.attr.values():
        names |= {value.func.name, *(f.name for f in value.list.func)}
    return names - {""}
