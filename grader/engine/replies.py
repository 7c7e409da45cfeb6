"""What nbclient's Output widget says back to the kernel.

A widget of ipywidgets lives on both sides: nbclient plays the front end and reports the outputs it
has taken in. The reports wait here until the next cell, as they do for a kernel that is busy.
"""

from __future__ import annotations

import json
from typing import Any


class Replies:
    """Stands where nbclient's OutputWidget expects a kernel client, its session and channel."""

    def __init__(self) -> None:
        self.waiting: dict[str, bytes] = {}

    @property
    def session(self) -> Replies:
        """Makes the messages."""
        return self

    @property
    def shell_channel(self) -> Replies:
        """Takes the messages."""
        return self

    def msg(self, msg_type: str, content: dict[str, Any], **_: Any) -> dict[str, Any]:
        """The content is all that the child needs."""
        return content

    def send(self, content: dict[str, Any]) -> None:
        """Keep the widget's latest state, which holds all earlier ones."""
        self.waiting[str(content["comm_id"])] = json.dumps(content).encode()

    def taken(self) -> list[bytes]:
        """The states that wait, in the order in which their widgets first spoke."""
        states, self.waiting = list(self.waiting.values()), {}
        return states
