"""Response to reported events."""

from typing import Annotated, TypedDict

from config.parsing.response_types import Keywords

Count = Annotated[int, Keywords(minimum=0)]


class AgentEventsAnswer(TypedDict):
    success: bool
    added: Annotated[Count, "Number of events that added or changed something."]
    known: Annotated[Count, "Number of events that were already known, or whose facts were."]
