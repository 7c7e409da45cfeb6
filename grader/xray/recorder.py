"""Listen to one eager run: every operation, and every way out of TensorFlow.

TensorFlow's own seams are used where it has them (op callbacks); the others are methods replaced
for the time of the run and put back, each of them only passing through.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from grader.xray import lines
from grader.xray.listen import WORDS, eager_tensors, reader, tape_listens
from grader.xray.overrides import watched_map
from grader.xray.reads import HandleSpy, matching
from grader.xray.record_types import Detour, Memo, Node, Override, Recording


class Recorder:
    """Fills a `Recording` while `listening()` is entered."""

    def __init__(self, inputs: Iterable[int] = ()) -> None:
        inputs = set(inputs)
        self.recording = Recording(reached=set(inputs))
        self._maps: list[dict[str, str]] = []
        self._calls: list[Any] = []
        self._silent = False
        self._spy = HandleSpy()
        self._made: set[int] = set(inputs)

    @contextmanager
    def listening(self) -> Iterator[Recording]:
        """Record all that runs eagerly in this thread."""
        from tensorflow.python.framework import op_callbacks

        with ExitStack() as stack:
            for owner, name, make in self._patches():
                original = getattr(owner, name)
                setattr(owner, name, make(original))
                stack.callback(setattr, owner, name, original)
            self._spy_on_handles(stack)
            op_callbacks.add_op_callback(self._on_op)
            stack.callback(op_callbacks.remove_op_callback, self._on_op)
            yield self.recording

    def _spy_on_handles(self, stack: ExitStack) -> None:
        from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable as Variable

        if "_handle" not in vars(Variable):  # an attribute of instances, so far
            Variable._handle = self._spy
            stack.callback(delattr, Variable, "_handle")

    def _patches(self) -> list[tuple[Any, str, Callable[[Any], Any]]]:
        from tensorflow.python.eager import record
        from tensorflow.python.eager.polymorphic_function import concrete_function
        from tensorflow.python.framework import ops
        from tensorflow.python.ops import script_ops

        reads = [
            (ops._EagerTensorBase, name, lambda f, w=word: self._reading(f, w))
            for name, word in WORDS.items()
        ]
        return [
            *reads,
            (record, "record_operation", self._recording_operation),
            (record, "record_operation_backprop_only", self._recording_operation),
            (concrete_function.ConcreteFunction, "_call_flat", self._calling),
            (script_ops, "py_func_common", self._python_function),
            (ops.Graph, "gradient_override_map", self._overriding),
        ]

    # Each hook below must never be the reason why the user's function fails.
    def _on_op(
        self,
        op_type: Any,
        inputs: Any,
        attrs: Any,
        outputs: Any,
        op_name: Any = None,
        graph: Any = None,
    ) -> None:
        if graph is not None or self._silent:
            return
        self._read_in_c(inputs)
        name = op_type.decode() if isinstance(op_type, bytes) else str(op_type)
        node = Node(
            name,
            eager_tensors(inputs),
            eager_tensors(outputs),
            tuple(attrs or ()),
            line=lines.current(2),
        )
        if not tape_listens():
            node.kind = "unrecorded"
        if self._calls and name.startswith("__"):
            node.kind, (node.concrete, node.snapshot) = "call", self._calls[-1]
        node.override = self._ignored_override(name)
        self._made.update(t._id for t in node.outputs)
        self.recording.add(node)

    def _read_in_c(self, inputs: Any) -> None:
        """Put in the reads of variables that the operation did by itself."""
        handles = self._spy.take()
        for tensor in eager_tensors(inputs):
            if tensor._id in self._made or not handles:
                continue
            handle = matching(tensor, handles)
            if handle is not None:
                attrs = ("dtype", tensor.dtype)
                self.recording.add(Node("ReadVariableOp", (handle,), (tensor,), attrs))
                self._made.add(tensor._id)

    def _ignored_override(self, op_type: str) -> Override | None:
        found = None
        for mapping in self._maps:
            found = mapping.get(op_type, found)
        if found is None:
            return None
        from grader.xray.overrides import is_registered

        return Override(found, is_registered(found), acts=False)

    def _recording_operation(self, original: Any) -> Any:
        signature = inspect.signature(original)

        def record_operation(*args: Any, **named: Any) -> Any:
            bound = signature.bind(*args, **named)
            self._note_record(bound.arguments)
            return original(*bound.args, **bound.kwargs)

        return record_operation

    def _note_record(self, given: dict[str, Any]) -> None:
        outs, ins = eager_tensors(given["output_tensors"]), eager_tensors(given["input_tensors"])
        # symbolic tensors: a function is being traced; ReadVariableOp comes as an op as well
        if len(outs) != len(given["output_tensors"]) or given["op_type"] == "ReadVariableOp":
            return
        given["backward_function"] = memo = Memo(given["backward_function"])
        if self._calls:
            self._memo_of_call(outs, memo)
        else:
            name = str(given["op_type"])
            node = Node(name, ins, outs, (), "custom", lines.current(3), backward=memo)
            self.recording.add(node)

    def _memo_of_call(self, outputs: tuple[Any, ...], memo: Memo) -> None:
        made = {t._id for t in outputs}
        for node in reversed(self.recording.nodes):
            if node.kind == "call" and made & {t._id for t in node.outputs}:
                node.backward = memo
                return

    def _calling(self, original: Any) -> Any:
        from grader.xray.execute import snapshot

        def _call_flat(concrete: Any, tensor_inputs: Any, captured_inputs: Any) -> Any:
            self._silent, silent = True, self._silent
            state = snapshot(concrete.graph, captured_inputs)
            self._silent = silent
            self._calls.append((concrete, state))
            try:
                return original(concrete, tensor_inputs, captured_inputs)
            finally:
                self._calls.pop()

        return _call_flat

    def _python_function(self, original: Any) -> Any:
        def py_func_common(func: Any, inp: Any, *rest: Any, **named: Any) -> Any:
            result = original(func, inp, *rest, **named)
            outs = eager_tensors(result if isinstance(result, list | tuple) else [result])
            if outs:
                node = Node("PyFunc", eager_tensors(inp), outs, (), "python", lines.current(2))
                self.recording.add(node)
            return result

        return py_func_common

    def _reading(self, original: Any, word: str) -> Any:
        def read(tensor: Any, *rest: Any, **named: Any) -> Any:
            asks = sys._getframe(1).f_code
            kind = reader(asks.co_filename, word, asks.co_name)
            if kind:
                self.recording.detours.append(Detour(tensor._id, kind, lines.current(2)))
            return original(tensor, *rest, **named)

        return read

    def _overriding(self, original: Any) -> Any:
        def gradient_override_map(graph: Any, op_type_map: Any) -> Any:
            return watched_map(original, graph, op_type_map, self.recording, self._maps)

        return gradient_override_map
