"""Tests of `POST /api/droid/events`: partners report their agents' activity."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone
from jsonschema import Draft202012Validator, ValidationError

from accounts.keys import credentials
from accounts.models import PartnerKey, Scope
from config.environment.variables import BASE_DIR
from leaderboard.events import payloads as events
from leaderboard.facts.short_keys import cast_key, event_key, text_key
from leaderboard.models import (
    Action,
    ActionKind,
    Agent,
    AgentWallet,
    Interaction,
    InteractionKind,
    Run,
    SocialAccount,
    SocialScore,
    Trade,
)
from leaderboard.ranking import pruning
from tests.rows import agent_events as reported
from tests.rows.agent_events import AT, CAST, MESSAGE, MINT, TX, WALLET

pytestmark = pytest.mark.django_db

PATH = "/api/droid/events"
NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
TABLES = (Agent, AgentWallet, Run, Action, Interaction, Trade, SocialScore, SocialAccount)


def issue(name, *scopes):
    return {"x-api-key": credentials.issue_key(name, scopes=[Scope.AGENTS, *(scopes or [Scope.SCORES])])}


@pytest.fixture
def agents_key(db):
    return issue("Agency")


def post(client, body, headers):
    return client.post(PATH, json.dumps(body), content_type="application/json", headers=headers)


def report(client, headers, *events):
    """Return an accepted request's counts: added and known events."""
    answer = post(client, {"events": list(events)}, headers)
    assert answer.status_code == 200, answer.content
    body = answer.json()
    assert body.keys() == {"success", "added", "known"} and body["success"] is True
    return body["added"], body["known"]


def refuse(client, headers, *events):
    """Return (field, message) for all errors in refused events; check that none is stored."""
    before = counts()
    answer = post(client, {"events": list(events)}, headers)
    assert answer.status_code == 400, answer.content
    assert counts() == before
    return [(detail["field"], detail["message"]) for detail in answer.json()["details"]]


def hand_over(name):
    """Give all agents to the key with this name."""
    Agent.objects.update(partner_key=PartnerKey.objects.get(name=name))


def counts():
    return [table.objects.count() for table in TABLES]


def test_it_requires_a_scope_of_its_own_where_accounts_are_scored(client):
    batch = {"events": [reported.agent(), reported.score()]}
    before = counts()
    answer = post(client, batch, issue("Agency", Scope.READ))
    assert answer.status_code == 403
    assert answer.json() == {
        "error": "This key lacks the scope scores",
        "details": [{"field": "events[1].type", "message": "requires a key with the scope scores"}],
    }
    assert counts() == before
    # Nor is that scope enough to report agents.
    answer = post(client, batch, {"x-api-key": credentials.issue_key("Scorer", scopes=[Scope.SCORES])})
    assert (answer.status_code, answer.json()["error"]) == (403, "This key lacks the scope agents")
    report(client, issue("Agency and scorer"), *batch["events"])


def test_it_refuses_a_batch_whole_and_reports_all_errors(client, agents_key):
    details = refuse(
        client,
        agents_key,
        reported.agent(),
        reported.like(castHash="0x12"),
        reported.like("l2"),
        reported.run(agentId="", kind=1),
    )
    assert details == [
        ("events[1].castHash", "must be the hash of a cast, 0x followed by 40 hex digits"),
        ("events[3].agentId", "must not be blank"),
        ("events[3].kind", "must be text"),
    ]


def test_it_reports_of_many_errors_the_first_and_how_many_more(client, agents_key):
    details = refuse(client, agents_key, *[reported.like(str(number), actorFid=0) for number in range(30)])
    assert [field for field, _ in details] == [f"events[{number}].actorFid" for number in range(19)] + ["body"]
    assert details[-1][1] == "breaks rules in 11 more places"


def test_it_refuses_events_about_an_agent_without_a_description(client, agents_key):
    words = "is neither a known agent nor described in the same batch: other"
    assert refuse(client, agents_key, reported.agent(), reported.like(), reported.like("l2", agentId="other")) == [
        ("events[2].agentId", words)
    ]


def test_it_refuses_events_about_an_agent_that_another_key_described(client, agents_key):
    report(client, issue("Other"), reported.agent(name="Theirs"))
    before = counts()
    for event in (reported.like(), reported.agent("b", name="Mine", at="2026-02-08T00:00:00Z")):
        answer = post(client, {"events": [reported.score(), event]}, agents_key)
        assert answer.status_code == 403
        rule = "belongs to an agent of another reporter: one"
        assert answer.json() == {
            "error": f"events[1].agentId {rule}",
            "details": [{"field": "events[1].agentId", "message": rule}],
        }
    assert counts() == before
    assert Agent.objects.get().name == "Theirs"


def test_it_refuses_events_about_an_agent_that_operators_made_until_it_is_handed_over(client, agents_key):
    Agent.objects.create(agent_id="one", name="Made by hand")
    for event in (reported.like(), reported.agent(name="Mine", fid=7)):
        answer = post(client, {"events": [event]}, agents_key)
        text = "events[0].agentId belongs to an agent of another reporter: one"
        assert (answer.status_code, answer.json()["error"]) == (403, text)
    assert not Interaction.objects.exists()
    agent = Agent.objects.get()
    assert (agent.name, agent.fid) == ("Made by hand", None)
    hand_over("Agency")
    assert report(client, agents_key, reported.like(), reported.agent(fid=7)) == (2, 0)


def test_it_refuses_more_wallets_than_a_batch_may_report(client, agents_key):
    wallets = [f"0x{number + 1:040x}" for number in range(100)]
    batch = [reported.agent(str(number), agentId=str(number), wallets=wallets) for number in range(12)]
    rule = "exceeds the limit of 1000 wallets per batch"
    refused = [("events[10].wallets", rule), ("events[11].wallets", rule)]
    assert refuse(client, agents_key, *batch) == refused
    assert report(client, agents_key, *batch[:10], reported.agent("b", agentId="b", wallets=[])) == (11, 0)


def test_it_refuses_more_agents_than_a_key_may_have(client, agents_key, settings):
    settings.LEADERBOARD_AGENTS_PER_KEY = 2
    # Neither others' agents count nor operators'.
    Agent.objects.create(agent_id="operators")
    report(client, issue("Other"), reported.agent(agentId="theirs"))
    one, two, three = (reported.agent(name, agentId=name) for name in ("one", "two", "three"))
    words = "exceeds the limit of 2 agents per key"
    assert refuse(client, agents_key, reported.score(), one, two, one, three) == [("events[4].agentId", words)]
    assert report(client, agents_key, one, two) == (2, 0)
    assert refuse(client, agents_key, three) == [("events[0].agentId", words)]
    # Stored rows are still updated.
    later = reported.agent("later", agentId="two", name="Two", at="2026-02-08T00:00:00Z")
    assert report(client, agents_key, later, one) == (1, 1)


def test_calls_have_a_limit_of_their_own(client, agents_key, settings):
    settings.RATE_LIMIT_AGENT_EVENTS, settings.RATE_LIMIT_KEYED = 1, 7
    report(client, agents_key, reported.agent())
    answer = post(client, {"events": [reported.agent()]}, agents_key)
    assert (answer.status_code, answer["RateLimit-Limit"]) == (429, "1")


def test_it_keeps_what_describes_an_agent(client, agents_key):
    token = {"chainId": 8453, "address": WALLET.lower()}
    report(client, agents_key, reported.agent(name="One", fid=7, creatorFid=9, token=token, wallets=[WALLET, MINT]))
    agent = Agent.objects.get()
    assert (agent.agent_id, agent.name, agent.fid, agent.creator_fid) == ("one", "One", 7, 9)
    assert (agent.token_chain_id, agent.token_address, agent.described_at) == (8453, WALLET, NOON)
    assert agent.partner_key == PartnerKey.objects.get()
    assert set(agent.wallets.values_list("address", flat=True)) == {WALLET, MINT}


def test_it_keeps_each_type_of_fact(client, agents_key):
    facts = [
        reported.run(kind="a\tloop\\"),
        reported.action(),
        reported.like(),
        reported.reply(text="GM @you"),
        reported.trade(),
    ]
    registered = reported.score(registeredAt="2023-01-02T03:04:05Z")
    # The agent's description has its effect from anywhere in the batch.
    assert report(client, agents_key, *facts, registered, reported.agent()) == (7, 0)
    agent_id = Agent.objects.get().pk
    source = f"key {PartnerKey.objects.get().pk}"

    def row(table, id, *columns):
        return table.objects.values_list("agent_id", *columns).get(key=event_key(source, id))

    finished = NOON + timedelta(seconds=5.25)
    run = row(Run, "r", "kind", "started_at", "finished_at", "succeeded")
    assert run == (agent_id, "a\tloop\\", NOON, finished, True)
    cast = cast_key(CAST.lower())
    action = row(Action, "c", "at", "kind", "cast_hash", "cast_key", "text_key")
    assert action == (agent_id, NOON, ActionKind.POST, CAST.lower(), cast, 0)
    columns = ("at", "kind", "actor_fid", "cast_key", "message_key", "text_key")
    assert row(Interaction, "l", *columns) == (agent_id, NOON, InteractionKind.LIKE, 8, cast, 0, 0)
    reply = (agent_id, NOON, InteractionKind.REPLY, 8, cast, cast_key(MESSAGE), text_key("gm"))
    assert row(Interaction, "y", *columns) == reply
    trade = row(Trade, "t", "at", "tx_hash", "log_index", "wallet", "is_buy", "amount")
    assert trade == (agent_id, NOON, TX.lower(), 0, WALLET, True, Decimal(10**18))
    assert SocialScore.objects.values_list("fid", "at", "score").get() == (8, NOON, 0.75)
    account = SocialAccount.objects.values_list("fid", "registered_at").get()
    assert account == (8, datetime(2023, 1, 2, 3, 4, 5, tzinfo=UTC))


def test_the_guides_example_is_taken_and_counts(client, agents_key):
    guide = (BASE_DIR / "docs/agents.md").read_text()
    body = guide.split("<<END\n")[1].split("\nEND\n")[0]
    batch = json.loads(body.replace("$now", timezone.now().strftime("%Y-%m-%dT%H:%M:%SZ")))["events"]
    assert report(client, agents_key, *batch) == (len(batch), 0)
    assert f'"added":{len(batch)},"known":0' in guide
    assert not pruning.prune_facts()


def test_events_that_come_again_add_nothing(client, agents_key):
    batch = reported.one_of_each()
    assert report(client, agents_key, *batch) == (7, 0)
    kept = counts()
    assert report(client, agents_key, *batch, reported.like("new", actorFid=99)) == (1, 7)
    assert report(client, agents_key, *reversed(batch)) == (0, 7)
    assert [new - old for new, old in zip(counts(), kept, strict=True)] == [table is Interaction for table in TABLES]


def test_a_fact_is_one_under_any_reported_id(client, agents_key):
    report(client, agents_key, reported.agent())
    facts = [reported.action(), reported.like(), reported.reply(), reported.trade(), reported.score()]
    again = [fact | {"id": fact["id"] + "2"} for fact in facts]
    assert report(client, agents_key, *facts, *again) == (5, 5)
    other = issue("Other")
    hand_over("Other")
    assert report(client, other, *facts) == (0, 5)
    # Two reports about a run are the same only by their id.
    assert report(client, other, reported.run(), reported.run("r2"), reported.run("r2", succeeded=False)) == (2, 1)
    assert Run.objects.filter(succeeded=True).count() == 2


def test_a_fact_of_another_partners_agent_keeps_no_other_out(client, agents_key):
    thief = issue("Other")
    stolen = [
        event | {"agentId": "thief"}
        for event in (reported.agent(), reported.action(), reported.like(), reported.reply())
    ]
    assert report(client, thief, *stolen) == (4, 0)
    truth = [reported.agent(), reported.action(), reported.like(), reported.reply()]
    assert report(client, agents_key, *truth) == (4, 0)
    assert report(client, agents_key, *truth) == (0, 4)
    for table in (Action, Interaction):
        assert len(set(table.objects.values_list("agent_id", flat=True))) == 2


def test_a_run_is_one_for_every_reporter(client, agents_key):
    later = {"startedAt": "2026-02-07T12:00:01Z"}
    assert report(client, agents_key, reported.agent(), reported.run()) == (2, 0)
    other = issue("Other")
    hand_over("Other")
    assert report(client, other, reported.run()) == (0, 1)
    # A partner that takes an agent over may count its runs from one again; no partner reports two under one id.
    assert report(client, other, reported.run(**later)) == (1, 0)
    assert report(client, other, reported.run(**later), reported.run(startedAt="2026-02-07T12:00:02Z")) == (0, 2)
    assert report(client, other, reported.agent("b", agentId="two"), reported.run("r2", agentId="two")) == (2, 0)
    assert report(client, other, reported.run("r3")) == (1, 0)
    assert Run.objects.filter(agent__agent_id="one").count() == 3


def test_an_account_was_registered_at_the_time_of_the_newest_event(client, agents_key):
    def registered():
        return SocialAccount.objects.get().registered_at

    reported_at = ["2026-02-08T00:00:00Z", "2026-02-07T23:00:00Z"]
    both = [
        reported.score(str(n), at=at, registeredAt=f"2021-02-0{n + 1}T00:00:00Z") for n, at in enumerate(reported_at)
    ]
    assert report(client, agents_key, *both) == (2, 0)
    assert registered() == datetime(2021, 2, 1, tzinfo=UTC)
    assert report(client, agents_key, *reversed(both)) == (0, 2)
    assert registered() == datetime(2021, 2, 1, tzinfo=UTC)
    report(client, issue("Other"), reported.score(at="2026-02-08T00:00:01Z", registeredAt=AT))
    assert registered() == NOON
    # A missing field clears nothing.
    report(client, agents_key, reported.score("s3", at="2026-02-08T00:00:02Z"))
    assert registered() == NOON


def test_a_score_holds_from_now_on_at_the_latest(client, agents_key):
    soon = (timezone.now() + timedelta(minutes=9)).isoformat()
    report(client, agents_key, reported.score(at=soon))
    assert SocialScore.objects.get().at <= timezone.now()
    late = (timezone.now() + timedelta(minutes=11)).isoformat()
    words = "must not be more than 10 minutes in the future"
    assert refuse(client, agents_key, reported.score(at=late)) == [("events[0].at", words)]


def test_a_full_batch_takes_no_more_statements_than_a_small_one(client, agents_key, django_assert_max_num_queries):
    batch = [
        event | {"id": f"{event['id']}{number}", **own(event, number)}
        for number in range(142)
        for event in reported.one_of_each()
    ]
    with django_assert_max_num_queries(60):
        assert report(client, agents_key, *batch) == (len(batch), 0)


def own(event, number):
    """Return changes that make a different event with the same type."""
    match event["type"]:
        case "agent":
            return {"agentId": str(number), "fid": number + 1, "wallets": [WALLET]}
        case "action" | "interaction":
            return {"agentId": str(number), "castHash": f"0x{number + 1:02x}" + "00" * 19}
        case "score":
            return {"fid": number + 1}
    return {"agentId": str(number)}


# Optional fields in the events of `tests.rows.agent_events`. The rule that replies must name themselves is described
# in words.
OPTIONAL = {"agent": {"name", "fid", "token", "wallets"}, "interaction": {"messageHash"}} | dict.fromkeys(
    ("run", "action", "trade", "score"), set()
)


@pytest.fixture
def body_validator(client):
    document = client.get("/api/openapi.json").json()
    schema = document["paths"][PATH]["post"]["requestBody"]["content"]["application/json"]["schema"]
    return Draft202012Validator({"components": document["components"]} | schema)


@pytest.mark.parametrize(
    "event", [*reported.one_of_each(), reported.agent(fid=None, token=None, wallets=None, name=None)]
)
def test_an_event_is_as_described(event, body_validator):
    body_validator.validate({"events": [event]})
    for name in event.keys() - OPTIONAL[event["type"]]:
        with pytest.raises(ValidationError):
            body_validator.validate({"events": [{key: value for key, value in event.items() if key != name}]})


def test_the_description_distinguishes_types(client):
    schema = client.get("/api/openapi.json").json()["components"]["schemas"]["Event"]
    assert schema["discriminator"]["propertyName"] == "type"
    assert tuple(schema["discriminator"]["mapping"]) == events.EVENT_TYPES
    assert len(schema["oneOf"]) == len(events.EVENT_TYPES)
