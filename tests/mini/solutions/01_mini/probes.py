def count(answer, case, mode):
    got = answer(case.options["n"])
    return {"length": float(len(got)), "last": float(got[-1])}
