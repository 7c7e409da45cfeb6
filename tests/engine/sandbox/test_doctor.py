import pytest

from grader.engine import sandbox
from grader.engine.sandbox import doctor
from grader.engine.sandbox.layers import NO_FORK


def test_every_layer_has_a_line_and_what_is_off_has_reason_and_remedy():
    found = [
        sandbox.Layer(name, name not in ("net", "landlock"), "refused") for name in sandbox.NAMES
    ]
    lines = doctor.doctor(found)
    assert [line.split(":")[0] for line in lines] == list(sandbox.NAMES)
    off = [line for line in lines if "OFF" in line]
    assert [line.split(":")[0] for line in off] == ["net", "landlock"]
    assert all("refused" in line and doctor.advice(line.split(":")[0]) in line for line in off)


def test_what_a_fork_would_bring_is_said_so():
    (line,) = (
        line for line in doctor.doctor([sandbox.Layer("net", False, NO_FORK)]) if "net:" in line
    )
    assert "c.EngineExecute.fork = True" in line
    assert "namespaces" not in line


def test_only_landlock_may_be_missing_without_leave():
    every = [sandbox.Layer(name, True) for name in sandbox.NAMES]
    for i, layer in enumerate(every):
        some = [*every[:i], sandbox.Layer(layer.name, False, "x"), *every[i + 1 :]]
        assert sandbox.enough(some) == (layer.name == "landlock")
    assert sandbox.enough(every)


@pytest.mark.parametrize("mark", doctor.CONTAINERS)
def test_a_container_is_told_its_own_remedy(mark, tmp_path, monkeypatch):
    place = tmp_path / "mark"
    monkeypatch.setattr(doctor, "CONTAINERS", {str(place): doctor.CONTAINERS[mark], "/not": "In"})
    assert "In " not in doctor.advice("mount")
    place.touch()
    for name in doctor.NAMESPACES:
        said = doctor.advice(name)
        assert said.startswith("Needs namespaces")
        assert said.count("In ") == 1
    assert "In " not in doctor.advice("landlock")


@pytest.mark.parametrize(("release", "old"), [("4.18.0-553.el8", True), ("5.10.0-30-amd64", True),
                                              ("5.12.1", False), ("6.1", False)])  # fmt: skip
def test_a_kernel_that_is_too_old_is_told(release, old, monkeypatch):
    monkeypatch.setattr(doctor.platform, "release", lambda: release)
    assert ("Linux 5.12 or later is needed." in doctor.advice("mount")) == old
