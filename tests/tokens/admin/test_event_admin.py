"""The admin pages for events and paid fees, and their section of a token's page."""

import pytest
from django.urls import reverse

from tests.config.operators.admin_pages import page_of
from tests.rows.factories import FeeClaimFactory, TokenEventFactory, TokenFactory
from tokens.models import LaunchFacts, StoredState

pytestmark = pytest.mark.django_db

EVENTS, CLAIMS = "admin:tokens_tokenevent_changelist", "admin:tokens_feeclaim_changelist"


def found(client, page, q):
    return set(client.get(reverse(page), {"q": q}).context["cl"].queryset)


def test_events_are_found_by_transaction_and_token(operator):
    token = TokenFactory()
    event, other = TokenEventFactory(token=token), TokenEventFactory()
    assert found(operator, EVENTS, token.contract_address.lower()) == {event}
    assert found(operator, EVENTS, other.tx_hash.upper().replace("X", "x")) == {other}


def test_paid_fees_are_found_by_recipient_and_transaction(operator):
    claim = FeeClaimFactory()
    FeeClaimFactory()
    for q in (claim.recipient, f" {claim.recipient.lower()} ", claim.event.tx_hash):
        assert found(operator, CLAIMS, q) == {claim}


@pytest.mark.parametrize("page", [EVENTS, CLAIMS])
@pytest.mark.parametrize("q", ["0x1", "fees", "%", "0x" + "0" * 40, "0x" + "0" * 64])
def test_what_names_nothing_finds_nothing(operator, page, q):
    FeeClaimFactory()
    assert found(operator, page, q) == set()


def test_the_page_of_an_event_shows_the_events_values(operator):
    token = TokenFactory(symbol="<b>")
    event = TokenEventFactory(token=token, kind="image_updated", arguments={"imageURI": "ipfs://<new>"})
    text = operator.get(page_of(event)).text
    assert "imageURI: ipfs://&lt;new&gt;" in text
    assert page_of(token) in text
    assert "&lt;b&gt;</a>" in text


def test_the_page_of_paid_fees_leads_to_their_event(operator):
    claim = FeeClaimFactory()
    text = operator.get(page_of(claim)).text
    assert page_of(claim.event) in text
    assert str(claim.amount) in text.replace(",", "")


def test_the_page_of_a_token_shows_its_newest_events_its_decoded_launch_and_its_state(operator):
    token = TokenFactory()
    LaunchFacts.objects.create(token=token, facts={"name": "<Born>", "supply": "1000"})
    read = {"chain_id": token.chain_id, "block_number": 7_000_111, "block_hash": "0x1", "facts": {"image": "<New>"}}
    StoredState.objects.create(token=token, **read)
    events = [TokenEventFactory(token=token, arguments={"n": str(number)}) for number in range(25)]
    text = operator.get(page_of(token)).text
    assert [event.pk for event in events if page_of(event) in text] == [event.pk for event in events[5:]]
    assert "&lt;Born&gt;" in text
    assert "7000111" in text and "&lt;New&gt;" in text
    assert f"{reverse(EVENTS)}?q={token.contract_address}" in text


def test_the_page_of_a_token_without_events_shows_it(operator):
    text = operator.get(page_of(TokenFactory())).text
    assert "newest events" in text.lower()
    assert "not stored" in text
