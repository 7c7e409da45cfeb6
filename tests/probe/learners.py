"""Functions as learners write them: first the plain ones, then those that AutoGraph rewrites, or
that call what nobody has looked at."""

import functools
import math
import sys

import numpy as np
import tensorflow as tf

shared = tf.constant([1.0, 2.0])
weight = tf.Variable([3.0, 4.0])


class Scale:
    """A learner's own class: nobody has looked at its methods."""

    def __call__(self, x):
        return 2.0 * x if tf.reduce_sum(x) > 0 else x

    def by(self, x):
        return self(x)


class Number(int):
    """A number with a method."""

    def by(self, x):
        return self * x if x > 0 else x


scale = Scale()
number = Number(2)
learners = sys.modules[__name__]


def kept(f):
    @functools.wraps(f)
    def called(*arguments):
        return f(*arguments)

    return called


def branch(x):
    if tf.reduce_sum(x) > 0:
        return 2.0 * x
    return x


def helper(x):
    return tf.square(x) + shared


def once(f, x):
    return f(x)


# Plain.
def twice(x):
    """Has a docstring, too."""
    return 2.0 * x


def gradient(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.exp(x) * tf.stop_gradient(x))
    return tape.gradient(y, x)


def calls_helper(x):
    y: tf.Tensor = helper(x)
    y += math.pi * np.float32(2.0)
    return y


def custom(x):
    @tf.custom_gradient
    def clipped(x):
        def grad(upstream):
            return tf.clip_by_value(upstream, -1.0, 1.0)

        return tf.identity(x), grad

    return clipped(x)


def unpacks(x):
    first, *rest = tf.unstack(x)
    return tf.stack([-first, *[each * 2.0 for each in rest]])[:, None]


def maps(x):
    return tf.map_fn(branch, x)  # map_fn itself has AutoGraph rewrite what it calls


def chooses(x):
    def mapped():
        return tf.map_fn(branch, x)

    return tf.cond(tf.reduce_sum(x) > 0, mapped, lambda: -x)


def compares(x):
    some = tf.cast(x > 0, x.dtype) + tf.cast(shared.dtype.max > 1, x.dtype)
    return {"name": f"{x.dtype!r}", "value": some}["value"]


def calls_itself(x, again=None):
    return {"again": calls_itself, "value": tf.reshape(x, x.shape.as_list())}["value"]


# Not plain.
def loop(x):
    for _ in tf.range(3):
        x = 2.0 * x
    return x


def while_loop(x):
    while tf.reduce_sum(x) < 10.0:
        x = 2.0 * x
    return x


def conditional(x):
    return x if tf.reduce_sum(x) > 0 else -x


def logic(x):
    return tf.where(x > 0 and x < 1, x, x)


def negation(x):
    return not x


def between(x):
    return 0 < x < 1


def asserts(x):
    assert tf.reduce_sum(x) > 0
    return x


def filtered(x):
    return [each for each in tf.unstack(x) if each > 0]


def prints(x):
    print(x)
    return x


def length(x):
    return len(x) * x


def calls_branch(x):
    return branch(x)


def calls_a_local(x):
    f = branch
    return f(x)


def calls_an_argument(x, f=branch):
    return f(x)


def calls_an_instance(x):
    return scale(x)


def calls_a_method(x):
    return scale.by(x)


def makes_an_instance(x):
    return Scale().by(x)


def hides_the_instance(x):
    def grad(scale):
        return scale.by(x)

    return scale.by(grad)


def renames(x):
    mine = scale
    return mine.by(x)


def takes_from_a_list(x):
    return [scale][0].by(x)


def takes_from_a_dictionary(x):
    return {"mine": scale}.get("mine").by(x)


def has_a_default(x, mine=scale):
    return mine.by(x)


def has_an_inner_default(x):
    def grad(upstream, mine=scale):
        return mine.by(upstream)

    return grad(x)


def asks_a_number(x):
    return number.by(x)


def renames_a_module(x):
    mine = learners
    return mine.branch(x)


def calls_a_module(x):
    return learners.branch(x)


def calls_both(x):
    return of_helper(x) + of_branch(x)


def around(f):
    def inner(x):
        return f(x)

    return inner


of_helper, of_branch = around(helper), around(branch)


def decorates(x):
    @kept
    def inner(x):
        return x

    return inner(x)


@kept
def decorated(x):
    return 2.0 * x


def picks(x):
    return [branch][0](x)


def tries(x):
    try:
        return x
    finally:
        pass


def nested_branch(x):
    def grad(upstream):
        return upstream if tf.reduce_sum(upstream) > 0 else x

    return grad(x)


def wrong_shape(x):
    y = 2.0 * x
    return tf.reshape(y, [7])
