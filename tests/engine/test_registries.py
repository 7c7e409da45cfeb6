"""Run in a process of its own, in which TensorFlow has not been used."""

import json
import os
import subprocess
import sys

CODE = """
import json, os
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.framework import kernels, op_def_registry
from grader.engine import registries

def threads():
    return len(os.listdir("/proc/self/task"))

def devices():
    return {kernel.device_type for kernel in kernels.get_registered_kernels_for_op("Mul").kernel}

before = threads(), sorted(devices())
registries.fill()
started = context._context is not None and context._context._context_handle is not None
print(json.dumps({"before": before, "after": (threads(), sorted(devices())), "started": started,
                  "known": sorted(op_def_registry._cache), "sum": float(tf.constant(1.0) + 2.0)}))
"""


def test_the_lists_are_filled_and_nothing_is_started():
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True,
                          text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["before"][0] == said["after"][0], "a thread was started"
    assert not said["started"]
    assert "XLA_CPU_JIT" not in said["before"][1]
    assert "XLA_CPU_JIT" in said["after"][1]
    assert {"AddV2", "Mul"} <= set(said["known"])
    assert said["sum"] == 3.0


def test_another_build_of_tensorflow_is_no_fault(tf, monkeypatch):
    from grader.engine import registries

    monkeypatch.setattr(registries, "XLA_KERNELS", "no_such_symbol")
    registries.fill()
