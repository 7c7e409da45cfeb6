"""Chapter 07's probes: they make steps with the learner's functions and report what moved."""

import functools
import types

import numpy as np


def _blank(value):
    return type(value).__name__ == "Blank"


def _moved(before, after, mask):
    """How many frozen entries are not bit for bit what they were."""
    return int(np.sum((np.asarray(before) != np.asarray(after)) & ~mask))


class _Record:
    """Collects weights and the motion of frozen entries, one row per phase or step.

    stepped: the weights after the last step, where something else came after it.
    """

    def __init__(self):
        self.weights, self.moves, self.count = [], [], 0

    def add(self, before, after, mask, stepped=None):
        stepped = after if stepped is None else stepped
        self.weights.append(after)
        self.moves.append(np.where(mask, 0, stepped - before).astype(after.dtype))
        self.count += _moved(before, stepped, mask) + _moved(stepped, after, mask)

    def answers(self):
        return {
            "weights": np.stack(self.weights),
            "moves of frozen entries": np.stack(self.moves),
            "frozen entries that moved": self.count,
        }


def _beside(answer, name):
    """What has this name where the answer was written, be it a function, a partial, a decorated
    function or an object that can be called."""
    function = answer
    while function is not None:
        space = getattr(function, "__globals__", {})
        if name in space:
            return space[name]
        function = _within(function)
    raise NameError(f"{name} is not defined. It belongs into the same cell.")


def _within(function):
    """The function that is called by this one's call, None where that is not known."""
    if isinstance(function, functools.partial):
        return function.func
    if hasattr(function, "__wrapped__"):
        return function.__wrapped__
    call = type(function).__call__ if callable(function) else None
    return call if isinstance(call, types.FunctionType) else None


def by_slots(answer, case, mode):
    """freeze_by_slots, steps with a masked gradient, restore_slots; phase after phase."""
    import tensorflow as tf

    restore = _beside(answer, "restore_slots")
    o, given = case.options, case.inputs
    optimizer = tf.compat.v1.train.AdamOptimizer(o["lr"], o["beta1"], o["beta2"], o["eps"])
    variable = tf.Variable(given["weights"])
    record, lost = _Record(), 0
    for given_mask, gradients in zip(given["masks"], given["gradients"], strict=True):
        mask, before, slots = given_mask != 0, variable.numpy(), _slots(optimizer, variable)
        saved = answer(optimizer, variable, tf.constant(given_mask))
        if _blank(saved):
            return {"weights": saved, "moves of frozen entries": saved}
        for gradient in gradients:
            masked = tf.constant(np.where(mask, gradient, 0).astype(gradient.dtype))
            optimizer.apply_gradients([(masked, variable)])
        stepped = variable.numpy()  # before restore_slots, which could put weights back
        gap = restore(optimizer, variable, saved)
        if _blank(gap):
            return {"weights": gap, "moves of frozen entries": gap}
        record.add(before, variable.numpy(), mask, stepped)
        pairs = zip(slots, _slots(optimizer, variable), strict=True)
        lost += sum(_moved(old, new, mask) for old, new in pairs)
    return {**record.answers(), "moments not put back": lost}


def _slots(optimizer, variable):
    found = [optimizer.get_slot(variable, name) for name in ("m", "v")]
    return [np.zeros(variable.shape) if slot is None else slot.numpy() for slot in found]


def _optimizer(case):
    import tensorflow as tf

    return getattr(tf.keras.optimizers, case.options["kind"])(**case.options["settings"])


def frozen_step(answer, case, mode):
    """Steps of a built Keras optimizer under changing masks, called directly or traced."""
    import tensorflow as tf

    given = case.inputs
    optimizer, variable = _optimizer(case), tf.Variable(given["weights"], name="weights")
    others = [tf.Variable(np.ones((5,), given["weights"].dtype), name="other")]
    optimizer.build([*others[: case.options["others"]], variable])
    call = tf.function(answer) if mode == "outside" else answer
    record, slots_moved = _Record(), 0
    for gradient, given_mask in zip(given["gradients"], given["masks"], strict=True):
        mask, before, slots = given_mask != 0, variable.numpy(), _per_entry(optimizer, variable)
        gap = call(optimizer, variable, tf.constant(gradient), tf.constant(given_mask))
        if _blank(gap):
            return {"weights": gap}
        record.add(before, variable.numpy(), mask)
        pairs = zip(slots, _per_entry(optimizer, variable), strict=True)
        slots_moved += sum(_moved(old, new, mask) for old, new in pairs)
    counted = int(optimizer.iterations.numpy())
    extra = {"slots of frozen entries that moved": slots_moved, "steps counted": counted}
    return {**record.answers(), **extra}


def _per_entry(optimizer, variable):
    """The optimizer's own lists of slots, at this variable's place."""
    place = optimizer._get_variable_index(variable)
    lists = ("_momentums", "_velocities", "_velocity_hats")
    found = [getattr(optimizer, name, None) for name in lists]
    return [slots[place].numpy() for slots in found if slots]


def mask(answer, case, mode):
    """magnitude_mask: the mask and its dtype."""
    given = answer(_tensor(case.inputs["weights"]), case.inputs["keep"])
    if given is None or _blank(given):
        return {"value": given}
    return {"value": given, "dtype": np.asarray(given).dtype.name}


def update_subset(answer, case, mode):
    """One call per step, each with the names of that step; the optimizer comes unbuilt."""
    o, given = case.options, case.inputs
    optimizer, variables = _optimizer(case), [_variable(case, name) for name in o["order"]]
    history, resting = {name: [] for name in o["order"]}, 0
    for t, names in enumerate(o["names"]):
        before = [v.numpy() for v in variables]
        gradients = [_tensor(given[f"{name} gradients"][t]) for name in o["order"]]
        gap = answer(optimizer, variables, gradients, list(names))
        if _blank(gap):
            return {f"variable {name}": gap for name in o["order"]}
        wanted = {name.removesuffix(":0") for name in names}
        for name, variable, old in zip(o["order"], variables, before, strict=True):
            now = variable.numpy()
            history[name].append(now)
            resting += int(name not in wanted and np.any(now != old))
    answers = {f"variable {name}": np.stack(steps) for name, steps in history.items()}
    return {**answers, "variables that should rest and moved": resting}


def _tensor(value):
    import tensorflow as tf

    return tf.constant(value)


def _variable(case, name):
    import tensorflow as tf

    value = case.inputs[name]
    if case.options["flavour"] == "keras":
        return tf.keras.Variable(value, dtype=value.dtype.name, name=name)
    return tf.Variable(value, name=name)
