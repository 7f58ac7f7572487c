"""Rules for an event about an agent (leaderboard/events/field_rules.py), and the rows that it becomes."""

from datetime import UTC, datetime

import pytest

from config.parsing.json_rules import InvalidFieldsError
from leaderboard.events import payloads
from leaderboard.events.field_rules import latest_accepted_time
from leaderboard.facts.short_keys import cast_key, text_key
from leaderboard.models import ActionKind, InteractionKind
from tests.rows import agent_events as reported
from tests.rows.agent_events import AT, CAST, MESSAGE, MINT, WALLET

NOW = datetime(2026, 3, 1, tzinfo=UTC)
NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
FID = "must be a whole number from 1 to 9223372036854775807"
TIME = "must be a time with its zone, such as 2026-02-07T12:00:00Z"
HASH = "must be the hash of a cast, 0x followed by 40 hex digits"
UNSEEN = "must have a visible character"
ADDRESS = "must be an address, 0x followed by 40 hex digits, or a base58 address of 32 bytes"
AMOUNT = "must be a text of 1 to 78 digits, above 0, in the token's smallest unit"
FUTURE = "must not be more than 10 minutes in the future"
ID = "must be a text of 1 to 100 visible ASCII characters"


def read(value):
    return payloads.parse_event(value, latest=latest_accepted_time(NOW))


def refused(value):
    with pytest.raises(InvalidFieldsError) as error:
        read(value)
    return error.value.problems


@pytest.mark.parametrize(
    ("value", "path", "rule"),
    [
        ([], "", "must be a JSON object"),
        (None, "", "must be a JSON object"),
        ({}, "type", "is required"),
        (reported.like(type="Like"), "type", "must be one of agent, run, action, interaction, trade, score"),
        (reported.like(type=["agent"]), "type", "must be one of agent, run, action, interaction, trade, score"),
        (reported.like(id=""), "id", ID),
        (reported.like(id="a b"), "id", ID),
        (reported.like(id="é"), "id", ID),
        (reported.like(id="a" * 101), "id", ID),
        (reported.like(id=7), "id", ID),
        (reported.like(id=None), "id", "is required"),
        (reported.like(agentId=" "), "agentId", "must not be blank"),
        # A zero-width space, a byte order mark, a control, a mark without a letter, Hangul and Braille fillers.
        *(
            (reported.like(agentId=text), "agentId", UNSEEN)
            for text in ("\u200b\ufeff", "\x07", "\u034f", "\u3164 \u2800")
        ),
        (reported.like(agentId="a" * 101), "agentId", "must have at most 100 characters"),
        (reported.like(agentId="a\0"), "agentId", "must not hold NUL characters"),
        (reported.like(agentId="\ud800"), "agentId", "must be text that UTF-8 can hold"),
        (reported.like(agentId=1), "agentId", "must be text"),
        (reported.like(at="2026-02-07"), "at", TIME),
        (reported.like(at="2026-02-07T12:00:00"), "at", TIME),
        (reported.like(at="2026-02-07 12:00:00Z"), "at", TIME),
        (reported.like(at="2026-13-07T12:00:00Z"), "at", TIME),
        (reported.like(at="2026-02-29T12:00:00Z"), "at", TIME),
        (reported.like(at="2026-02-07T23:59:60Z"), "at", TIME),
        (reported.like(at=1_770_465_600), "at", TIME),
        (reported.like(at="0001-01-01T00:00:00+10:00"), "at", "must not be before 2021-01-01"),
        (reported.like(at="2020-12-31T23:59:59Z"), "at", "must not be before 2021-01-01"),
        (reported.like(at="2026-03-01T00:10:01Z"), "at", FUTURE),
        (reported.like(at="9999-12-31T23:59:59-10:00"), "at", FUTURE),
        (reported.like(kind="follow"), "kind", "must be like or recast or reply or quote"),
        (reported.like(kind=1), "kind", "must be like or recast or reply or quote"),
        (reported.like(castHash=CAST[:-1]), "castHash", HASH),
        (reported.like(castHash=CAST + "a"), "castHash", HASH),
        (reported.like(castHash=CAST + "\n"), "castHash", HASH),
        (reported.like(castHash=7), "castHash", HASH),
        (reported.like(actorFid=0), "actorFid", FID),
        (reported.like(actorFid=True), "actorFid", FID),
        (reported.like(actorFid="8"), "actorFid", FID),
        (reported.like(actorFid=8.0), "actorFid", FID),
        (reported.like(actorFid=2**63), "actorFid", FID),
        (reported.like(messageHash=MESSAGE), "messageHash", "is allowed for replies and quotes only"),
        (reported.like(text="gm"), "text", "is allowed for replies and quotes only"),
        (reported.reply(messageHash=None), "messageHash", "is required for replies and quotes"),
        (reported.reply(text="a" * 10_001), "text", "must have at most 10000 characters"),
        (reported.reply(text="a\0"), "text", "must not hold NUL characters"),
        (reported.reply(text="\udfff"), "text", "must be text that UTF-8 can hold"),
        (reported.like(more=1), "more", "is not known"),
        (reported.like(more=None), "more", "is not known"),
        (reported.action(kind="recast"), "kind", "must be post or reply or quote"),
        (reported.run(at=AT), "at", "is not known"),
        (reported.run(succeeded=1), "succeeded", "must be true or false"),
        (reported.run(kind="a" * 51), "kind", "must have at most 50 characters"),
        (reported.run(finishedAt="2026-02-07T11:59:59Z"), "finishedAt", "must not be before startedAt"),
        (reported.run(finishedAt="2026-03-01T00:10:01Z"), "finishedAt", FUTURE),
        (reported.trade(amount="0"), "amount", AMOUNT),
        (reported.trade(amount="1.5"), "amount", AMOUNT),
        (reported.trade(amount=5), "amount", AMOUNT),
        (reported.trade(amount="9" * 79), "amount", AMOUNT),
        (reported.trade(side="swap"), "side", "must be buy or sell"),
        (reported.trade(logIndex=-1), "logIndex", "must be a whole number from 0 to 2147483647"),
        (reported.trade(wallet="vitalik.eth"), "wallet", ADDRESS),
        (reported.trade(wallet=MINT[:-1]), "wallet", ADDRESS),
        (reported.trade(txHash=CAST), "txHash", "must be a transaction hash, 0x followed by 64 hex digits"),
        (reported.score(score=1.01), "score", "must be a number from 0 to 1"),
        (reported.score(score=-0.01), "score", "must be a number from 0 to 1"),
        (reported.score(score=float("nan")), "score", "must be a number from 0 to 1"),
        (reported.score(score=True), "score", "must be a number from 0 to 1"),
        (reported.score(score="0.5"), "score", "must be a number from 0 to 1"),
        (reported.score(agentId="one"), "agentId", "is not known"),
        (reported.score(registeredAt="2026-03-01T00:10:01Z"), "registeredAt", FUTURE),
        (reported.agent(name=""), "name", "must not be blank"),
        (reported.agent(name="\u202e\u200b"), "name", UNSEEN),
        (reported.agent(name="a" * 201), "name", "must have at most 200 characters"),
        (reported.agent(fid=-1), "fid", FID),
        (reported.agent(token={"chainId": 8453}), "token.address", "is required"),
        (reported.agent(token={"chainId": 0, "address": WALLET}), "token.chainId", FID),
        (reported.agent(token={"chainId": 1, "address": "0x"}), "token.address", ADDRESS),
        (reported.agent(token=WALLET), "token", "must be a JSON object"),
        (reported.agent(wallets=WALLET), "wallets", "must be a list of at most 100 entries"),
        (reported.agent(wallets=[WALLET] * 101), "wallets", "must be a list of at most 100 entries"),
        (reported.agent(wallets=[WALLET, 7]), "wallets[1]", ADDRESS),
    ],
)
def test_a_bad_event_is_refused_by_place_and_rule(value, path, rule):
    (problem,) = refused(value)
    assert problem[0] == path
    assert problem[1].startswith(rule)


def test_all_errors_of_an_event_are_reported():
    problems = refused(reported.like(id="", actorFid=None, castHash="0x", more=1))
    assert [path for path, _ in problems] == ["id", "castHash", "actorFid", "more"]


# Each event with the attributes that it is read with, which its row also has.
ACCEPTED = [
    (
        reported.agent(fid=7, creatorFid=None, token={"chainId": 8453, "address": WALLET.lower()}),
        {
            "changes": {"fid": 7, "creator_fid": None, "token_chain_id": 8453, "token_address": WALLET},
            "wallets": None,
        },
    ),
    (
        reported.agent(name=None, token=None, wallets=None),
        {"changes": {"name": "", "token_chain_id": None, "token_address": ""}, "wallets": ()},
    ),
    (reported.agent(wallets=[WALLET.lower(), MINT, WALLET]), {"wallets": (WALLET, MINT)}),
    (reported.run(kind=None), {"kind": "", "finished_at": datetime(2026, 2, 7, 12, 0, 5, 250_000, tzinfo=UTC)}),
    *(
        (reported.like(at=text), {"at": NOON})
        for text in (
            "2026-02-07T13:30:00+01:30",
            "2026-02-07T12:00:00.000000000Z",
            "2026-02-07T02:00:00.0-10:00",
            # Zones that PostgreSQL does not have.
            "2026-02-08T11:59:00+23:59",
            "2026-02-06T12:01:00-23:59",
            "2026-02-08T04:00:00+16:00",
            "2026-02-06T20:00:00-16:00",
        )
    ),
    (reported.like(at="2026-03-01T00:10:00Z"), {"at": latest_accepted_time(NOW)}),
    (
        reported.action(kind="quote", text="GM, @friend! https://a.example"),
        {"kind": ActionKind.QUOTE, "cast_hash": CAST.lower(), "text_key": text_key("gm")},
    ),
    (reported.action(text="!?"), {"text_key": 0}),
    (reported.reply(actorFid=2**63 - 1), {"actor_fid": 2**63 - 1, "message_key": cast_key(MESSAGE), "text_key": 0}),
    (reported.like(messageHash=None, text=None), {"kind": InteractionKind.LIKE, "message_key": 0, "text_key": 0}),
    (reported.trade(amount="9" * 78, side="sell"), {"amount": 10**78 - 1, "is_buy": False}),
    (reported.trade(txHash="5" * 88, wallet=MINT), {"tx_hash": "5" * 88, "wallet": MINT}),
    (reported.score(score=1), {"score": 1.0, "registered_at": None}),
]


@pytest.mark.parametrize(("event", "attributes"), ACCEPTED)
def test_a_good_event_is_read_with_these_attributes(event, attributes):
    found = read(event)
    assert {name: getattr(found, name) for name in attributes} == attributes
    assert "at" not in attributes or found.at.tzinfo == UTC


@pytest.mark.parametrize("unit", ["\u0345\u0300", "\uff9e\u0345", "\u0f73\u0345", "\u302e\u0345"])
def test_of_more_marks_in_a_row_than_any_script_has_the_first_thirty_count(unit):
    """Sorting thousands of marks takes quadratic time, and blocks all other requests."""
    assert text_key("gm" + unit * 4_999) == text_key("gm" + unit * 15) != text_key("gm")
    assert text_key("gm" + unit * 4_999 + "\u2121") == text_key("gm" + unit * 15 + "tel")


@pytest.mark.parametrize("many", [1, 30])
def test_marks_that_people_write_stay_part_of_a_text(many):
    output = "e" + "\u0301" * many
    assert text_key(output) == text_key("\u00e9" + "\u0301" * (many - 1)) != text_key("e")
