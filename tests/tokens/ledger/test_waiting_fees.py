"""Fees that wait for a claim, in GET /api/creators/{creator}."""

import pytest

from development.standins.loopback import Reply
from tests.nodes.recordings import mined
from tests.rows.factories import TokenFactory
from tests.rows.indexed_tokens import index_launch
from tests.tokens.ledger.creator_launches import ALICE, CREATOR, launch, shares
from tokens.models import Token

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("summed")]


def waiting(data, name="launches"):
    return {(fees["recipient"], fees["symbol"]): fees["waiting"] for fees in data[name][0]["fees"]}


def test_waiting_fees_are_read_once_for_all_callers(read, installed_node, node):
    token = index_launch(mined("deploy-token1"))
    found = waiting(read(token.msg_sender, includeWaiting=1))
    (recipient,) = (each["recipient"] for each in token.extensions["fees"]["recipients"])
    for symbol in (token.symbol, "WETH"):
        assert int(found[recipient, symbol]["pending"]) >= 0
        assert found[recipient, symbol]["reason"] is None and found[recipient, symbol]["blockNumber"] > 0
    assert sum(int(each["pending"]) for each in found.values()) > 0
    before = len(node.calls)
    assert waiting(read(recipient, includeWaiting=1), "recipientOf") == found
    assert len(node.calls) == before


def test_waiting_fees_are_unknown_for_a_reason(read, installed_node, node):
    unknown = index_launch(mined("deploy-multi-recipients"))
    assert "conversion_unknown" in {
        each["reason"] for each in waiting(read(unknown.msg_sender, includeWaiting=1)).values()
    }
    token = TokenFactory(chain_id=1, msg_sender=CREATOR, extensions=shares(ALICE))
    assert {each["reason"] for each in waiting(read(includeWaiting=1)).values()} == {"chain_unavailable"}
    Token.objects.filter(pk=token.pk).update(chain_id=8453, locker_address="")
    assert {each["reason"] for each in waiting(read(includeWaiting=1)).values()} == {"unreadable"}
    Token.objects.filter(pk=token.pk).update(locker_address=ALICE)
    node.behave = lambda body: Reply(b"", status=503)
    assert {each["reason"] for each in waiting(read(includeWaiting=1)).values()} == {"node_unavailable"}


def test_few_tokens_of_a_request_are_read_from_the_chain(read, installed_node, node):
    for number in range(1, 8):
        launch(contract_address=f"0x{number:040x}", chain_id=1)
    data = read(includeWaiting=1)
    reasons = [entry["fees"][0]["waiting"]["reason"] for entry in data["launches"]]
    assert reasons == ["chain_unavailable"] * 5 + ["not_read"] * 2
    assert node.calls == []
