"""What people write in chapter 04: other right answers, and wrong ones by the mistake they make."""

from __future__ import annotations

ANSWERS: dict[str, dict[str, str]] = {
    "surrogate": {
        "ok_other_order": """
def surrogate(forward, backward):
    def combined(x):
        t = backward(x)
        nothing = t - tf.stop_gradient(t)
        return nothing + tf.stop_gradient(forward(x))
    return combined
""",
        "ok_lambda": """
def surrogate(forward, backward):
    zero = lambda t: t - tf.stop_gradient(t)
    return lambda x: tf.stop_gradient(forward(x)) + zero(backward(x))
""",
        "ok_stopped_input": """
def surrogate(forward, backward):
    def combined(x):
        stopped = tf.stop_gradient(x)
        return forward(stopped) + (backward(x) - backward(stopped))
    return combined
""",
        "a_quotient_for_a_difference": """
def surrogate(forward, backward):
    def combined(x):
        f, t = forward(x), backward(x)
        return tf.stop_gradient(f / t) * t
    return combined
""",
        "a_quotient_for_a_difference_2": """
def surrogate(forward, backward):
    def combined(x):
        t = backward(x)
        return tf.stop_gradient(forward(x)) * (t / tf.stop_gradient(t))
    return combined
""",
        "no_function_returned": """
def surrogate(forward, backward):
    def combined(x):
        t = backward(x)
        return tf.stop_gradient(forward(x)) + (t - tf.stop_gradient(t))
""",
        "value_off_by_rounding": """
def surrogate(forward, backward):
    def combined(x):
        t = backward(x)
        return t + tf.stop_gradient(forward(x) - t)
    return combined
""",
        "roles_swapped": """
def surrogate(forward, backward):
    def combined(x):
        f = forward(x)
        return tf.stop_gradient(backward(x)) + (f - tf.stop_gradient(f))
    return combined
""",
        "nothing_taken_away": """
def surrogate(forward, backward):
    return lambda x: tf.stop_gradient(forward(x)) + backward(x)
""",
        "another_tool": """
def surrogate(forward, backward):
    @tf.custom_gradient
    def combined(x):
        def grad(up):
            with tf.GradientTape() as tape:
                tape.watch(x)
                t = backward(x)
            return tape.gradient(t, x, output_gradients=up)
        return forward(x), grad
    return combined
""",
        "true_derivative": """
def surrogate(forward, backward):
    return lambda x: forward(x) + tf.stop_gradient(backward(x) - backward(x))
""",
        "true_derivative_2": """
def surrogate(forward, backward):
    return forward
""",
        "zero": """
def surrogate(forward, backward):
    def combined(x):
        t = backward(x)
        return tf.stop_gradient(forward(x)) + (t - t)
    return combined
""",
        "forward_not_stopped": """
def surrogate(forward, backward):
    def combined(x):
        t = backward(x)
        return forward(x) + (t - tf.stop_gradient(t))
    return combined
""",
        "value_off_by_rounding_2": """
def surrogate(forward, backward):
    def combined(x):
        t = backward(x)
        return tf.stop_gradient(forward(x)) + t - tf.stop_gradient(t)
    return combined
""",
        "raises_function_plus_function": """
def surrogate(forward, backward):
    return tf.stop_gradient(forward) + backward - tf.stop_gradient(backward)
""",
        "float32_inside": """
def surrogate(forward, backward):
    def combined(x):
        x = tf.cast(x, tf.float32)
        t = backward(x)
        return tf.stop_gradient(forward(x)) + (t - tf.stop_gradient(t))
    return combined
""",
        "backward_alone": """
def surrogate(forward, backward):
    return backward
""",
        "backward_ignored": """
def surrogate(forward, backward):
    return tf.grad_pass_through(forward)
""",
        "backward_ignored_2": """
def surrogate(forward, backward):
    return lambda x: tf.stop_gradient(forward(x)) + (x - tf.stop_gradient(x))
""",
    },
    "reverse_by_stopping": {
        "ok_by_surrogate": """
def reverse_by_stopping(x, strength):
    return surrogate(tf.identity, lambda x: -strength * x)(x)
""",
        "ok_two_terms": """
def reverse_by_stopping(x, strength):
    return tf.stop_gradient((1.0 + strength) * x) - strength * x
""",
        "ok_custom": """
def reverse_by_stopping(x, strength):
    @tf.custom_gradient
    def turned(x):
        return tf.identity(x), lambda up: -strength * up
    return turned(x)
""",
        "sign": """
def reverse_by_stopping(x, strength):
    t = strength * x
    return tf.stop_gradient(x) + (t - tf.stop_gradient(t))
""",
        "strength_forgotten": """
def reverse_by_stopping(x, strength):
    return tf.stop_gradient(2.0 * x) - x
""",
        "strength_on_the_forward": """
def reverse_by_stopping(x, strength):
    return -strength * x
""",
        "strength_on_the_forward_2": """
def reverse_by_stopping(x, strength):
    t = -strength * x
    return tf.stop_gradient(t) + (t - tf.stop_gradient(t))
""",
        "true_derivative": """
def reverse_by_stopping(x, strength):
    return x + tf.stop_gradient(-strength * x - (-strength * x))
""",
        "none": """
def reverse_by_stopping(x, strength):
    return tf.stop_gradient(x + strength * x - strength * x)
""",
        "strength_off_by_one": """
def reverse_by_stopping(x, strength):
    return x + tf.stop_gradient(strength * x) - strength * x
""",
        "strength_on_the_forward_3": """
def reverse_by_stopping(x, strength):
    return tf.stop_gradient(x) - strength * x
""",
    },
    "scale_gradient": {
        "ok_by_surrogate": """
def scale_gradient(x, factor):
    return surrogate(tf.identity, lambda x: factor * x)(x)
""",
        "ok_two_terms": """
def scale_gradient(x, factor):
    return factor * x + tf.stop_gradient((1.0 - factor) * x)
""",
        "factor_on_the_forward": """
def scale_gradient(x, factor):
    return factor * x
""",
        "divided_by_the_factor": """
def scale_gradient(x, factor):
    t = x / factor
    return tf.stop_gradient(x) + (t - tf.stop_gradient(t))
""",
        "factor_off_by_one": """
def scale_gradient(x, factor):
    return x + factor * x - tf.stop_gradient(factor * x)
""",
        "true_derivative": """
def scale_gradient(x, factor):
    return tf.identity(x)
""",
        "upstream_lost": """
def scale_gradient(x, factor):
    @tf.custom_gradient
    def scaled(x):
        return tf.identity(x), lambda up: factor * tf.ones_like(x)
    return scaled(x)
""",
        "terms_exchanged": """
def scale_gradient(x, factor):
    return tf.stop_gradient(factor * x) + (1.0 - factor) * x
""",
    },
    "round_straight_through": {
        "ok_classic": """
def round_straight_through(x):
    return x + tf.stop_gradient(tf.round(x) - x)
""",
        "ok_pass_through": """
def round_straight_through(x):
    return tf.grad_pass_through(tf.round)(x)
""",
        "ok_custom": """
@tf.custom_gradient
def round_straight_through(x):
    return tf.round(x), lambda up: up
""",
        "none": """
def round_straight_through(x):
    return tf.round(x)
""",
        "zero": """
def round_straight_through(x):
    return x + (tf.round(x) - x)
""",
        "another_rounding": """
def round_straight_through(x):
    return x + tf.stop_gradient(tf.math.ceil(x) - x)
""",
        "raises_not_a_tensor": """
def round_straight_through(x):
    return x + tf.stop_gradient(round(x) - x)
""",
        "cut_towards_zero": """
def round_straight_through(x):
    whole = tf.cast(tf.cast(x + 0.5, tf.int32), x.dtype)
    return x + tf.stop_gradient(whole - x)
""",
        "nothing_taken_away": """
def round_straight_through(x):
    return x + tf.stop_gradient(tf.round(x))
""",
    },
    "floor_detour": {
        "ok_floormod": """
def floor_detour(x):
    return x - tf.stop_gradient(tf.math.floormod(x, 1.0))
""",
        "ok_by_surrogate": """
def floor_detour(x):
    return surrogate(tf.floor, tf.identity)(x)
""",
        "zero": """
def floor_detour(x):
    return tf.subtract(x, tf.subtract(x, tf.math.floor(x)))
""",
        "none": """
def floor_detour(x):
    return tf.stop_gradient(x) - (tf.stop_gradient(x) - tf.floor(x))
""",
        "zero_2": """
def floor_detour(x):
    return x - tf.math.floormod(x, 1.0)
""",
        "cut_towards_zero": """
def floor_detour(x):
    return x - tf.stop_gradient(x - tf.cast(tf.cast(x, tf.int32), x.dtype))
""",
        "the_fraction": """
def floor_detour(x):
    return x - tf.stop_gradient(tf.floor(x))
""",
    },
    "binarize_by_stopping": {
        "ok_by_hand": """
def binarize_by_stopping(x):
    t = tf.clip_by_value(x, -1.0, 1.0)
    return tf.stop_gradient(tf.sign(x)) + (t - tf.stop_gradient(t))
""",
        "ok_mask": """
def binarize_by_stopping(x):
    t = x * tf.cast(tf.abs(x) <= 1.0, x.dtype)
    return tf.stop_gradient(tf.sign(x) - t) + t
""",
        "ok_custom": """
@tf.custom_gradient
def binarize_by_stopping(x):
    return tf.sign(x), lambda up: tf.where(tf.abs(x) <= 1.0, up, tf.zeros_like(up))
""",
        "open_interval": """
def binarize_by_stopping(x):
    t = tf.where(tf.abs(x) < 1.0, x, tf.stop_gradient(x))
    return tf.stop_gradient(tf.sign(x)) + (t - tf.stop_gradient(t))
""",
        "unclipped": """
def binarize_by_stopping(x):
    return x + tf.stop_gradient(tf.sign(x) - x)
""",
        "soft_surrogate": """
def binarize_by_stopping(x):
    t = tf.tanh(x)
    return t + tf.stop_gradient(tf.sign(x) - t)
""",
        "sign_of_zero": """
def binarize_by_stopping(x):
    t = tf.clip_by_value(x, -1.0, 1.0)
    hard = tf.where(x >= 0.0, tf.ones_like(x), -tf.ones_like(x))
    return tf.stop_gradient(hard) + (t - tf.stop_gradient(t))
""",
        "value_clipped": """
def binarize_by_stopping(x):
    return tf.clip_by_value(x, -1.0, 1.0)
""",
        "true_derivative": """
def binarize_by_stopping(x):
    return tf.sign(tf.clip_by_value(x, -1.0, 1.0))
""",
        "ok_minimum_maximum": """
def binarize_by_stopping(x):
    t = tf.maximum(tf.minimum(x, 1.0), -1.0)
    return tf.stop_gradient(tf.sign(x) - t) + t
""",
        "open_interval_2": """
def binarize_by_stopping(x):
    t = tf.nn.relu(x + 1.0) - tf.nn.relu(x - 1.0) - 1.0
    return tf.stop_gradient(tf.sign(x) - t) + t
""",
    },
    "xnor_by_stopping": {
        "ok_by_hand": """
def xnor_by_stopping(x):
    hard = tf.sign(x) * tf.reduce_mean(tf.abs(x))
    return tf.stop_gradient(hard) + (x - tf.stop_gradient(x))
""",
        "ok_custom": """
@tf.custom_gradient
def xnor_by_stopping(x):
    return tf.sign(x) * tf.reduce_mean(tf.abs(x)), lambda up: up
""",
        "ok_published_form": """
def xnor_by_stopping(x):
    return x + tf.stop_gradient(tf.sign(x) * tf.reduce_mean(tf.abs(x)) - x)
""",
        "scaled_by_E": """
def xnor_by_stopping(x):
    size = tf.stop_gradient(tf.reduce_mean(tf.abs(x)))
    return size * (x + tf.stop_gradient(tf.sign(x) - x))
""",
        "mean_contributes": """
def xnor_by_stopping(x):
    return tf.reduce_mean(tf.abs(x)) * (x + tf.stop_gradient(tf.sign(x) - x))
""",
        "nan": """
def xnor_by_stopping(x):
    size = tf.stop_gradient(tf.reduce_mean(tf.abs(x)))
    t = x / size
    return size * (t + tf.stop_gradient(tf.sign(x) - t))
""",
        "true_derivative": """
def xnor_by_stopping(x):
    return tf.sign(x) * tf.reduce_mean(tf.abs(x))
""",
        "zero_for_zeros": """
def xnor_by_stopping(x):
    size = tf.stop_gradient(tf.reduce_mean(tf.abs(x)))
    t = tf.math.divide_no_nan(x, size)
    return size * (t + tf.stop_gradient(tf.sign(x) - t))
""",
        "mean_forgotten": """
def xnor_by_stopping(x):
    return x + tf.stop_gradient(tf.sign(x) - x)
""",
        "mean_along_one_axis": """
def xnor_by_stopping(x):
    axis = -1 if x.shape.rank else None
    size = tf.reduce_mean(tf.abs(x), axis, keepdims=True)
    return x + tf.stop_gradient(tf.sign(x) * size - x)
""",
        "clipped": """
def xnor_by_stopping(x):
    t = tf.clip_by_value(x, -1.0, 1.0)
    return t + tf.stop_gradient(tf.sign(x) * tf.reduce_mean(tf.abs(x)) - t)
""",
        "sign_of_zero": """
def xnor_by_stopping(x):
    sides = tf.where(x >= 0, tf.ones_like(x), -tf.ones_like(x))
    return tf.stop_gradient(sides * tf.reduce_mean(tf.abs(x))) + (x - tf.stop_gradient(x))
""",
    },
    "sigmoid_floor": {
        "ok_broadcast": """
def sigmoid_floor(x, sharpness, low, high):
    steps = tf.range(low + 1, high + 1)
    distance = x[..., tf.newaxis] - tf.cast(steps, x.dtype)
    return low + tf.reduce_sum(tf.sigmoid(sharpness * distance), axis=-1)
""",
        "ok_add_n": """
def sigmoid_floor(x, sharpness, low, high):
    parts = [tf.nn.sigmoid((x - float(k)) * sharpness) for k in range(high, low, -1)]
    return tf.add_n(parts) + float(low)
""",
        "off_by_one_step": """
def sigmoid_floor(x, sharpness, low, high):
    return low + sum(tf.sigmoid(sharpness * (x - k)) for k in range(low, high))
""",
        "off_by_one_step_2": """
def sigmoid_floor(x, sharpness, low, high):
    return low + sum(tf.sigmoid(sharpness * (x - k)) for k in range(low + 1, high))
""",
        "sharpness_in_the_wrong_place": """
def sigmoid_floor(x, sharpness, low, high):
    return low + sum(sharpness * tf.sigmoid(x - k) for k in range(low + 1, high + 1))
""",
        "sharpness_in_the_wrong_place_2": """
def sigmoid_floor(x, sharpness, low, high):
    return low + sum(tf.sigmoid(sharpness * x - k) for k in range(low + 1, high + 1))
""",
        "low_forgotten": """
def sigmoid_floor(x, sharpness, low, high):
    return sum(tf.sigmoid(sharpness * (x - k)) for k in range(low + 1, high + 1))
""",
        "none": """
def sigmoid_floor(x, sharpness, low, high):
    steps = sum(tf.sigmoid(sharpness * (x - k)) for k in range(low + 1, high + 1))
    return tf.stop_gradient(low + steps)
""",
        "raises_range_of_tensors": """
def sigmoid_floor(x, sharpness, low, high):
    return low + sum(tf.sigmoid(sharpness * (x - k)) for k in range(tf.floor(x), high))
""",
        "low_taken_away": """
def sigmoid_floor(x, sharpness, low, high):
    return sum(tf.sigmoid(sharpness * (x - k)) for k in range(low + 1, high + 1)) - low
""",
        "steps_go_down": """
def sigmoid_floor(x, sharpness, low, high):
    return low + sum(tf.sigmoid(-sharpness * (x - k)) for k in range(low + 1, high + 1))
""",
    },
    "ramp_floor": {
        "ok_clip": """
def ramp_floor(x, width):
    fraction = x - tf.floor(x)
    return tf.floor(x) + tf.clip_by_value((fraction - 1.0) / width + 1.0, 0.0, 1.0)
""",
        "ok_where": """
def ramp_floor(x, width):
    base = tf.floor(x)
    r = x - base
    return tf.where(r > 1.0 - width, base + (r - 1.0 + width) / width, base + 0.0 * r)
""",
        "ramp_after_the_integer": """
def ramp_floor(x, width):
    fraction = x - tf.floor(x)
    return tf.floor(x) + tf.minimum(fraction / width, 1.0)
""",
        "ramp_after_the_integer_2": """
def ramp_floor(x, width):
    fraction = x - tf.floor(x)
    return tf.floor(x) - 1.0 + tf.minimum(fraction / width, 1.0)
""",
        "slope_too_gentle": """
def ramp_floor(x, width):
    fraction = x - tf.floor(x)
    return tf.floor(x) + tf.nn.relu(fraction - (1.0 - width))
""",
        "no_ramp": """
def ramp_floor(x, width):
    return tf.floor(x)
""",
        "none": """
def ramp_floor(x, width):
    fraction = tf.stop_gradient(x - tf.floor(x))
    return tf.floor(x) + tf.nn.relu(fraction - (1.0 - width)) / width
""",
    },
    "fourier_floor": {
        "ok_broadcast": """
def fourier_floor(x, terms):
    k = tf.range(1, terms + 1, dtype=x.dtype)
    waves = tf.sin(2.0 * np.pi * x[..., None] * k) / (np.pi * k)
    return x - 0.5 + tf.reduce_sum(waves, axis=-1)
""",
        "ok_add_n": """
def fourier_floor(x, terms):
    tau = 2.0 * np.pi
    return x - 0.5 + 2.0 * tf.add_n([tf.sin(tau * k * x) / (tau * k) for k in range(1, terms + 1)])
""",
        "sign": """
def fourier_floor(x, terms):
    return x - 0.5 - sum(tf.sin(2 * np.pi * k * x) / (np.pi * k) for k in range(1, terms + 1))
""",
        "missing_½": """
def fourier_floor(x, terms):
    return x + sum(tf.sin(2 * np.pi * k * x) / (np.pi * k) for k in range(1, terms + 1))
""",
        "one_term_too_few": """
def fourier_floor(x, terms):
    return x - 0.5 + sum(tf.sin(2 * np.pi * k * x) / (np.pi * k) for k in range(1, terms))
""",
        "half_a_turn": """
def fourier_floor(x, terms):
    return x - 0.5 + sum(tf.sin(np.pi * k * x) / (np.pi * k) for k in range(1, terms + 1))
""",
        "none": """
def fourier_floor(x, terms):
    waves = sum(tf.sin(2 * np.pi * k * x) / (np.pi * k) for k in range(1, terms + 1))
    return tf.stop_gradient(x - 0.5 + waves)
""",
        "one_term_too_many": """
def fourier_floor(x, terms):
    return x - 0.5 + sum(tf.sin(2 * np.pi * k * x) / (np.pi * k) for k in range(1, terms + 2))
""",
        "waves_of_the_wrong_height": """
def fourier_floor(x, terms):
    return x - 0.5 + sum(tf.sin(2 * np.pi * k * x) / np.pi for k in range(1, terms + 1))
""",
    },
    "smoothed_sign": {
        "ok_two_ramps": """
def smoothed_sign(x, width):
    return (tf.abs(x + width) - tf.abs(x - width)) / (2.0 * width)
""",
        "ok_minimum_maximum": """
def smoothed_sign(x, width):
    return tf.maximum(tf.minimum(x / width, 1.0), -1.0)
""",
        "ok_where": """
def smoothed_sign(x, width):
    return tf.where(tf.abs(x) < width, x / width, tf.sign(x))
""",
        "not_divided_by_width": """
def smoothed_sign(x, width):
    return tf.clip_by_value(x, -width, width)
""",
        "multiplied_by_width": """
def smoothed_sign(x, width):
    return tf.clip_by_value(x * width, -1.0, 1.0)
""",
        "divided_by_the_length": """
def smoothed_sign(x, width):
    return tf.clip_by_value(x / (2.0 * width), -1.0, 1.0)
""",
        "a_mean_of_samples": """
def smoothed_sign(x, width):
    u = tf.random.uniform([1000, *x.shape], -width, width, x.dtype)
    return tf.reduce_mean(tf.sign(x + u), axis=0)
""",
        "width_ignored": """
def smoothed_sign(x, width):
    return tf.clip_by_value(x, -1.0, 1.0)
""",
        "tanh": """
def smoothed_sign(x, width):
    return tf.tanh(x / width)
""",
        "sign_itself": """
def smoothed_sign(x, width):
    return tf.sign(x)
""",
        "none": """
def smoothed_sign(x, width):
    return tf.stop_gradient(tf.clip_by_value(x / width, -1.0, 1.0))
""",
        "not_clipped": """
def smoothed_sign(x, width):
    return x / width
""",
        "a_share_for_a_mean": """
def smoothed_sign(x, width):
    return tf.clip_by_value((x + width) / (2.0 * width), 0.0, 1.0)
""",
    },
    "masked_weights": {
        "ok_where": """
def masked_weights(w, mask):
    return tf.where(mask > 0, w, tf.stop_gradient(w))
""",
        "ok_exact": """
def masked_weights(w, mask):
    return tf.stop_gradient(w) + mask * (w - tf.stop_gradient(w))
""",
        "value_masked_too": """
def masked_weights(w, mask):
    return mask * w
""",
        "mask_inverted": """
def masked_weights(w, mask):
    return mask * tf.stop_gradient(w) + (1.0 - mask) * w
""",
        "true_derivative": """
def masked_weights(w, mask):
    return w * tf.stop_gradient(mask) + (1.0 - tf.stop_gradient(mask)) * w
""",
        "none": """
def masked_weights(w, mask):
    return tf.stop_gradient(mask * w + (1.0 - mask) * w)
""",
    },
    "bernoulli_attention": {
        "ok_two_terms": """
def bernoulli_attention(features, probs, noise):
    z = tf.cast(noise < probs, features.dtype)
    nothing = probs - tf.stop_gradient(probs)
    return features * tf.stop_gradient(z) + tf.stop_gradient(features) * nothing
""",
        "ok_custom": """
@tf.custom_gradient
def bernoulli_attention(features, probs, noise):
    z = tf.cast(noise < probs, features.dtype)
    return z * features, lambda up: (up * z, up * features, None)
""",
        "ok_by_surrogate": """
def bernoulli_attention(features, probs, noise):
    draw = surrogate(lambda p: tf.cast(noise < p, features.dtype), tf.identity)
    return draw(probs) * features
""",
        "none": """
def bernoulli_attention(features, probs, noise):
    return tf.cast(noise < probs, features.dtype) * features
""",
        "gradient_through_the_comparison": """
def bernoulli_attention(features, probs, noise):
    z = tf.cast(noise < probs, features.dtype)
    soft = tf.sigmoid(10.0 * (probs - noise))
    return (tf.stop_gradient(z) + (soft - tf.stop_gradient(soft))) * features
""",
        "only_where_it_fired": """
@tf.custom_gradient
def bernoulli_attention(features, probs, noise):
    z = tf.cast(noise < probs, features.dtype)
    return z * features, lambda up: (up * z, up * z * features, None)
""",
        "expected_mask": """
def bernoulli_attention(features, probs, noise):
    return probs * features
""",
        "comparison_reversed": """
def bernoulli_attention(features, probs, noise):
    z = tf.cast(noise > probs, features.dtype)
    hard = tf.stop_gradient(z) + (probs - tf.stop_gradient(probs))
    return hard * features
""",
        "features_see_the_probabilities": """
def bernoulli_attention(features, probs, noise):
    z = tf.cast(noise < probs, features.dtype)
    soft = probs * features
    return tf.stop_gradient(z * features) + (soft - tf.stop_gradient(soft))
""",
        "features_stopped": """
def bernoulli_attention(features, probs, noise):
    z = tf.cast(noise < probs, features.dtype)
    hard = tf.stop_gradient(z) + (probs - tf.stop_gradient(probs))
    return hard * tf.stop_gradient(features)
""",
        "gradients_exchanged": """
@tf.custom_gradient
def bernoulli_attention(features, probs, noise):
    z = tf.cast(noise < probs, features.dtype)
    return z * features, lambda up: (up * features, up * z, None)
""",
    },
    "reinforce_loss": {
        "ok_sum_over_size": """
def reinforce_loss(log_prob, reward):
    count = tf.cast(tf.size(log_prob), log_prob.dtype)
    return -tf.reduce_sum(log_prob * tf.stop_gradient(reward)) / count
""",
        "ok_minus_inside": """
def reinforce_loss(log_prob, reward):
    return tf.reduce_mean(-log_prob * tf.stop_gradient(reward))
""",
        "reward_not_stopped": """
def reinforce_loss(log_prob, reward):
    return -tf.reduce_mean(reward * log_prob)
""",
        "sign": """
def reinforce_loss(log_prob, reward):
    return tf.reduce_mean(tf.stop_gradient(reward) * log_prob)
""",
        "sum_for_mean": """
def reinforce_loss(log_prob, reward):
    return -tf.reduce_sum(tf.stop_gradient(reward) * log_prob)
""",
        "product_of_means": """
def reinforce_loss(log_prob, reward):
    return -tf.reduce_mean(tf.stop_gradient(reward)) * tf.reduce_mean(log_prob)
""",
        "none": """
def reinforce_loss(log_prob, reward):
    return -tf.reduce_mean(tf.stop_gradient(reward * log_prob))
""",
        "raises_too_few": """
def reinforce_loss(log_prob):
    return -tf.reduce_mean(log_prob)
""",
        "the_other_one_stopped": """
def reinforce_loss(log_prob, reward):
    return -tf.reduce_mean(reward * tf.stop_gradient(log_prob))
""",
    },
}
