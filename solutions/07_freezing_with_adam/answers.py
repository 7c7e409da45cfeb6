"""What people write in chapter 07: right answers (ok_…) and wrong ones, named by their mistake."""

ADAM = """
def adam_step(w, g, m, v, t, lr, beta1, beta2, eps):
    {m}
    {v}
    {rest}
"""
M = "m = beta1 * m + (1 - beta1) * g"
V = "v = beta2 * v + (1 - beta2) * g * g"
STEP = "step = lr * (1 - beta2**t) ** 0.5 / (1 - beta1**t)\n    "


def _adam(rest, m=M, v=V):
    return ADAM.format(m=m, v=v, rest=rest)


SLOTS = """
def freeze_by_slots(optimizer, variable, mask):
    m, v = optimizer.get_slot(variable, "m"), optimizer.get_slot(variable, "v")
    if m is None:
        return None
    mask = tf.cast(mask, tf.bool)
    saved = (mask, tf.identity(m), tf.identity(v))
    {clear}
    return saved


def restore_slots(optimizer, variable, saved):
    if saved is None:
        return
    mask, old_m, old_v = saved
    m, v = optimizer.get_slot(variable, "m"), optimizer.get_slot(variable, "v")
    {restore}
"""
CLEAR_M = "m.assign(tf.where(mask, m, tf.zeros_like(m)))"
CLEAR_V = "v.assign(tf.where(mask, v, tf.zeros_like(v)))"
BACK_M = "m.assign(tf.where(mask, m, old_m))"
BACK_V = "v.assign(tf.where(mask, v, old_v))"
BACK = f"{BACK_M}\n    {BACK_V}"
BACK_ALL = f"{BACK}\n    variable.assign(tf.where(mask, variable, old))"


def _slots(clear=CLEAR_M, restore=BACK):
    return SLOTS.format(clear=clear, restore=restore)


SNAPSHOT = """
def frozen_step(optimizer, variable, gradient, mask):
    mask = tf.cast(mask, tf.bool)
    {slots}
    old = [tf.identity(each) for each in kept]
    optimizer.apply_gradients([({gradient}, variable)])
    for each, before in zip(kept, old):
        each.assign(tf.where({mask}, each, before))
"""
BY_PATH = """ends = ("momentum", "velocity", "velocity_hat")
    same = [s for s in optimizer.variables if s.shape == variable.shape]
    kept = [variable] + [s for s in same if s.path.endswith(ends)]"""
MASKED = "tf.where(mask, gradient, tf.zeros_like(gradient))"


def _snapshot(slots=BY_PATH, gradient="gradient", mask="mask"):
    return SNAPSHOT.format(slots=slots, gradient=gradient, mask=mask)


SUBSET = """
def update_subset(optimizer, variables, gradients, names):
    {build}
    {wanted}
    pairs = {pairs}
    optimizer.apply_gradients(pairs)
"""
BUILD = "if not optimizer.built:\n        optimizer.build(variables)"
WANTED = "wanted = [name.split(':')[0] for name in names]"
PAIRS = "[(g, v) for g, v in zip(gradients, variables) if v.name.split(':')[0] in wanted]"


def _subset(build=BUILD, wanted=WANTED, pairs=PAIRS):
    return SUBSET.format(build=build, wanted=wanted, pairs=pairs)


MASK = """
def magnitude_mask(weights, keep):
    flat = {flat}
    count = {count}
    places = {places}
    mask = tf.reduce_any(tf.one_hot(places, tf.size(flat), True, False), axis=0)
    return tf.cast(tf.reshape(mask, weights.shape), {dtype})
"""


def _mask(
    flat="tf.abs(tf.reshape(weights, [-1]))",
    count="round(keep * flat.shape[0])",
    places="tf.math.top_k(flat, count).indices",
    dtype="tf.bool",
):
    return MASK.format(flat=flat, count=count, places=places, dtype=dtype)


_MOVES = {
    "SGD": "stays",
    "SGD with momentum": "moves",
    "Adagrad": "stays",
    "RMSprop": "stays",
    "RMSprop with momentum": "moves",
    "Adam": "moves",
    "Adam with amsgrad": "moves",
    "AdamW": "moves",
    "Nadam": "moves",
    "Lion": "moves",
}


def _table(**changes):
    entries = _MOVES | {key.replace("_", " "): value for key, value in changes.items()}
    return f"which_still_move = {entries!r}\n"


ANSWERS = {
    "adam_step": {
        "ok_towards": _adam(
            STEP + "return w - step * m / (tf.sqrt(v) + eps), m, v",
            m="m = m + (g - m) * (1 - beta1)",
            v="v = v + (tf.square(g) - v) * (1 - beta2)",
        ),
        "ok_corrected_moments": _adam(
            "high, wide = m / (1 - beta1**t), v / (1 - beta2**t)\n    "
            "small = eps / (1 - beta2**t) ** 0.5\n    "
            "return [w - lr * high / (tf.sqrt(wide) + small), m, v]"
        ),
        "ok_keras": """
def adam_step(w, g, m, v, t, lr, beta1, beta2, eps):
    t = tf.cast(t, w.dtype)
    alpha = lr * tf.sqrt(1 - tf.pow(tf.cast(beta2, w.dtype), t))
    alpha = alpha / (1 - tf.pow(tf.cast(beta1, w.dtype), t))
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g**2
    return w - alpha * m / (v**0.5 + eps), m, v
""",
        "bias_correction": _adam("return w - lr * m / (tf.sqrt(v) + eps), m, v"),
        "one_correction": _adam(
            "return w - lr * m / (1 - beta1**t) / (tf.sqrt(v) + eps), m, v",
        ),
        "uphill": _adam(STEP + "return w + step * m / (tf.sqrt(v) + eps), m, v"),
        "corrected_moments_returned": _adam(
            "high, wide = m / (1 - beta1**t), v / (1 - beta2**t)\n    "
            "return w - lr * high / (tf.sqrt(wide) + eps), high, wide"
        ),
        "moments_exchanged": _adam(STEP + "return w - step * m / (tf.sqrt(v) + eps), v, m"),
        "eps_inside_the_root": _adam(STEP + "return w - step * m / tf.sqrt(v + eps), m, v"),
        "eps_inside_the_root_2": _adam(
            "high, wide = m / (1 - beta1**t), v / (1 - beta2**t)\n    "
            "return w - lr * high / tf.sqrt(wide + eps), m, v"
        ),
        "eps_with_the_corrected_moments": _adam(
            "high, wide = m / (1 - beta1**t), v / (1 - beta2**t)\n    "
            "return w - lr * high / (tf.sqrt(wide) + eps), m, v"
        ),
        "old_moments": """
def adam_step(w, g, m, v, t, lr, beta1, beta2, eps):
    step = lr * (1 - beta2**t) ** 0.5 / (1 - beta1**t)
    w = w - step * m / (tf.sqrt(v) + eps)
    return w, beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
""",
        "square_forgotten": _adam(
            STEP + "return w - step * m / (tf.sqrt(tf.abs(v)) + eps), m, v",
            v="v = beta2 * v + (1 - beta2) * g",
        ),
        "raises_name": _adam("return w - step * m / (tf.sqrt(v) + eps), m, v"),
    },
    "drift": {
        "bias_correction": """
def drift(m, v, t, lr, beta1, beta2, eps):
    return -lr * beta1 * m / (tf.sqrt(beta2 * v) + eps)
""",
        "eps_with_the_corrected_moments": """
def drift(m, v, t, lr, beta1, beta2, eps):
    high, wide = beta1 * m / (1 - beta1**t), beta2 * v / (1 - beta2**t)
    return -lr * high / (tf.sqrt(wide) + eps)
""",
        "ok_by_halves": """
def drift(m, v, t, lr, beta1, beta2, eps):
    m, v = beta1 * m, beta2 * v
    size = lr * np.sqrt(1 - beta2**t) / (1 - beta1**t)
    return -float(size) * m / (tf.sqrt(v) + eps)
""",
        "ok_by_a_step": """
def drift(m, v, t, lr, beta1, beta2, eps):
    w, g = tf.zeros_like(m), tf.zeros_like(m)
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    size = lr * (1 - beta2**t) ** 0.5 / (1 - beta1**t)
    return (w - size * m / (tf.sqrt(v) + eps)) - w
""",
        "zero": "def drift(m, v, t, lr, beta1, beta2, eps):\n    return tf.zeros_like(m)\n",
        "magnitude": """
def drift(m, v, t, lr, beta1, beta2, eps):
    size = lr * (1 - beta2**t) ** 0.5 / (1 - beta1**t)
    return tf.abs(size * beta1 * m / (tf.sqrt(beta2 * v) + eps))
""",
        "moments_after_the_step": """
def drift(m, v, t, lr, beta1, beta2, eps):
    size = lr * (1 - beta2**t) ** 0.5 / (1 - beta1**t)
    return -size * m / (tf.sqrt(v) + eps)
""",
        "sign": """
def drift(m, v, t, lr, beta1, beta2, eps):
    size = lr * (1 - beta2**t) ** 0.5 / (1 - beta1**t)
    return size * beta1 * m / (tf.sqrt(beta2 * v) + eps)
""",
        "only_m_decayed": """
def drift(m, v, t, lr, beta1, beta2, eps):
    size = lr * (1 - beta2**t) ** 0.5 / (1 - beta1**t)
    return -size * beta1 * m / (tf.sqrt(v) + eps)
""",
    },
    "freeze_by_slots": {
        "ok_both_cleared": _slots(f"{CLEAR_M}\n    {CLEAR_V}"),
        "ok_by_multiplying": """
def freeze_by_slots(optimizer, variable, mask):
    mask = tf.cast(mask, variable.dtype)
    saved = {}
    for name in ("m", "v"):
        slot = optimizer.get_slot(variable, name)
        if slot is not None:
            saved[name] = slot.numpy() * (1 - mask.numpy())
    if saved:
        slot = optimizer.get_slot(variable, "m")
        slot.assign(slot * mask)
    return saved, mask


def restore_slots(optimizer, variable, saved):
    saved, mask = saved
    for name, held in saved.items():
        slot = optimizer.get_slot(variable, name)
        slot.assign(slot * mask + held)
""",
        "gradient_only": """
def freeze_by_slots(optimizer, variable, mask):
    return None


def restore_slots(optimizer, variable, saved):
    pass
""",
        "weights_put_back": _slots("saved += (tf.identity(variable),)", BACK_ALL).replace(
            "old_m, old_v = saved", "old_m, old_v, old = saved"
        ),
        "v_cleared_and_m_kept": _slots(CLEAR_V),
        "nothing_restored": _slots(restore="pass"),
        "v_not_restored": _slots(restore=BACK_M),
        "restored_everywhere": _slots(restore="m.assign(old_m)\n    v.assign(old_v)"),
        "no_slots_yet": """
def freeze_by_slots(optimizer, variable, mask):
    m, v = optimizer.get_slot(variable, "m"), optimizer.get_slot(variable, "v")
    saved = m.numpy(), v.numpy()
    m.assign(tf.where(mask, m, tf.zeros_like(m)))
    return saved


def restore_slots(optimizer, variable, saved):
    optimizer.get_slot(variable, "m").assign(saved[0])
""",
        "raises_unknown_method": """
def freeze_by_slots(optimizer, variable, mask):
    return optimizer.get_slots(variable)


def restore_slots(optimizer, variable, saved):
    pass
""",
    },
    "frozen_step": {
        "ok_lists": """
def frozen_step(optimizer, variable, gradient, mask):
    keep = 1 - tf.cast(mask, variable.dtype)
    place = optimizer._get_variable_index(variable)
    names = ("_momentums", "_velocities", "_velocity_hats")
    held = [getattr(optimizer, n)[place] for n in names if getattr(optimizer, n, None)]
    held.append(variable)
    old = [tf.identity(each) for each in held]
    optimizer.apply_gradients([(gradient, variable)])
    for each, before in zip(held, old):
        each.assign(tf.where(keep > 0, before, each))
""",
        "ok_masked_first": _snapshot(gradient=MASKED),
        "ok_by_shape": _snapshot(
            """counters = ("iteration", "learning_rate")
    kept = [variable]
    for s in optimizer.variables:
        if s.shape == variable.shape and not s.path.endswith(counters):
            kept.append(s)"""
        ),
        "decay_still_moves": """
def frozen_step(optimizer, variable, gradient, mask):
    mask = tf.cast(mask, tf.bool)
    ends = ("momentum", "velocity", "velocity_hat")
    same = [s for s in optimizer.variables if s.shape == variable.shape]
    kept = [s for s in same if s.path.endswith(ends)]
    old = [tf.identity(s) for s in kept]
    for s in kept:
        if s.path.endswith("momentum"):
            s.assign(tf.where(mask, s, tf.zeros_like(s)))
    optimizer.apply_gradients([(tf.where(mask, gradient, tf.zeros_like(gradient)), variable)])
    for s, before in zip(kept, old):
        s.assign(tf.where(mask, s, before))
""",
        "gradient_only": _snapshot("kept = []", gradient=MASKED),
        "slots_moved": _snapshot("kept = [variable]"),
        "mask_the_wrong_way_round": _snapshot(mask="~mask"),
        "mask_the_wrong_way_round_2": _snapshot("kept = [variable]", mask="~mask"),
        "nothing_frozen": """
def frozen_step(optimizer, variable, gradient, mask):
    old = variable
    optimizer.apply_gradients([(gradient, variable)])
    variable.assign(tf.where(tf.cast(mask, tf.bool), variable, old))
""",
        "nothing_moves": "def frozen_step(optimizer, variable, gradient, mask):\n    pass\n",
        "counter_put_back": _snapshot(
            "kept = [variable] + [s for s in optimizer.variables if s.shape == variable.shape]"
        ),
        "mask_not_boolean": """
def frozen_step(optimizer, variable, gradient, mask):
    ends = ("momentum", "velocity", "velocity_hat")
    same = [s for s in optimizer.variables if s.shape == variable.shape]
    kept = [variable] + [s for s in same if s.path.endswith(ends)]
    old = [tf.identity(each) for each in kept]
    optimizer.apply_gradients([(gradient, variable)])
    for each, before in zip(kept, old):
        each.assign(tf.where(mask, each, before))
""",
        "raises_get_slot": _snapshot('kept = [variable, optimizer.get_slot(variable, "m")]'),
    },
    "update_subset": {
        "ok_dictionary": """
def update_subset(optimizer, variables, gradients, names):
    if not optimizer.built:
        optimizer.build(variables)
    found = {v.name.removesuffix(":0"): (g, v) for g, v in zip(gradients, variables)}
    optimizer.apply_gradients([found[name.removesuffix(":0")] for name in names])
""",
        "ok_none_gradients": _subset(
            pairs="[(g if v.name.split(':')[0] in wanted else None, v) "
            "for g, v in zip(gradients, variables)]"
        ),
        "the_others_moved": _subset(
            pairs="[(g, v) for g, v in zip(gradients, variables) "
            "if v.name.split(':')[0] not in wanted]"
        ),
        "nothing_moves": "def update_subset(optimizer, variables, gradients, names):\n    pass\n",
        "suffix_of_the_name_2": """
def update_subset(optimizer, variables, gradients, names):
    optimizer.build(variables)
    for g, v in zip(gradients, variables):
        if v.name in names:
            optimizer.apply_gradients([(g, v)])
""",
        "suffix_of_the_name_3": """
def update_subset(optimizer, variables, gradients, names):
    if not optimizer.built:
        optimizer.build(variables)
    pairs = [(g, v) for g, v in zip(gradients, variables) if v.name in names]
    if pairs:
        optimizer.apply_gradients(pairs)
""",
        "a_step_for_each_variable": """
def update_subset(optimizer, variables, gradients, names):
    if not optimizer.built:
        optimizer.build(variables)
    for g, v in zip(gradients, variables):
        if v.name.removesuffix(":0") in [name.removesuffix(":0") for name in names]:
            optimizer.apply_gradients([(g, v)])
""",
        "weights_put_back": """
def update_subset(optimizer, variables, gradients, names):
    wanted = [name.split(":")[0] for name in names]
    old = [tf.identity(v) for v in variables]
    optimizer.apply_gradients(zip(gradients, variables))
    for v, before in zip(variables, old):
        if v.name.split(":")[0] not in wanted:
            v.assign(before)
""",
        "unbuilt_optimizer": _subset(build="pass"),
        "trainable_flag_alone": """
def update_subset(optimizer, variables, gradients, names):
    wanted = [name.split(":")[0] for name in names]
    for v in variables:
        v.trainable = v.name.split(":")[0] in wanted
    optimizer.apply_gradients(zip(gradients, variables))
""",
        "zero_gradients": _subset(
            pairs="[(g if v.name.split(':')[0] in wanted else tf.zeros_like(g), v) "
            "for g, v in zip(gradients, variables)]"
        ),
        "part_of_a_name": _subset(
            pairs="[(g, v) for g, v in zip(gradients, variables) "
            "if any(name in v.name for name in wanted)]"
        ),
        "zeros_taken_off_the_name": _subset(
            wanted="wanted = [name.rstrip(':0') for name in names]",
            pairs="[(g, v) for g, v in zip(gradients, variables) if v.name.rstrip(':0') in wanted]",
        ),
        "suffix_of_the_name": _subset(
            pairs="[(g, v) for g, v in zip(gradients, variables) if v.name in wanted]"
        ),
        "raises_index": _subset(pairs="[(gradients[9], variables[9])]"),
    },
    "thaw_step_size": {
        "ok_numpy": """
def thaw_step_size(t, lr, beta1, beta2):
    t = t + 1
    size = lr * np.sqrt(1 - beta2**t) / (1 - beta1**t)
    return size * (1 - beta1) / np.sqrt(1 - beta2)
""",
        "ok_by_a_step": """
def thaw_step_size(t, lr, beta1, beta2):
    g = 2.0
    m, v = (1 - beta1) * g, (1 - beta2) * g * g
    size = lr * (1 - beta2 ** (t + 1)) ** 0.5 / (1 - beta1 ** (t + 1))
    return size * m / v**0.5
""",
        "ok_tensors": """
def thaw_step_size(t, lr, beta1, beta2):
    now = tf.cast(t + 1, tf.float32)
    size = lr * tf.sqrt(1 - tf.pow(beta2, now)) / (1 - tf.pow(beta1, now))
    return size * (1 - beta1) / tf.sqrt(1 - beta2)
""",
        "lr": "def thaw_step_size(t, lr, beta1, beta2):\n    return lr\n",
        "bias_correction": """
def thaw_step_size(t, lr, beta1, beta2):
    return lr * (1 - beta1) / (1 - beta2) ** 0.5
""",
        "one_step_early": """
def thaw_step_size(t, lr, beta1, beta2):
    t = max(t, 1)
    size = lr * (1 - beta2**t) ** 0.5 / (1 - beta1**t)
    return size * (1 - beta1) / (1 - beta2) ** 0.5
""",
    },
    "which_still_move": {
        "ok_another_order": f"which_still_move = {dict(reversed(list(_MOVES.items())))!r}\n",
        "ok_capitals": _table(Adam="Moves", SGD="Stays"),
        "squares_taken_for_momentum": _table(RMSprop="moves", Adagrad="moves"),
        "zero_gradient_taken_for_rest": _table(Lion="stays", Nadam="stays"),
        "wrong_entries": _table(Adagrad="moves", SGD_with_momentum="stays"),
    },
    "magnitude_mask": {
        "ok_argsort": _mask(places='tf.argsort(flat, direction="DESCENDING", stable=True)[:count]'),
        "ok_ranks": """
def magnitude_mask(weights, keep):
    size = tf.abs(tf.reshape(weights, [-1]))
    order = tf.argsort(-size, stable=True)
    ranks = tf.argsort(order)
    count = round(keep * weights.shape.num_elements())
    return tf.reshape(ranks < count, weights.shape)
""",
        "wrong_end": _mask(places="tf.math.top_k(-flat, count).indices"),
        "fraction_of_the_wrong_end": _mask(count="round((1 - keep) * flat.shape[0])"),
        "signed_values": _mask(flat="tf.reshape(weights, [-1])"),
        "signed_values_2": _mask(flat="tf.reshape(weights, [-1])", dtype="tf.float32"),
        "ties": """
def magnitude_mask(weights, keep):
    size = tf.abs(weights)
    count = round(keep * weights.shape.num_elements())
    if count == 0:
        return tf.zeros(weights.shape, tf.bool)
    border = tf.sort(tf.reshape(size, [-1]), direction="DESCENDING")[count - 1]
    return size >= border
""",
        "ok_numpy": """
def magnitude_mask(weights, keep):
    size = np.abs(weights.numpy()).ravel()
    mask = np.zeros(size.size, bool)
    mask[np.argsort(-size, kind="stable")[: round(keep * size.size)]] = True
    return tf.constant(mask.reshape(weights.shape))
""",
        "another_rounding1": _mask(count="int(keep * flat.shape[0])"),
        "another_rounding2": _mask(count="int(np.ceil(keep * flat.shape[0]))"),
        "another_rounding3": _mask(count="int(keep * flat.shape[0] + 0.5)"),
        "mask_of_numbers1": _mask(dtype="weights.dtype"),
        "mask_of_numbers2": _mask(dtype="tf.int32"),
        "raises_shape": _mask(flat="tf.abs(weights) + tf.zeros([2, 99])"),
    },
}
