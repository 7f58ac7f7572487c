"""Deployment event types. The trigger in `deployment_events.sql` stores the events."""

from config.events.event_types import EventType, Json
from config.parsing.response_types import open_object_schema

_MAYBE_TEXT: Json = {"type": ["string", "null"]}
_SUBJECT = "Request key of the deployment."


def _data(status: str) -> Json:
    """Return the schema for `data`, with the keys of `DeployStatusAnswer`.

    That type needs a model, and the stream reads this schema without models.
    """
    return open_object_schema(
        {
            "requestKey": {"type": "string"},
            "status": {"type": "string", "const": status},
            "txHash": _MAYBE_TEXT,
            "address": {"type": ["string", "null"], "description": "Address of the token; null for a presale."},
            "error": {"type": ["string", "null"], "maxLength": 1000},
            "attempts": {"type": "integer", "minimum": 0},
            "updatedAt": {"type": "string", "format": "date-time"},
        }
    )


DEPLOYMENT_EVENTS = (
    EventType(
        name="deployment.submitted",
        summary="A transaction is signed and sent, or the block of an earlier one was dropped.",
        subject=_SUBJECT,
        data=_data("submitted"),
        is_public=False,
    ),
    EventType(
        name="deployment.succeeded",
        summary="The token is launched and listed. Its block may still be dropped.",
        subject=_SUBJECT,
        data=_data("indexed"),
        is_public=False,
    ),
    EventType(
        name="deployment.failed",
        summary="The deployment is given up for the reason in `error`.",
        subject=_SUBJECT,
        data=_data("failed"),
        is_public=False,
    ),
)
