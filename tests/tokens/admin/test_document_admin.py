"""The admin page for documents of tokens, the dashboard's panel, and their metrics."""

from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from tests.config.operators.admin_pages import figures, panels
from tests.rows.factories import TokenDocumentFactory, TokenFactory
from tokens.models import TokenDocument

pytestmark = pytest.mark.django_db

PAGE = reverse("admin:tokens_tokendocument_changelist")


def found(client, **parameters):
    return set(client.get(PAGE, parameters).context["cl"].queryset)


def fetch_again(client, *documents):
    chosen = [document.pk for document in documents]
    return client.post(PAGE, {"action": "fetch_again", "_selected_action": chosen}, follow=True)


def numbers(client):
    """Return (name, status) -> number."""
    text = client.get("/metrics").content.decode()
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {
        (sample.name.removeprefix("launchboard_documents_"), sample.labels.get("status")): sample.value
        for sample in samples
        if sample.name.startswith("launchboard_documents_")
    }


def test_view_permission_fetches_nothing(support):
    document = TokenDocumentFactory(status="failed", attempts=12)
    assert support.get(f"{PAGE}{document.pk}/change/").status_code == 200
    fetch_again(support, document)
    document.refresh_from_db()
    assert (document.status, document.attempts) == ("failed", 12)
    assert not LogEntry.objects.exists()


def test_an_operator_has_documents_fetched_again(operator):
    content = {"description": "Said."}
    failed = TokenDocumentFactory(
        status="failed", attempts=12, last_error="HTTP status 404", due_at=timezone.now() + timedelta(days=1)
    )
    fetched = TokenDocumentFactory(status="fetched", content=content)
    answer = fetch_again(operator, failed, fetched)
    assert "2 to be fetched." in answer.content.decode()
    for document in TokenDocument.objects.all():
        assert (document.status, document.attempts, document.last_error) == ("pending", 0, "")
        assert document.due_at <= timezone.now()
    assert TokenDocument.objects.get(pk=fetched.pk).content == content
    assert sorted(LogEntry.objects.values_list("change_message", flat=True)) == ["fetch again"] * 2


def test_documents_are_found_by_their_token_and_by_status(operator):
    token = TokenFactory(name="Café Noir", symbol="NOIR")
    document, other = TokenDocumentFactory(token=token), TokenDocumentFactory(status="failed")
    assert found(operator, q=token.contract_address.lower()) == {document}
    assert found(operator, q="noir") == {document}
    assert found(operator, q="nothing like it") == set()
    assert found(operator, status__exact="failed") == {other}


def test_the_page_of_a_document_shows_its_content_as_text(operator):
    content = {"description": "<script>", "img_url": "", "socialMediaUrls": []}
    document = TokenDocumentFactory(status="fetched", content=content, uri="javascript:alert(1)")
    page = operator.get(f"{PAGE}{document.pk}/change/").content.decode()
    assert "description: &lt;script&gt;" in page
    assert 'href="javascript' not in page


def test_without_documents_the_panel_says_what_names_them(operator):
    panel = panels(operator)["Documents of tokens"]
    assert (panel.figures, "launches on Solana" in panel.empty_text) == ((), True)


def test_the_panel_shows_what_is_queued_and_alarms_where_no_worker_fetches(operator, settings):
    TokenDocumentFactory()
    TokenDocumentFactory(status="failed")
    shown = figures(operator, "Documents of tokens")
    assert [(label, figure.value) for label, figure in shown.items()] == [
        ("Pending", "1"),
        ("Fetched", "0"),
        ("Failed", "1"),
    ]
    assert not any(figure.is_alarming for figure in shown.values())
    TokenDocument.objects.update(due_at=timezone.now() - timedelta(hours=1))
    assert figures(operator, "Documents of tokens")["Pending"].is_alarming
    settings.FETCH_DOCUMENTS = False
    assert figures(operator, "Documents of tokens")["Pending"].note == "FETCH_DOCUMENTS is false"


def test_metrics_report_what_is_queued_and_what_became_of_the_newest(client):
    assert numbers(client)[("pending", None)] == 0
    TokenDocumentFactory(due_at=timezone.now() - timedelta(minutes=5))
    TokenDocumentFactory(due_at=timezone.now() + timedelta(minutes=5))
    TokenDocumentFactory(status="failed")
    values = numbers(client)
    assert values[("pending", None)] == 2
    assert {values[("newest", status)] for status in ("pending", "failed", "fetched")} == {2, 1, 0}
