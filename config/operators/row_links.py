"""Links from a list's rows to their actions, two clicks from the dashboard. No JavaScript is needed."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from django.template import Library
from django.urls import reverse

register = Library()


class RowLink(NamedTuple):
    """Link to the confirmation page or form of a row's action."""

    title: str
    url: str
    # What it is for, where the title is the same in each row.
    label: str


@register.simple_tag
def row_links(actions: Iterable[dict[str, Any]], model_admin: Any, row: Any) -> list[RowLink]:
    """Return a row's links to its actions in `actions_row`, without actions that are useless for it."""
    links = [
        RowLink(action["title"], reverse(action["raw_path"], args=[row.pk]), f"{action['title']}: {row}")
        for action in actions
    ]
    useless = model_admin.useless_actions(row)
    return [link for link in links if action_name(link.url) not in useless]


def action_name(url: str) -> str:
    """Return an action's name: the last part of its path."""
    return url.split("/")[-2]
