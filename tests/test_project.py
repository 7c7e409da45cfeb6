"""The three descriptions of what the course needs say the same."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / "requirements.lock").read_text()
PINS = {
    m[1].lower().replace("_", "-").replace(".", "-"): m[2]
    for m in re.finditer(r"^([\w.-]+)(?:\[\w+\])?==(\S+)", LOCK, re.MULTILINE)
}


def asked():
    extras = [r for group in PROJECT["optional-dependencies"].values() for r in group]
    return [Requirement(text) for text in PROJECT["dependencies"] + extras]


def test_every_requirement_is_pinned_within_its_bounds():
    for requirement in asked():
        name = requirement.name.lower()
        assert name in PINS, requirement
        assert PINS[name] in requirement.specifier, requirement


def test_every_pin_has_hashes_and_no_address_stands_in_the_lock():
    entries = re.split(r"\n(?=[\w.-]+(?:\[\w+\])?==)", LOCK)
    assert len(entries) == len(PINS)
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in LOCK
    assert not re.search(r"^\s*(-i|--index|--extra-index|--find-links)", LOCK, re.MULTILINE)


def test_conda_uses_the_same_pins_and_python():
    conda = yaml.safe_load((ROOT / "environment.yml").read_text())
    python, pip, through_pip = conda["dependencies"]
    assert python == "python>=3.11,<3.14"
    assert PROJECT["requires-python"] == ">=3.11"
    assert pip == "pip"
    assert through_pip == {"pip": ["-r requirements.lock"]}


def test_what_runs_here_is_what_is_pinned():
    for name in ("tensorflow", "numpy", "nbgrader", "keras", "jupyterlab"):
        assert version(name) == PINS[name]
