from grader.engine.submitted import Submission


def test_the_first_fault_names_the_outcome_and_the_others_are_noted():
    submission = Submission("ps", "ann", "submitted/ann/ps", [])
    submission.fault("unreadable", "p1 is no notebook")
    submission.fault("died", "p2 ended")
    told = submission.outcome
    assert (told.state, told.kind, told.reason) == ("fault", "unreadable", "p1 is no notebook")
    assert told.notes == ["died: p2 ended"]
