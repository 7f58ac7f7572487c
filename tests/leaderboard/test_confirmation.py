"""Which interactions count as confirmed: by setting, by FID proof and by the hub, without a jump for others."""

import re
from datetime import timedelta
from importlib import import_module

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import Scope
from config.redis.connection import redis_client
from development.standins.hub_messages import Cast, Reaction
from leaderboard import tasks
from leaderboard.events.payloads import parse_event
from leaderboard.events.recording import MAX_WAITING_QUOTES, Reporter, record_events
from leaderboard.facts.loading import load_facts
from leaderboard.facts.short_keys import cast_key
from leaderboard.hub import fid_proofs, pulling
from leaderboard.models import Agent, HubCursor, HubQuote, Interaction, InteractionKind, Interval
from leaderboard.ranking.scoring import score_agents
from tests.rows.agent_factories import ActionFactory, AgentFactory, InteractionFactory, SocialScoreFactory
from tests.rows.factories import PartnerKeyFactory, SocialProfileFactory, TokenFactory

pytestmark = pytest.mark.django_db

FID, WALLET = 900, "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
HOUR = timedelta(hours=1)


@pytest.fixture
def hub(social, settings):
    """Run the stand-in as a hub, with the circuit breaker closed."""
    settings.SOCIAL_API_KEY, settings.FARCASTER_HUB_URL = "", social.url
    settings.SOCIAL_TIMEOUT_SECONDS = 5.0
    redis_client().delete(pulling.HUB_CIRCUIT_BREAKER.key)
    yield social
    redis_client().delete(pulling.HUB_CIRCUIT_BREAKER.key)


def composites(interval=Interval.DAY, *, at=None):
    """Return agent id -> composite."""
    with connection.cursor() as cursor:
        facts = load_facts(cursor, computed_at=at or timezone.now(), interval=interval)
    names = dict(Agent.objects.values_list("pk", "agent_id"))
    scores = score_agents(facts).composite.tolist()
    return {names[pk]: score for pk, score in zip(facts.agents.ids.tolist(), scores, strict=True)}


def parse(*events):
    return [parse_event(event, latest=timezone.now() + HOUR) for event in events]


def event(event_type, agent, number, **parts):
    """Build an event from an hour ago."""
    at = (timezone.now() - HOUR).isoformat()
    return {"id": f"{event_type}-{agent}-{number}", "type": event_type, "at": at, "agentId": agent, **parts}


def cast_hash(agent):
    return "0x" + agent.encode().hex().ljust(40, "0")


def story(agent, fans, **parts):
    """Return a partner's report about an agent: its description, a cast and the cast's likes."""
    likes = [
        event("interaction", agent, fan, kind="like", castHash=cast_hash(agent), actorFid=fan, **parts) for fan in fans
    ]
    return [event("agent", agent, 0), event("action", agent, 0, kind="post", castHash=cast_hash(agent)), *likes]


def report(key, *events):
    record_events(parse(*events), reporter=Reporter.for_key(key))


@pytest.fixture
def key():
    return PartnerKeyFactory(scopes=[Scope.AGENTS])


@pytest.fixture
def board(key):
    """Report three agents with differently large audiences, in an installation without a hub."""
    for fid in range(1, 200):
        SocialScoreFactory(fid=fid, score=0.9, at=timezone.now() - timedelta(days=30))
    for number, size in enumerate((10, 20, 40)):
        report(key, *story(f"agent-{number}", range(1, 1 + size)))
    return composites()


# Each case once moved all other agents' composites.


def test_an_interaction_that_the_operator_imports_moves_no_other_agent(board):
    assert min(board.values()) > 5
    parts = {"kind": "like", "castHash": cast_hash("agent-0"), "actorFid": 150}
    record_events(parse(event("interaction", "agent-0", 150, **parts)), reporter=Reporter(source="file ops"))
    after = composites()
    assert after["agent-0"] > board["agent-0"]
    assert {name: after[name] for name in ("agent-1", "agent-2")} == {
        name: board[name] for name in ("agent-1", "agent-2")
    }


def test_the_first_pull_of_a_new_hub_moves_no_other_agent(board, key, hub):
    assert composites() == board
    Agent.objects.filter(agent_id="agent-0").update(fid=FID, proven_fid=FID)
    cast = Cast(FID, int((timezone.now() - 2 * HOUR).timestamp()))
    hub.hub.casts.append(cast)
    hub.hub.reactions.append(Reaction(150, cast.at + 60, "Like", (FID, cast.hash)))
    tasks.pull_hub()
    after = composites()
    assert after["agent-0"] > board["agent-0"]
    assert (after["agent-1"], after["agent-2"]) == (board["agent-1"], board["agent-2"])
    # What is reported from now on needs the hub.
    report(key, *story("agent-1", range(100, 140))[2:])
    assert composites()["agent-1"] == pytest.approx(board["agent-1"], rel=0.02)


@pytest.mark.parametrize("is_configured", [False, True])
def test_an_upgrade_keeps_what_stored_reports_counted(board, settings, is_configured):
    """Without a hub, the former version stored reports as unconfirmed and counted them."""
    Interaction.objects.update(is_confirmed=False)
    settings.FARCASTER_HUB_URL = "http://127.0.0.1:9" if is_configured else ""
    migration = import_module("leaderboard.migrations.0004_confirm_stored_reports")
    with connection.cursor() as cursor:
        for statement, parameters in migration.confirm_stored_reports(connection):
            cursor.execute(statement, parameters)
    assert (composites() == board) is not is_configured
    assert Interaction.objects.filter(is_confirmed=is_configured).count() == 0


def test_a_hub_that_is_silent_for_a_day_changes_composites_by_degrees(key, hub):
    """Partners go on to report, and the hub confirms nothing."""
    begin = timezone.now() - timedelta(days=9)
    agents = [AgentFactory(partner_key=key, creator_fid=creator) for creator in (1, 2, 3)]
    for fid in range(1, 106):
        SocialScoreFactory(fid=fid, score=0.9, at=begin)
    # The last agent has the first one's accounts, so that none has a narrow audience.
    for agent, every in zip(agents, (1, 2, 1), strict=True):
        ActionFactory(agent=agent, at=begin, cast_key=agent.pk)
        for number in range(0, 105, every):
            at = begin + number * 2 * HOUR
            is_confirmed = at < begin + 40 * HOUR
            InteractionFactory(agent=agent, at=at, actor_fid=1 + number, cast_key=agent.pk, is_confirmed=is_confirmed)
    larger, smaller, _ = (agent.agent_id for agent in agents)
    courses = [composites(at=begin + hours * HOUR) for hours in range(40, 211, 6)]
    for name in (larger, smaller):
        # A composite's cube is proportional to its audience's weight.
        weights = [course[name] ** 3 for course in courses]
        steps = [before - after for before, after in zip(weights, weights[1:], strict=False)]
        # A further unconfirmed account raises the limit for their weight only a little.
        assert min(steps) > -0.01 * weights[0] and max(steps) < 0.25 * weights[0]
    assert all(course[larger] >= course[smaller] for course in courses)
    # It fails closed, within the seven days for which accounts are judged.
    assert courses[-1][larger] < 0.2 * courses[0][larger]


# FID proofs.


def popular(hub, fans=60):
    """Let an account that is no agent have a cast with likes."""
    cast = Cast(FID, int((timezone.now() - 3 * HOUR).timestamp()), text="hello")
    hub.hub.casts.append(cast)
    hub.hub.reactions += [Reaction(fan, cast.at + fan, "Like", (FID, cast.hash)) for fan in range(1, 1 + fans)]
    for fan in range(1, 1 + fans):
        SocialScoreFactory(fid=fan, score=0.9, at=timezone.now() - timedelta(days=30))
    return cast


def read_all():
    HubCursor.objects.update(due_at=timezone.now())
    tasks.pull_hub()


def test_a_borrowed_fid_brings_no_audience_until_it_is_proven(hub, key):
    popular(hub)
    token = TokenFactory(msg_sender=WALLET)
    described = {"chainId": token.chain_id, "address": token.contract_address}
    report(key, event("agent", "thief", 0, fid=FID, wallets=[WALLET], token=described))
    SocialProfileFactory(fid=FID, verified_addresses=[WALLET])
    tasks.note_social_scores()
    read_all()
    assert Interaction.objects.filter(is_confirmed=False).count() == 60
    assert composites()["thief"] < 1.5
    # A cast with another agent's code proves nothing.
    other = AgentFactory(partner_key=key, fid=None)
    agent = Agent.objects.get(agent_id="thief")
    now, code = int(timezone.now().timestamp()), fid_proofs.proof_code(agent)
    hub.hub.casts.append(Cast(FID, now - 50, text=fid_proofs.proof_code(other)))
    # A popular bot may repeat in its answers the code that the thief writes to it.
    asked = (7, "0x" + "ab" * 20)
    hub.hub.casts.append(Cast(FID, now - 49, text=f"you said: {code}", parent=asked))
    hub.hub.casts.append(Cast(FID, now - 48, text=code, quoted=asked))
    read_all()
    assert not Agent.objects.exclude(proven_fid=None).exists()
    hub.hub.casts.append(Cast(FID, now - 40, text=f"gm {code}!"))
    read_all()
    agent.refresh_from_db()
    assert agent.has_proven(FID) and not Interaction.objects.filter(is_confirmed=False).exists()
    assert composites()["thief"] > 5
    # It proves only this FID.
    agent.fid = FID + 1
    assert not agent.has_proven(agent.fid)


def test_what_was_confirmed_before_stays_so_when_the_hub_has_it_again(hub, key):
    cast = popular(hub, fans=3)
    report(key, event("agent", "own", 0, fid=FID))
    InteractionFactory(agent=Agent.objects.get(), actor_fid=1, cast_key=cast_key(cast.hash), is_confirmed=True)
    read_all()
    assert list(Interaction.objects.filter(is_confirmed=True).values_list("actor_fid", flat=True)) == [1]


def test_an_agent_of_the_operator_needs_no_proof(hub):
    popular(hub, fans=3)
    record_events(parse(event("agent", "own", 0, fid=FID)), reporter=Reporter(source="file ops"))
    read_all()
    assert Interaction.objects.filter(is_confirmed=True).count() == 3


def test_an_operator_accepts_fids_or_sets_them(client, admin_user, key, hub):
    client.force_login(admin_user)
    popular(hub, fans=3)
    agent = AgentFactory(partner_key=key, fid=FID)
    read_all()
    page = client.get(f"/admin/leaderboard/agent/{agent.pk}/change/").content.decode()
    assert re.search(r"launchboard-[0-9a-f]{16}", page)[0] == fid_proofs.proof_code(agent)
    client.post("/admin/leaderboard/agent/", {"action": "accept_fid", "_selected_action": [agent.pk]})
    read_all()
    assert Agent.objects.get().has_proven(FID)
    assert Interaction.objects.filter(is_confirmed=True).count() == 3


@pytest.mark.parametrize("has_key", [True, False])
def test_an_agent_that_an_operator_assigns_is_read_again(client, admin_user, key, hub, has_key):
    client.force_login(admin_user)
    popular(hub, fans=3)
    agent = AgentFactory(partner_key=key, fid=FID)
    read_all()
    page = f"/admin/leaderboard/agent/{agent.pk}/change/"
    opened = client.get(page)
    forms = [
        opened.context["adminform"].form,
        *(each.formset.management_form for each in opened.context["inline_admin_formsets"]),
    ]
    values = {field.html_name: field.value() for form in forms for field in form}
    fields = {name: "" if value is None else value for name, value in values.items()}
    assigned = PartnerKeyFactory(scopes=[Scope.AGENTS]).pk if has_key else ""
    assert client.post(page, fields | {"partner_key": assigned}).status_code == 302
    read_all()
    assert Agent.objects.get().has_proven(FID)
    assert Interaction.objects.filter(is_confirmed=True).count() == 3


# Quotes: the hub has no list for them.


def quote_of(cast, fid, **parts):
    """Let an account quote a cast, and return how a partner reports it."""
    quote = Cast(fid, cast.at + 60, text="look", quoted=(FID, cast.hash))
    named = {"kind": "quote", "castHash": cast.hash, "messageHash": quote.hash, "actorFid": fid} | parts
    return quote, event("interaction", "own", fid, **named)


@pytest.fixture
def own(hub, key):
    """Describe an agent that has proven its FID, with one cast."""
    cast = popular(hub, fans=0)
    report(key, event("agent", "own", 0, fid=FID))
    Agent.objects.update(proven_fid=FID)
    read_all()
    return cast


def confirmed_quotes():
    rows = Interaction.objects.filter(kind=InteractionKind.QUOTE, is_confirmed=True)
    return sorted(rows.values_list("actor_fid", flat=True))


def test_a_quote_that_the_hub_has_is_confirmed_with_one_call(hub, own, key):
    quote, reported = quote_of(own, 7)
    hub.hub.casts.append(quote)
    report(key, reported)
    assert confirmed_quotes() == []
    hub.received.clear()
    tasks.pull_hub()
    assert confirmed_quotes() == [7]
    assert [call.path for call in hub.received if call.path.endswith("castById")] == ["/v1/castById"]
    assert int(Interaction.objects.get().at.timestamp()) == quote.at
    # Reported again, it is not looked up again.
    report(key, reported | {"id": "again"})
    assert not HubQuote.objects.exists()


@pytest.mark.parametrize("case", ["unknown", "of another cast", "by another account"])
def test_a_quote_that_the_hub_does_not_have_stays_unconfirmed(hub, own, key, case):
    quote, reported = quote_of(own, 7)
    if case == "of another cast":
        quote = Cast(7, own.at + 60, quoted=(FID, "0x" + "ab" * 20))
        reported["messageHash"] = quote.hash
    if case == "by another account":
        reported["actorFid"] = 8
    hub.hub.casts += [] if case == "unknown" else [quote]
    report(key, reported)
    for _ in range(pulling.MAX_QUOTE_REJECTIONS):
        assert HubQuote.objects.exists() or case == "of another cast"
        HubQuote.objects.update(due_at=timezone.now())
        tasks.pull_hub()
    assert confirmed_quotes() == [] and not HubQuote.objects.exists()


def test_quotes_wait_for_the_proof_of_the_fid(hub, own, key):
    Agent.objects.update(proven_fid=None)
    quote, reported = quote_of(own, 7)
    hub.hub.casts.append(quote)
    report(key, reported)
    hub.received.clear()
    tasks.pull_hub()
    waiting = HubQuote.objects.get()
    assert waiting.due_at == waiting.at + pulling.MAX_CAST_AGE and not hub.received
    fid_proofs.accept_fids(Agent.objects.all())
    tasks.pull_hub()
    assert confirmed_quotes() == [7]
    # Without a proof, the quote is forgotten with its cast.
    Agent.objects.update(proven_fid=None)
    report(key, quote_of(own, 8)[1])
    HubQuote.objects.update(at=timezone.now() - pulling.MAX_CAST_AGE - HOUR)
    tasks.pull_hub()
    assert not HubQuote.objects.exists()


def test_waiting_quotes_of_an_agent_are_bounded(own, key):
    quotes = [quote_of(own, fid)[1] for fid in range(1, MAX_WAITING_QUOTES + 20)]
    report(key, *quotes[:300])
    report(key, *quotes[300:])
    assert HubQuote.objects.count() == MAX_WAITING_QUOTES
    assert Interaction.objects.count() == len(quotes)


def test_quotes_are_not_queued_where_reports_count(key):
    report(key, event("agent", "own", 0, fid=FID))
    parts = {"kind": "quote", "castHash": cast_hash("own"), "messageHash": "0x" + "cd" * 20, "actorFid": 7}
    report(key, event("interaction", "own", 1, **parts))
    assert confirmed_quotes() == [7] and not HubQuote.objects.exists()
