from __future__ import annotations

import numpy as np

from grader.plots.gallery import images

RAMP = np.linspace(-1, 3, 64).reshape(8, 8)


def shown(picture):
    return [image for axis in picture._figure.axes for image in axis.get_images()]


def test_rows_names_and_titles() -> None:
    picture = images("Digits", [[RAMP] * 3, [RAMP] * 2], names=["a", "b"], titles=["1", "2", "3"])
    assert len(picture._figure.axes) == 6
    assert len(shown(picture)) == 5
    words = {text.get_text() for text in picture._figure.findobj(lambda a: hasattr(a, "get_text"))}
    assert {"Digits", "a", "b", "1", "2", "3"} <= words
    assert picture.alt == "Digits: 2 rows of 3 images. a, b, 1, 2, 3."


def test_ink_is_dark_where_the_value_is_high() -> None:
    (image,) = shown(images("Digits", [[RAMP]], low=-1, high=3))
    light, dark = image.to_rgba(np.array([[-1.0, 3.0]]))[0, :, :3]
    assert dark.max() < 0.01
    assert light.min() > 0.99


def test_signed_images_have_a_scale_of_their_own_with_zero_in_the_middle() -> None:
    one, other = shown(images("Gradients", [[RAMP, 10 * RAMP]], signed=True))
    assert one.get_clim() == (-3.0, 3.0)
    assert other.get_clim() == (-30.0, 30.0)


def test_an_image_of_zeros_still_draws() -> None:
    (image,) = shown(images("Nothing", [[np.zeros((2, 2))]], signed=True))
    assert image.get_clim() == (-1.0, 1.0)


def test_nothing_is_clipped() -> None:
    long = "A title that is longer than one small image"
    figure = images(
        long, [[RAMP]], names=["a long name of a row"], note=f"{long}, and a note"
    )._figure
    figure.draw_without_rendering()
    texts = [*figure.texts, *(text for axis in figure.axes for text in axis.texts)]
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    assert len(boxes) == 3
    assert all(box.x0 >= 0 and box.x1 <= figure.bbox.x1 for box in boxes)


def test_labelled_axes_keep_their_ticks() -> None:
    picture = images("Kernel", [[RAMP]], axes=("unit", "pixel"), size=2.0)
    (axis,) = picture._figure.axes
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("unit", "pixel")
    assert axis.axison
