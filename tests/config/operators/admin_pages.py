"""Admin pages as an operator reads them."""

from typing import Any

from django.db.models import Model
from django.shortcuts import resolve_url
from django.test import Client
from django.urls import reverse


def page_of(row: Model) -> str:
    """Return the address for a row's page."""
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])


def shown(client: Client, page: str, **parameters: Any) -> list[Any]:
    """Return the rows' primary keys on a list page, from the top; `page` is its address or name."""
    answer = client.get(resolve_url(page), parameters)
    assert answer.status_code == 200
    return [row.pk for row in answer.context["cl"].result_list]


def panels(client: Client) -> dict[str, Any]:
    """Return the dashboard's panels: title -> panel."""
    answer = client.get(reverse("admin:index"))
    assert answer.status_code == 200
    return {panel.title: panel for panel in answer.context["panels"]}


def figures(client: Client, title: str) -> dict[str, Any]:
    """Return one panel's figures: label -> figure."""
    return {figure.label: figure for figure in panels(client)[title].figures}


def messages(answer: Any) -> list[str]:
    """Return the messages to the operator."""
    return [str(message) for message in answer.context["messages"]]
