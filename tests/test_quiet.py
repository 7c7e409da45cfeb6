import subprocess
import sys

from grader.quiet import descriptor_away, quiet


def test_importing_tensorflow_after_grader_says_nothing():
    code = "import grader, tensorflow; tensorflow.constant(1.0) + 1"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout == ""


def test_importing_grader_alone_is_light():
    code = "import grader, sys; print([m for m in ('tensorflow', 'numpy', 'IPython') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_quiet_keeps_stderr_and_warnings_away(capsys, recwarn):
    import warnings

    with quiet():
        print("x", file=sys.stderr)
        warnings.warn("y", stacklevel=1)
    assert capsys.readouterr().err == ""
    assert len(recwarn) == 0


def test_a_descriptor_comes_back(capfd):
    import os

    with descriptor_away(2):
        os.write(2, b"away")
    os.write(2, b"back")
    assert capfd.readouterr().err == "back"
