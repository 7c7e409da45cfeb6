"""The graph that is drawn: boxes and arrows, with the state of the gradient on each arrow."""

from __future__ import annotations

from grader.xray import captions, words
from grader.xray.blame import Blame
from grader.xray.boxes import EARLIER, RESULT, Arrow, Box, Picture, bypass, merged
from grader.xray.record_types import Node
from grader.xray.replay import Flow
from grader.xray.run import Run


def picture(done: Run, flow: Flow, blame: dict[str, tuple[Blame, ...]]) -> Picture:
    """All operations on a way from an input to the result, and the culprits beside it."""
    drawn = Picture()
    for source in done.sources:
        status = done.status.get(source.name, "")
        kind = "variable" if source.captured else "source"
        drawn.boxes[f"s{source.key}"] = Box(f"s{source.key}", source.name, kind, status)
    drawn.boxes[RESULT] = Box(RESULT, "result", "result")
    culprits = {b.node for items in blame.values() for b in items if b.node >= 0}
    on_way = _on_way(done, flow) | culprits
    for index in sorted(on_way):
        drawn.boxes[f"n{index}"] = _box(index, flow.recording.nodes[index], index in culprits)
    _connect(drawn, done, flow, on_way, culprits)
    _earlier(drawn, done)
    _ways_out(drawn, flow, blame)
    bypass(drawn)
    return drawn


def _on_way(done: Run, flow: Flow) -> set[int]:
    import tensorflow as tf

    flat = tf.nest.flatten(done.result, expand_composites=True)
    ends = [flow.recording.key(t) for t in flat if hasattr(t, "_id")]
    used = flow.backward(ends)
    reached = flow.forward(s.key for s in done.sources)
    return {
        index
        for index in range(len(flow.recording.nodes))
        if any(k in used for k in flow.keys_out(index))
        and any(k in reached for k in flow.keys_in(index))
    }


def _box(index: int, node: Node, blamed: bool) -> Box:
    kind, label = "op", words.name_of(node.type)
    notes = [f"line {node.line.number}"] if node.line is not None else []
    if node.type == "StopGradient":
        kind = "stop"
    elif node.override is not None:
        kind = "override" if node.override.acts else "ignored"
        notes.append(captions.override_note(node.override))
    elif node.kind == "custom" or node.label:
        kind, label = "custom", captions.custom_label(node.type, bool(node.label))
    elif node.type.startswith("PyFunc"):
        kind = "way_out"
    return Box(f"n{index}", label, kind, note=", ".join(notes), blamed=blamed)


def _connect(drawn: Picture, done: Run, flow: Flow, on_way: set[int], culprits: set[int]) -> None:
    sources = {s.key for s in done.sources}
    fine = all(status == "alive" for status in done.status.values())
    for index in sorted(on_way):
        for position, key in enumerate(flow.keys_in(index)):
            maker = flow.producer.get(key)
            start = f"n{maker}" if maker in on_way else f"s{key}" if key in sources else ""
            if not start and maker is None and key in flow.entrances:
                start = EARLIER
            if start and _is_data(flow.recording.nodes[index], position):
                state = _state(flow, index, position, key, culprits)
                if state == "none" and fine:  # the zeros_like of a where, say: nobody's fault
                    state = "off"
                drawn.arrows.append(Arrow(start, f"n{index}", state))
    ends = {flow.recording.key(t): "alive" for t in done.targets}
    for key in ends or _foreign_ends(done, flow):
        maker = flow.producer.get(key)
        start = f"n{maker}" if maker in on_way else f"s{key}" if key in sources else ""
        if start:
            drawn.arrows.append(Arrow(start, RESULT, "alive" if key in ends else "none"))
    drawn.arrows = merged(drawn.arrows)


def _earlier(drawn: Picture, done: Run) -> None:
    """One box for all the operations that were dropped, between the inputs and the rest."""
    after = [a.state for a in drawn.arrows if a.start == EARLIER]
    if not after:
        return
    drawn.boxes[EARLIER] = Box(EARLIER, captions.earlier(done.recording.dropped), "fold")
    for box in [b for b in drawn.boxes.values() if b.kind in ("source", "variable")]:
        known = box.state if box.state in after else "off"
        drawn.arrows.append(Arrow(box.id, EARLIER, known))


def _is_data(node: Node, position: int) -> bool:
    """Not the results inside a custom gradient, not the handle of a variable that is written."""
    return position not in node.skipped and not ("Assign" in node.type and position == 0)


def _foreign_ends(done: Run, flow: Flow) -> list[int]:
    """Results that are no floats: the gradient is cut at the very end."""
    import tensorflow as tf

    flat = tf.nest.flatten(done.result, expand_composites=True)
    return [flow.recording.key(t) for t in flat if hasattr(t, "_id")]


def _state(flow: Flow, index: int, position: int, key: int, culprits: set[int]) -> str:
    for part in flow.parts.get(key, ()):
        if part.node == index and part.position == position:
            return part.state
    made_by = flow.producer.get(key, -1)
    boolean = flow.recording.nodes[index].inputs[position].dtype.name == "bool"
    if flow.out_state(index) == "none" or (boolean and made_by not in culprits):
        return "off"  # a where's condition is no cut that anybody would ask about
    return "none"


def _ways_out(drawn: Picture, flow: Flow, blame: dict[str, tuple[Blame, ...]]) -> None:
    """`.numpy()` and its like are no operations; they get a box of their own."""
    names = {
        box.label: box.id for box in drawn.boxes.values() if box.kind in ("source", "variable")
    }
    for items in blame.values():
        for item in items:
            if item.kind not in ("left_tensorflow", "numpy_call", "assigned"):
                continue
            out = f"n{item.node}" if item.node >= 0 else f"o{item.detail}{item.line}"
            if out not in drawn.boxes:
                note = f"line {item.line.number}" if item.line else ""
                drawn.boxes[out] = Box(out, item.detail, "way_out", note=note, blamed=True)
            start = names[item.input]
            if not any(a.start == start for a in drawn.arrows):
                drawn.arrows.append(Arrow(start, out, "off"))
            if not any(a.start == out for a in drawn.arrows):
                written = f"s{flow.keys_in(item.node)[0]}" if item.node >= 0 else ""
                end = written if written in drawn.boxes else RESULT
                drawn.arrows.append(Arrow(out, end, "none"))
