"""Links of a list's rows to their actions, which are two clicks from the dashboard so. No JavaScript is needed."""

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
    """Return the links of a row to its actions in `actions_row`, without those that have no use for it."""
    links = [
        RowLink(each["title"], reverse(each["raw_path"], args=[row.pk]), f"{each['title']}: {row}") for each in actions
    ]
    useless = model_admin.useless_actions(row)
    return [link for link in links if action_name(link.url) not in useless]


def action_name(url: str) -> str:
    """Return the name of an action: the last part of its path."""
    return url.split("/")[-2]
