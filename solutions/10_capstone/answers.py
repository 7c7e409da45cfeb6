"""What people write in chapter 10: other right answers, and wrong ones by the mistake they make.

Run as a program it measures the floors: `python solutions/10_capstone/answers.py [seeds]` trains
the three predictors of the chapter with seeds 0, 1, … and prints their held-out accuracies.
"""

from __future__ import annotations

_DENSE = """
def binary_dense(x, kernel):
    stop = tf.stop_gradient
    soft = {soft}
    bits = stop(tf.sign(x) - soft) + soft
    signs, size = tf.sign(kernel), tf.reduce_mean(tf.abs(kernel))
    return bits @ ({quantised})
"""
_CLIP = "tf.clip_by_value(x, -1, 1)"
_RIGHT = "stop(signs * size - kernel) + kernel"

DENSE = {
    "ok_one_correction": _DENSE.format(soft=_CLIP, quantised=_RIGHT),
    "ok_custom_gradient": """
def binary_dense(x, kernel):
    @tf.custom_gradient
    def product(x, kernel):
        bits = tf.sign(x)
        quantised = tf.sign(kernel) * tf.reduce_mean(tf.abs(kernel))
        def rule(upstream):
            to_x = tf.matmul(upstream, quantised, transpose_b=True)
            inside = tf.cast(tf.abs(x) <= 1, x.dtype)
            return to_x * inside, tf.matmul(bits, upstream, transpose_a=True)
        return bits @ quantised, rule
    return product(x, kernel)
""",
    "scale_lost": _DENSE.format(soft=_CLIP, quantised="stop(signs - kernel) + kernel"),
    "unclipped": _DENSE.format(soft="x", quantised=_RIGHT),
    "scaled_by_the_mean": _DENSE.format(
        soft=_CLIP, quantised="stop(size) * (stop(signs - kernel) + kernel)"
    ),
    "mean_contributes": _DENSE.format(
        soft=_CLIP, quantised="size * (stop(signs - kernel) + kernel)"
    ),
    "x_not_binarised": """
def binary_dense(x, kernel):
    small = tf.sign(kernel) * tf.reduce_mean(tf.abs(kernel))
    return x @ (tf.stop_gradient(small - kernel) + kernel)
""",
    "kernel_not_quantised": _DENSE.format(soft=_CLIP, quantised="kernel"),
    "mean_along_one_axis": _DENSE.format(
        soft=_CLIP,
        quantised="stop(signs * tf.reduce_mean(tf.abs(kernel), axis=0) - kernel) + kernel",
    ),
    "kernel_clipped": _DENSE.format(
        soft=_CLIP,
        quantised="stop(signs * size - tf.clip_by_value(kernel, -1, 1)) "
        "+ tf.clip_by_value(kernel, -1, 1)",
    ),
    "zero_for_zeros": _DENSE.format(
        soft=_CLIP,
        quantised="stop(size) * (stop(signs) + tf.math.divide_no_nan(kernel - stop(kernel), "
        "stop(size)))",
    ),
    "true_derivative": """
def binary_dense(x, kernel):
    return tf.sign(x) @ (tf.sign(kernel) * tf.reduce_mean(tf.abs(kernel)))
""",
    "raises_on_shapes": """
def binary_dense(x, kernel):
    return tf.sign(x) * tf.linalg.matvec(kernel, x)
""",
}

_NETWORK = """
def bits_layer(x, kernel):
    soft = tf.clip_by_value(x, -1, 1)
    bits = tf.stop_gradient(tf.sign(x) - soft) + soft
    small = tf.sign(kernel) * tf.reduce_mean(tf.abs(kernel))
    return bits @ (tf.stop_gradient(small - kernel) + kernel)

one, mid, two = weights = initial((320, {units}), ({units},), ({units}, 10))

def scores_of(images):
    sums = bits_layer(thermometer(images), one) / tf.stop_gradient(tf.reduce_mean(tf.abs(one)))
    return bits_layer(sums / 18 + mid, two)

fit(lambda x, y, noise: cross_entropy(y, scores_of(x)), weights, {epochs})

def predict_binary(images):
    return {labels}
"""
_ARGMAX = "tf.argmax(scores_of(images), axis=1)"

BINARY = {
    "ok_wider": _NETWORK.format(units=192, epochs=20, labels=_ARGMAX),
    "ok_numpy_labels": _NETWORK.format(
        units=128, epochs=25, labels="np.argmax(scores_of(images).numpy(), axis=1).astype('uint8')"
    ),
    "scores_for_labels": _NETWORK.format(units=16, epochs=0, labels="scores_of(images)"),
    "a_column_of_labels": _NETWORK.format(units=16, epochs=0, labels=f"{_ARGMAX}[:, tf.newaxis]"),
    "labels_along_the_wrong_axis": _NETWORK.format(
        units=16, epochs=0, labels="tf.argmax(scores_of(images))"
    ),
    "no_labels": _NETWORK.format(
        units=16, epochs=0, labels="tf.reduce_max(scores_of(images), axis=1)"
    ),
    "below_the_floor": _NETWORK.format(units=12, epochs=2, labels=_ARGMAX),
    "guessing": "def predict_binary(images):\n    return np.full(len(images), 3)\n",
    "not_one_label_for_each_image": "def predict_binary(images):\n    return 3\n",
    "not_one_label_for_each_image_2": "def predict_binary(images):\n    return tf.range(5)\n",
    "raises_without_a_network": """
def predict_binary(images):
    return network(images)
""",
}

_PATCHES = """
def patch_attention(patches, probs, noise):
    z = tf.cast({test}, patches.dtype)
    z = {mask}
    return {join}
"""
_Z = "tf.stop_gradient(z - probs) + probs"
_MEAN = "tf.reduce_mean(z[..., tf.newaxis] * patches, axis=1)"

ATTENTION = {
    "ok_one_correction": _PATCHES.format(test="noise < probs", mask=_Z, join=_MEAN),
    "ok_custom_gradient": """
def patch_attention(patches, probs, noise):
    z = tf.cast(noise < probs, patches.dtype)[..., tf.newaxis]
    @tf.custom_gradient
    def select(patches, probs):
        def rule(upstream):
            share = upstream[:, tf.newaxis] / patches.shape[1]
            return share * z, tf.reduce_sum(share * patches, axis=-1)
        return tf.reduce_mean(z * patches, axis=1), rule
    return select(patches, probs)
""",
    "ok_zeros_to_noise": """
@tf.custom_gradient
def patch_attention(patches, probs, noise):
    z = tf.cast(noise < probs, patches.dtype)[..., tf.newaxis]
    def rule(upstream):
        share = upstream[:, tf.newaxis] / patches.shape[1]
        return share * z, tf.reduce_sum(share * patches, axis=-1), tf.zeros_like(noise)
    return tf.reduce_mean(z * patches, axis=1), rule
""",
    "noise_gets_a_gradient": _PATCHES.format(
        test="noise < probs",
        mask="tf.stop_gradient(z - probs + noise) + probs - noise",
        join=_MEAN,
    ),
    "only_where_selected": _PATCHES.format(
        test="noise < probs", mask="tf.stop_gradient(z - z * probs) + z * probs", join=_MEAN
    ),
    "divided_by_the_selected": _PATCHES.format(
        test="noise < probs",
        mask=_Z,
        join="tf.reduce_sum(z[..., tf.newaxis] * patches, axis=1) "
        "/ tf.maximum(tf.reduce_sum(z, axis=1, keepdims=True), 1)",
    ),
    "None_to_probs": _PATCHES.format(test="noise < probs", mask="z", join=_MEAN),
    "sum_for_mean": _PATCHES.format(
        test="noise < probs", mask=_Z, join=_MEAN.replace("reduce_mean", "reduce_sum")
    ),
    "soft_selection": _PATCHES.format(test="noise < probs", mask="probs", join=_MEAN),
    "comparison_turned_round": _PATCHES.format(test="noise > probs", mask=_Z, join=_MEAN),
    "raises_on_a_name": _PATCHES.format(
        test="noise < probs", mask=_Z, join="tf.reduce_mean(z[..., tf.newaxis] * values, axis=1)"
    ),
}

_GAZE = """
shapes = (16, 4, 24), (16, 1, 24), (64, 48), (48, 16), (24, 64), (64, 10)
w, b, g1, g2, m, o = weights = initial(*shapes)

def attention_probs(images):
    return tf.sigmoid(tf.tanh(tf.reshape(images, [-1, 64]) @ g1) @ g2)

def scores_of(images, noise):
    v = tf.nn.relu(tf.einsum("bpi,pij->bpj", cut(images), w) + b[:, 0])
    p = attention_probs(images)
    z = tf.stop_gradient(tf.cast(noise < p, tf.float32) - p) + p
    return tf.tanh(4 * tf.reduce_mean(z[..., tf.newaxis] * v, axis=1) @ m) @ o

def loss(x, y, noise):
    open_share = tf.reduce_mean(attention_probs(x), axis=1)
    return cross_entropy(y, scores_of(x, noise)) + 10 * tf.reduce_mean((open_share - 0.5) ** 2)

fit(loss, weights, {epochs})

def predict_attention(images):
    return {labels}
"""
_AT_HALF = "tf.argmax(scores_of(images, 0.5), axis=1)"

GAZE = {
    "ok_half_open": _GAZE.format(epochs=30, labels=_AT_HALF),
    "ok_list": _GAZE.format(epochs=35, labels=f"{_AT_HALF}.numpy().tolist()"),
    "scores_for_labels": _GAZE.format(epochs=0, labels="scores_of(images, 0.5)"),
    "below_the_floor": _GAZE.format(epochs=2, labels=_AT_HALF),
    "guessing": "def predict_attention(images):\n    return tf.zeros(len(images), tf.int32)\n",
    "not_one_label_for_each_image": "def predict_attention(images):\n    return [3, 1]\n",
}

_TURN = """
def domain_features(x, strength):
    @tf.custom_gradient
    def link(x):
        return {value}, lambda upstream: {rule}
    return link(x)
"""
DOMAIN = {
    "ok_stop_gradient": """
def domain_features(x, strength):
    return tf.stop_gradient(x + strength * x) - strength * x
""",
    "ok_float_first": _TURN.format(
        value="tf.identity(x)", rule="tf.cast(-float(strength), upstream.dtype) * upstream"
    ),
    "sign": _TURN.format(value="tf.identity(x)", rule="strength * upstream"),
    "strength_lost": _TURN.format(value="tf.identity(x)", rule="-upstream"),
    "strength_on_the_forward": """
def domain_features(x, strength):
    return -strength * x
""",
    "strength_on_the_forward_2": """
def domain_features(x, strength):
    return tf.stop_gradient(x) - strength * x
""",
    "strength_off_by_one": """
def domain_features(x, strength):
    return x + tf.stop_gradient(strength * x) - strength * x
""",
    "true_derivative": "def domain_features(x, strength):\n    return tf.identity(x)\n",
    "raises_without_a_rule": _TURN.format(value="tf.identity(x)", rule="reverse(upstream)"),
}

_PRUNE = """
def prune_and_tune(model, x, y, keep):
    {before}
    masks = []
    for kernel in kernels(model):
        size = np.abs(kernel.numpy())
        {mask}
        masks.append(mask)
        {cut}
    variables = {variables}
    optimizer = {optimizer}
    optimizer.build(variables)
    for _ in range({epochs}):
        for start in range(0, {end}, 32):
            with tf.GradientTape() as tape:
                loss = cross_entropy(y[start : start + 32], model(x[start : start + 32]))
            grads = tape.gradient(loss, variables)
            optimizer.apply_gradients(zip(grads, variables))
            {hold}
    {after}
    return {model}

def kernels(model):
    return [v for v in model.trainable_variables if len(v.shape) {axes}]
"""
_HOLD = "[k.assign(k.numpy() * m) for k, m in zip(kernels(model), masks)]"
_RANKED = """order = np.argsort(-size, axis=None, kind="stable")
        mask = np.zeros(size.size)
        mask[order[: {count}]] = 1
        mask = mask.reshape(size.shape)"""
_ARGS = {
    "before": "share = keep",
    "mask": "mask = size > np.sort(size, axis=None)[size.size - round(share * size.size) - 1]",
    "epochs": 5,
    "cut": "kernel.assign(kernel.numpy() * mask)",
    "variables": "model.trainable_variables",
    "optimizer": "tf.keras.optimizers.Adam(0.003)",
    "end": "len(y)",
    "hold": _HOLD,
    "after": "",
    "model": "model",
    "axes": "== 2",
}


def _prune(**changes: object) -> str:
    return _PRUNE.format(**_ARGS | changes)


PRUNE = {
    "ok_multiply": _prune(),
    "ok_gradients_masked": _prune(hold="pass").replace(
        "zip(grads, variables)", "masked(grads, variables, model, masks)"
    )
    + """
def masked(grads, variables, model, masks):
    held = {id(k): m for k, m in zip(kernels(model), masks)}
    return [(g * held.get(id(v), 1.0), v) for g, v in zip(grads, variables)]
""",
    "ok_fit": """
def prune_and_tune(model, x, y, keep):
    masks = {}
    for layer in model.layers:
        size = tf.abs(tf.reshape(layer.kernel, [-1]))
        rank = tf.argsort(tf.argsort(size, direction="DESCENDING", stable=True))
        kept = tf.reshape(rank < round(keep * len(size)), layer.kernel.shape)
        masks[layer.name] = tf.cast(kept, tf.float32)
        layer.kernel.assign(layer.kernel * masks[layer.name])

    class Hold(tf.keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            for layer in self.model.layers:
                layer.kernel.assign(layer.kernel * masks[layer.name])

    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(0.003), loss)
    model.fit(x, y, 32, 5, verbose=0, shuffle=False, callbacks=[Hold()])
    return model
""",
    "zeros_lost": _prune(hold="pass"),
    "wrong_end": _prune(mask="mask = size < np.sort(size, axis=None)[round(share * size.size)]"),
    "wrong_end_2": _prune(mask="mask = size < np.sort(size, axis=None)[-round(share * size.size)]"),
    "sign_taken_for_size": _prune(
        mask="mask = kernel.numpy() >= np.sort(kernel, axis=None)[-round(share * size.size)]"
    ),
    "another_model": _prune(
        before="given, share = model, keep; model = tf.keras.models.clone_model(given); "
        "model.set_weights(given.get_weights())"
    ),
    "keep_taken_for_the_pruned_share": _prune(before="share = 1 - keep"),
    "one_threshold_for_all_layers": _prune(
        before="sizes = [np.abs(k.numpy()).ravel() for k in kernels(model)]; "
        "every = np.sort(np.concatenate(sizes))",
        mask="mask = size > every[every.size - round(keep * every.size) - 1]",
    ),
    "another_rounding1": _prune(mask=_RANKED.format(count="int(keep * size.size)")),
    "another_rounding2": _prune(mask=_RANKED.format(count="int(np.ceil(keep * size.size))")),
    "another_rounding3": _prune(mask=_RANKED.format(count="int(keep * size.size + 0.5)")),
    "not_tuned": _prune(epochs=0),
    "pruned_after_training": _prune(
        cut="pass",
        hold="pass",
        after="for kernel in kernels(model):\n"
        "        size = np.abs(kernel.numpy())\n"
        "        border = np.sort(size, axis=None)[size.size - round(keep * size.size)]\n"
        "        kernel.assign(kernel.numpy() * (size >= border))",
    ),
    "kernels_left_out": _prune(variables="model.trainable_variables[-2:]"),
    "biases_not_tuned": _prune(variables="kernels(model)"),
    "tuned_too_little1": _prune(epochs=1, end="32"),
    "tuned_too_little2": _prune(epochs=1),
    "tuned_too_little3": _prune(optimizer="tf.keras.optimizers.Adam(0.001)"),
    "tuned_too_little4": _prune(cut="pass", hold="pass", after=_HOLD),
    "model_not_returned": _prune(model="None"),
    "biases_pruned": _prune(axes="> 0"),
    "raises_without_masks": _prune(mask="mask = magnitude_mask(size, keep)"),
}

_SPARSE = """
a, b, c, d = weights = initial((64, 200), (200,), (200, 10), (10,))
masks = [1.0, 1.0]

def scores_of(images):
    h = tf.nn.relu(tf.reshape(images, [-1, 64]) @ (a * masks[0]) + b)
    return h @ (c * masks[1]) + d

def loss(x, y, noise):
    squares = tf.reduce_sum(a * a) + tf.reduce_sum(c * c)
    return cross_entropy(y, scores_of(x)) + 1e-3 * squares

fit(loss, weights, {epochs})
for i, kernel in enumerate((a, c)):
    size = np.abs(kernel.numpy())
    masks[i] = (size >= np.quantile(size, 0.9)).astype(np.float32)
fit(loss, weights, {epochs}, rate=0.003)

def predict_pruned(images):
    return {labels}
"""
SPARSE = {
    "ok_variables": _SPARSE.format(epochs=15, labels=_ARGMAX),
    "ok_keras": """
def network():
    tf.keras.utils.set_random_seed(SEED)
    model = tf.keras.Sequential([tf.keras.layers.Dense(256, "relu"), tf.keras.layers.Dense(10)])
    model.build((None, 64))
    return model

model = network()
flat = lambda images: tf.reshape(images, [-1, 64])
squares = lambda: sum(tf.reduce_sum(layer.kernel**2) for layer in model.layers)
loss = lambda x, y, noise: cross_entropy(y, model(flat(x))) + 0.001 * squares()
fit(loss, model.trainable_variables, 15)
masks = {}
for layer in model.layers:
    kernel = layer.kernel
    size = np.abs(kernel.numpy())
    masks[layer.name] = (size >= np.quantile(size, 0.9)).astype(np.float32)
for _ in range(15):
    for layer in model.layers:
        layer.kernel.assign(layer.kernel.numpy() * masks[layer.name])
    fit(loss, model.trainable_variables, 1, rate=0.003)
for layer in model.layers:
    layer.kernel.assign(layer.kernel.numpy() * masks[layer.name])

def predict_pruned(images):
    return tf.argmax(model(flat(images)), axis=1)
""",
    "scores_for_labels": _SPARSE.format(epochs=0, labels="scores_of(images)"),
    "below_the_floor": _SPARSE.format(epochs=1, labels=_ARGMAX).replace("0.9)", "0.97)"),
    "guessing": "def predict_pruned(images):\n    return np.arange(len(images)) % 10\n",
}

_NEWTON = """
def newton_cg_step(f, x, iterations, damping):
    def gradient():
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = f(x)
        return tape.gradient(value, x)

    def product(d):
        with tf.GradientTape() as tape:
            tape.watch(x)
            slope = gradient()
        image = tape.gradient(slope, x, output_gradients=d{zero})
        return image + {damping} * d

    p, r = tf.zeros_like(x), gradient()
    d = r
    for _ in range({count}):
        image = product(d)
        alpha = {divide}(tf.reduce_sum(r * r), tf.reduce_sum(d * image))
        p = p + alpha * d
        after = r - alpha * image
        d = after + {divide}(tf.reduce_sum(after * after), tf.reduce_sum(r * r)) * d
        r = after
    return {result}
"""
_STEP = {
    "zero": ", unconnected_gradients='zero'",
    "damping": "damping",
    "count": "iterations",
    "divide": "tf.math.divide_no_nan",
    "result": "x - p",
}


def _newton(**changes: str) -> str:
    return _NEWTON.format(**_STEP | changes)


NEWTON = {
    "ok_output_gradients": _newton(),
    "ok_forward_over_reverse": """
def newton_cg_step(f, x, iterations, damping):
    def slope(at):
        with tf.GradientTape() as tape:
            tape.watch(at)
            value = f(at)
        return tape.gradient(value, at)

    def product(d):
        with tf.autodiff.ForwardAccumulator(x, d) as forward:
            g = slope(x)
        image = forward.jvp(g, unconnected_gradients="zero")
        return image + damping * d

    p, r = tf.zeros_like(x), slope(x)
    d, rr = r, tf.reduce_sum(r * r)
    for _ in range(iterations):
        image = product(d)
        a = tf.math.divide_no_nan(rr, tf.reduce_sum(d * image))
        p, r = p + a * d, r - a * image
        new = tf.reduce_sum(r * r)
        d, rr = r + tf.math.divide_no_nan(new, rr) * d, new
    return x - p
""",
    "uphill": _newton(result="x + p"),
    "gradient_step": _newton(result="x - gradient()"),
    "damping_lost": _newton(damping="0.0"),
    "one_iteration_short": _newton(count="iterations - 1"),
    "one_iteration_too_many": _newton(count="iterations + 1"),
    "directions_not_conjugate": _newton().replace("d = after + ", "d = after + 0 * "),
    "x_forgotten": _newton(result="p"),
    "solved_to_the_end": """
def newton_cg_step(f, x, iterations, damping):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            value = f(x)
        g = inner.gradient(value, x)
    n = int(np.prod(x.shape))
    hessian = outer.jacobian(g, x, unconnected_gradients="zero")
    a = tf.reshape(hessian, [n, n]) + damping * tf.eye(n, dtype=x.dtype)
    return x - tf.reshape(tf.linalg.solve(a, tf.reshape(g, [n, 1])), x.shape)
""",
    "nan": _newton(divide="tf.divide"),
    "second_derivative_of_a_line": _newton(zero=""),
    "forms_the_Hessian": """
def newton_cg_step(f, x, iterations, damping):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            value = f(x)
        g = inner.gradient(value, x)
    hessian = outer.jacobian(g, x, unconnected_gradients="zero")
    n = int(np.prod(x.shape))
    a = tf.reshape(hessian, [n, n]) + damping * tf.eye(n, dtype=x.dtype)
    p, r = tf.zeros([n], x.dtype), tf.reshape(g, [n])
    d, rr = r, tf.reduce_sum(r * r)
    for _ in range(iterations):
        image = tf.linalg.matvec(a, d)
        alpha = tf.math.divide_no_nan(rr, tf.reduce_sum(d * image))
        p, r = p + alpha * d, r - alpha * image
        new = tf.reduce_sum(r * r)
        d, rr = r + tf.math.divide_no_nan(new, rr) * d, new
    return x - tf.reshape(p, x.shape)
""",
}

ANSWERS = {
    "binary_dense": DENSE,
    "predict_binary": BINARY,
    "patch_attention": ATTENTION,
    "predict_attention": GAZE,
    "domain_features": DOMAIN,
    "prune_and_tune": PRUNE,
    "predict_pruned": SPARSE,
    "newton_cg_step": NEWTON,
}


def measure(seeds: int = 20) -> None:
    """Held-out accuracies of the chapter's own predictors, one column per seed."""
    from pathlib import Path

    from grader.build.cells import read
    from grader.course import Course
    from grader.lint.space import answer, setup

    chapter = Course.find(Path(__file__)).chapter("10")
    space = setup(chapter)
    sources = {c.metadata.answer: c.source for c in read(chapter).cells if "answer" in c.metadata}
    for name in ("predict_binary", "predict_attention", "predict_pruned"):
        shares = []
        for seed in range(seeds):
            space["SEED"] = seed
            shares.append(space["accuracy"](answer(sources[name], f"seed {seed}", name, space)))
        low, middle, high = min(shares), sorted(shares)[len(shares) // 2], max(shares)
        print(f'    "{name}": ({low:.4f}, {middle:.4f}, {high:.4f}),', flush=True)


if __name__ == "__main__":
    import sys

    measure(*map(int, sys.argv[1:]))
