"""Timestamps of the API: ISO 8601 in UTC with milliseconds."""

import datetime


def format_timestamp(moment: datetime.datetime) -> str:
    """Format a datetime as `2026-02-07T03:50:49.000Z`: UTC, cut to milliseconds. Raises TypeError without a zone."""
    if moment.tzinfo is None:
        raise TypeError("a datetime without time zone can't be rendered")
    text = moment.astimezone(datetime.UTC).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00") + "Z"
