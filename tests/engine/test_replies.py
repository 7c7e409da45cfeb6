import json

from grader.engine.replies import Replies


def test_the_latest_state_of_each_widget_waits_once():
    replies = Replies()
    for comm, outputs in (("a", ["1"]), ("b", []), ("a", ["1", "2"])):
        content = {"comm_id": comm, "data": {"state": {"outputs": outputs}}}
        replies.shell_channel.send(replies.session.msg("comm_msg", content=content, parent={}))
    states = [json.loads(state) for state in replies.taken()]
    assert [(s["comm_id"], s["data"]["state"]["outputs"]) for s in states] == [
        ("a", ["1", "2"]), ("b", []),
    ]  # fmt: skip
    assert replies.taken() == []


def test_the_kernels_side_of_a_widget_learns_its_outputs(run):
    result = run(
        "import ipywidgets\nout = ipywidgets.Output()\nwith out: print('noise')",
        "out.append_stdout('more'); [output['text'] for output in out.outputs]",
    )
    assert result.texts[1] == "['noise\\n', 'more']"
