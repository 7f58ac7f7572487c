"""API timestamps: ISO 8601 in UTC with milliseconds."""

import datetime


def format_timestamp(moment: datetime.datetime) -> str:
    """Format a datetime as `2026-02-07T03:50:49.000Z`: UTC, cut to milliseconds. Raises TypeError without a zone."""
    offset = moment.utcoffset()
    if offset is None:
        raise TypeError("a datetime without time zone can't be rendered")
    utc = moment.astimezone(datetime.UTC) if offset else moment
    # A date, a time and three digits have this length; the offset follows.
    return utc.isoformat(timespec="milliseconds")[:23] + "Z"
