"""Tests of tests/chaos/deploy_check.py: the check of deployments finds each kind of error."""

from dataclasses import replace

import pytest

from tests.chaos.deploy_check import Found, Launch, Rows, Sent, judge
from tests.servers.deploy_clients import Answer, Answers

WALLET, TOKEN, OTHER = "0xWallet", "0xToken", "0xOther"
KEY = ("partner", "key")
DEPLOYED = Sent(wallet=WALLET, nonce=4, tx_hash="0x4", succeeded=True, to_itself=False)
CHAIN = Found(
    launches=(Launch(token=TOKEN, tx_hash="0x4"),), sent=(DEPLOYED,), mined={WALLET: 5}, with_waiting={WALLET: 5}
)
ROWS = Rows(statuses={"indexed": 1}, next_nonces={WALLET: 5}, open_attempts=0)
TAKEN = Answer(200, {"expectedAddress": TOKEN})
INDEXED = {"status": "indexed", "address": TOKEN, "txHash": "0x4"}


def answers(*responses, status=INDEXED):
    return Answers(orders={KEY: list(responses or (TAKEN, TAKEN))}, statuses={KEY: status})


def test_it_finds_nothing_where_all_is_right():
    assert judge(answers(), CHAIN, ROWS) == []


@pytest.mark.parametrize(
    ("responses", "finding"),
    [
        (answers(TAKEN, Answer(200, {"expectedAddress": OTHER})), "answered in different ways"),
        (answers(TAKEN, Answer(409, {"error": "No"})), "answered in different ways"),
        (answers(Answer(400, {"error": "No"})), "was refused"),
        (answers(Answer(200, {"expectedAddress": OTHER})), "became 0 tokens at 0xOther"),
        (answers(Answer(200, {"expectedAddress": OTHER})), "nobody was promised 0xToken"),
        (answers(status=INDEXED | {"status": "submitted"}), "ended as ('submitted'"),
        (answers(status=INDEXED | {"txHash": "0x5"}), "should be indexed at 0xToken by 0x4"),
        (Answers(), "nobody was promised 0xToken"),
    ],
)
def test_it_finds_wrong_answers(responses, finding):
    assert any(finding in line for line in judge(responses, CHAIN, ROWS))


@pytest.mark.parametrize(
    ("chain", "finding"),
    [
        ({"launches": CHAIN.launches * 2}, "became 2 tokens"),
        ({"launches": (*CHAIN.launches, Launch(token=OTHER, tx_hash="0x5"))}, "nobody was promised 0xOther"),
        ({"with_waiting": {WALLET: 7}}, "waits with nonces 5 to 6"),
        ({"waiting": 2}, "2 transactions wait"),
        ({"sent": (replace(DEPLOYED, nonce=3), replace(DEPLOYED, succeeded=False))}, "was reverted"),
        ({"sent": (replace(DEPLOYED, nonce=2), DEPLOYED)}, "and the blocks hold [2, 4]"),
    ],
)
def test_it_finds_what_is_wrong_with_the_chain(chain, finding):
    assert any(finding in line for line in judge(answers(), replace(CHAIN, **chain), ROWS))


@pytest.mark.parametrize(
    ("rows", "finding"),
    [
        ({"statuses": {"indexed": 1, "enqueued": 1}}, "1 orders were taken, and the rows are"),
        ({"statuses": {}}, "1 orders were taken, and the rows are {}"),
        ({"next_nonces": {WALLET: 7}}, "its row says 7"),
        ({"open_attempts": 1}, "1 attempts have no end"),
    ],
)
def test_it_finds_what_is_wrong_with_the_rows(rows, finding):
    assert any(finding in line for line in judge(answers(), CHAIN, replace(ROWS, **rows)))
