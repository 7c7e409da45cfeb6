"""nbgrader's buttons without a frozen JupyterLab: formgrader's slow ones, and Validate.

nbgrader's handlers work inside the Jupyter server's only thread: nothing else is answered until
they end, and its converters change the server's current directory and environment. Here each POST
is handed to one long-lived process of its own (`grader.engine.clerk`), by way of `desk`.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from grader.engine.desk import Answer, desk

FORMGRADER = "nbgrader.server_extensions.formgrader.apihandlers"
VALIDATE = "nbgrader.server_extensions.validate_assignment.handlers"
HANDED_OVER = {  # formgrader's handlers, and the method of nbgrader's API that each calls
    "AutogradeHandler": "autograde",
    "AssignHandler": "generate_assignment",
    "GenerateFeedbackHandler": "generate_feedback",
    "GenerateAllFeedbackHandler": "generate_feedback",
}


def swap() -> None:
    """Give nbgrader's handlers this engine's `post`, if this process is their server.

    The routes hold the classes themselves, so their methods are what there is to change. Formgrader
    loads nbgrader_config.py, and so gets here, before its first request and again with every one;
    where there is no formgrader, the first Validate does.
    """
    if not {FORMGRADER, VALIDATE} & sys.modules.keys():
        return
    handlers = importlib.import_module(FORMGRADER)
    for name, method in HANDED_OVER.items():
        getattr(handlers, name).post = _formgrader(method)
    importlib.import_module(VALIDATE).ValidateAssignmentHandler.post = _validate()


@cache
def _formgrader(method: str) -> Callable[..., Any]:
    """A `post` behind the checks that nbgrader puts before each of its handlers. It answers as
    nbgrader does: JSON as text (its page parses it), "success", "error", "log"."""
    from nbgrader.server_extensions.formgrader.base import check_notebook_dir, check_xsrf
    from tornado import web

    async def post(handler: Any, *given: str) -> None:
        handler.coursedir.parent.load_config_file()  # as the `api` of every other handler does
        handler.write(json.dumps(await _answer(order(handler.coursedir, method, given))))

    return web.authenticated(check_xsrf(check_notebook_dir(post)))


@cache
def _validate() -> Callable[..., Any]:
    """The same for Validate: nbgrader answers "success" and "value"."""
    from tornado import web

    async def post(handler: Any) -> None:
        path = handler.get_argument("path", None) or handler.get_json_body()["path"]
        answer = await _answer({"method": "validate", "path": path, "root": handler.root_dir})
        if "refused" in answer:
            raise web.HTTPError(answer["refused"], answer["reason"])
        answer.setdefault("value", answer.get("error"))  # of a clerk that has died
        handler.finish(json.dumps(answer))

    return web.authenticated(post)


async def _answer(order: Answer) -> Answer:
    return await asyncio.wrap_future(desk().ask(order))


def order(coursedir: Any, method: str, given: tuple[str, ...]) -> Answer:
    """What the clerk must know: what to do for whom, and what the server's configuration says.

    The clerk reads the same files by itself; this adds what came from the server's command line.
    """
    names = coursedir.trait_names(config=True)
    return {
        "method": method,
        "given": list(given),
        "course": _plain({name: getattr(coursedir, name) for name in names}),
        "config": {name: _plain(section) for name, section in coursedir.parent.config.items()},
    }


def _plain(values: Any) -> Answer:
    """Those values that JSON carries unchanged."""
    found = {}
    for name, value in dict(values).items():
        try:
            if json.loads(json.dumps(value)) == value:
                found[name] = value
        except (TypeError, ValueError):
            continue  # a class or a function: the clerk has it from the file
    return found
