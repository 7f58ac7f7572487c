"""The admin pages of agents, rankings and imports."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.events import payloads, recording
from leaderboard.events.field_rules import latest_accepted_time
from leaderboard.events.recording import Reporter
from leaderboard.models import Action, ActionKind, Agent, AgentWallet
from tests.rows import agent_events as reported
from tests.rows.agent_factories import (
    ActionFactory,
    AgentFactory,
    HubCursorFactory,
    InteractionFactory,
    SnapshotFactory,
    StandingFactory,
)
from tests.rows.factories import PartnerKeyFactory, TokenFactory
from tokens.chains.addresses import checksum_address

pytestmark = pytest.mark.django_db

AGENTS, STANDINGS, IMPORTS = (f"/admin/leaderboard/{name}/" for name in ("agent", "standing", "eventimport"))
TOKEN = "0x" + "ab" * 20
CHECKSUMMED = checksum_address(TOKEN)
EVIDENCE = {
    "NARROW": {
        "meaning": "They interact with one owner only.",
        "accounts": 12,
        "interactions": 94,
        "weight": 7.5,
        "independent": 2.0,
        "limit": 6.0,
        "counted": 3.3333,
        "listed": [{"interactions": 90, "fid": 77, "score": None}, {"interactions": 4, "fid": 78, "score": 0.25}],
    }
}


def form(**fields):
    wallets = fields.pop("wallets", ())
    posted = {"agent_id": "droid", "name": "", "fid": "", "creator_fid": "", "token_chain_id": "", "token_address": ""}
    rows = {f"wallets-{place}-address": address for place, address in enumerate(wallets)}
    return posted | {"partner_key": "", "wallets-TOTAL_FORMS": len(wallets), "wallets-INITIAL_FORMS": 0} | rows | fields


def refusals(answer):
    return answer.context["adminform"].form.errors


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"agent_id": " "}, "agent_id"),
        ({"agent_id": "\u200b"}, "agent_id"),
        ({"fid": "0"}, "__all__"),
        ({"fid": "x"}, "fid"),
        ({"token_address": "0x12", "token_chain_id": "1"}, "token_address"),
        ({"token_address": TOKEN}, "token_address"),
        ({"token_chain_id": "1"}, "token_address"),
    ],
)
def test_it_refuses_an_agent_that_makes_no_sense(operator, fields, field):
    assert field in refusals(operator.post(f"{AGENTS}add/", form(**fields)))
    assert not Agent.objects.exists()


def test_it_refuses_an_id_or_fid_of_another_agent(operator):
    AgentFactory(agent_id="droid", fid=5)
    assert "already" in str(refusals(operator.post(f"{AGENTS}add/", form())))
    assert "already" in str(refusals(operator.post(f"{AGENTS}add/", form(agent_id="second", fid=5))))


def test_it_adds_an_agent_with_its_token_and_wallets(operator):
    answer = operator.post(f"{AGENTS}add/", form(token_address=TOKEN, token_chain_id=1, wallets=[TOKEN]))
    assert answer.status_code == 302
    assert Agent.objects.get().token_address == CHECKSUMMED
    assert AgentWallet.objects.get().address == CHECKSUMMED


def test_it_hides_an_agent_and_keeps_its_id(operator):
    agent = AgentFactory(agent_id="droid")
    operator.post(f"{AGENTS}{agent.pk}/change/", form(agent_id="other", is_hidden="on"))
    agent.refresh_from_db()
    assert (agent.agent_id, agent.is_hidden) == ("droid", True)


def test_it_undoes_nothing_that_was_described_since_the_page_was_opened(operator):
    agent = AgentFactory(agent_id="droid", name="One", fid=5)
    page = f"{AGENTS}{agent.pk}/change/"
    opened = operator.get(page)
    fields = {field.html_name: field.value() or "" for field in opened.context["adminform"].form}
    fields |= re.findall(r'<input type="hidden" name="(initial-\w+)" value="([^"]*)"', opened.content.decode())
    described = {"name": "Uno", "fid": None, "token_chain_id": 1, "token_address": CHECKSUMMED}
    Agent.objects.update(**described)
    AgentFactory(fid=5)
    fields |= {"is_hidden": "on", "creator_fid": "8", "name": "One"}
    assert operator.post(page, form(**fields)).status_code == 302
    left = Agent.objects.values(*described, "is_hidden", "creator_fid").get(pk=agent.pk)
    assert left == described | {"is_hidden": True, "creator_fid": 8}


def test_it_refuses_a_token_of_another_agent_until_it_is_taken_from_that_one(operator):
    squatter = AgentFactory(fid=5, token_chain_id=1, token_address=CHECKSUMMED)
    wanted = {"fid": "5", "token_chain_id": "1", "token_address": CHECKSUMMED}
    errors = refusals(operator.post(f"{AGENTS}add/", form(**wanted)))["__all__"]
    assert set(errors) == {
        f"Another agent has this {what} already: take it from that one first." for what in ("FID", "token")
    }
    emptied = form(**dict.fromkeys(wanted, ""), **{f"initial-{name}": value for name, value in wanted.items()})
    assert operator.post(f"{AGENTS}{squatter.pk}/change/", emptied).status_code == 302
    assert operator.post(f"{AGENTS}add/", form(**wanted)).status_code == 302
    assert Agent.objects.get(fid=5).agent_id == "droid"


def test_what_it_changes_holds_against_what_was_described_before(operator):
    key = PartnerKeyFactory(scopes=["agents"])
    agent = AgentFactory(
        agent_id="one", name="One", fid=5, token_chain_id=1, token_address=CHECKSUMMED, partner_key=key
    )
    token = {"chainId": 1, "address": TOKEN}
    latest = latest_accepted_time(timezone.now())
    old = reported.agent(name="Uno", fid=5, token=token, creatorFid=4, wallets=[TOKEN])
    opened = {"name": "One", "fid": "5", "token_chain_id": "1", "token_address": CHECKSUMMED, "partner_key": key.pk}
    changed = {
        "agent_id": "one",
        "partner_key": key.pk,
        "name": "Won",
        "creator_fid": "8",
        "wallets": [reported.WALLET],
    }
    changed |= {f"initial-{name}": value for name, value in opened.items()}
    assert operator.post(f"{AGENTS}{agent.pk}/change/", form(**changed)).status_code == 302
    for event, name in ((old, "Won"), (reported.agent("b", at=timezone.now().isoformat(), name="Uno"), "Uno")):
        recording.record_events([payloads.parse_event(event, latest=latest)], reporter=Reporter.for_key(key))
        agent.refresh_from_db()
        assert (agent.name, agent.fid, agent.token_address, agent.creator_fid) == (name, None, "", 8)
        assert agent.wallets.get().address == reported.WALLET


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"requestor_fid": 5}, "requested by FID 5, the agent itself"),
        ({"requestor_fid": 6}, "requested by FID 6, its creator, as described"),
        ({"requestor_fid": 7}, "requested by FID 7, neither the agent nor its creator, as described"),
        ({"requestor_fid": None, "msg_sender": TOKEN}, f"sent by {TOKEN}; it names no FID"),
    ],
)
def test_an_agents_page_shows_who_requested_its_token(operator, columns, words):
    agent = AgentFactory(fid=5, creator_fid=6, token=TokenFactory(**columns))
    assert f"{words}<" in re.sub(r"\s*<", "<", operator.get(f"{AGENTS}{agent.pk}/change/").content.decode())


@pytest.mark.parametrize(("address", "words"), [("", "no token"), (CHECKSUMMED, "not indexed")])
def test_an_agents_page_shows_where_no_launch_is_known(operator, address, words):
    agent = AgentFactory(token_chain_id=1 if address else None, token_address=address)
    assert f">{words}<" in re.sub(r"\s*([<>])\s*", r"\1", operator.get(f"{AGENTS}{agent.pk}/change/").content.decode())


def test_agents_cannot_be_deleted(operator):
    agent = AgentFactory()
    assert operator.get(f"{AGENTS}{agent.pk}/delete/").status_code == 403


@pytest.mark.parametrize("text", ["droid-7", "Sunny", "4242", "4343", TOKEN])
def test_it_finds_agents(operator, text):
    found = AgentFactory(
        agent_id="droid-7", name="Sunny droid", fid=4242, creator_fid=4343, token_chain_id=1, token_address=CHECKSUMMED
    )
    AgentFactory(name="other")
    rows = operator.get(AGENTS, {"q": text}).context["cl"].result_list
    assert [row.pk for row in rows] == [found.pk]


def test_the_list_shows_where_agents_stand_this_week(operator):
    ranked, unranked = AgentFactory(), AgentFactory()
    old = SnapshotFactory(interval="7d", is_current=False, replaced_at=timezone.now())
    StandingFactory(agent=ranked, snapshot=old, rank=9)
    StandingFactory(agent=ranked, snapshot=SnapshotFactory(interval="7d"), rank=3, wash_confidence=0.25)
    rows = {row.pk: row for row in operator.get(AGENTS).context["cl"].result_list}
    assert (rows[ranked.pk].current_rank, rows[ranked.pk].current_wash) == (3, 0.25)
    assert rows[unranked.pk].current_rank is None


def test_an_agents_page_shows_why_it_stands_where_it_stands(operator):
    agent = AgentFactory()
    ActionFactory.create_batch(3, agent=agent, at=timezone.now())
    InteractionFactory.create_batch(4, agent=agent, at=timezone.now() - timedelta(days=2))
    StandingFactory(
        agent=agent,
        snapshot=SnapshotFactory(interval="7d"),
        rank=3,
        components={"reliability": 0.7, "audience": 0.123},
        wash_flags=["NARROW"],
        evidence=EVIDENCE,
    )
    page = operator.get(f"{AGENTS}{agent.pk}/change/").content.decode()
    assert "Rank 3" in page
    assert page.count("not ranked yet") == 2
    for words in ("NARROW", "They interact with one owner only.", "0.123", "7.5", ">77</a></td>", ">0.25</td>"):
        assert words in page
    # Charts: components, casts and interactions by day.
    assert page.count("<svg viewBox") == 3


def test_evidence_is_no_markup(operator):
    agent = AgentFactory(name="<script>alert(1)</script>")
    evidence = {"<b>FLAG</b>": EVIDENCE["NARROW"] | {"meaning": "<script>"}}
    StandingFactory(agent=agent, snapshot=SnapshotFactory(), evidence=evidence)
    page = operator.get(f"{AGENTS}{agent.pk}/change/").content.decode()
    assert "&lt;b&gt;FLAG" in page
    assert "<script>alert(1)" not in page
    assert "<b>FLAG" not in page
    assert '"><script></p>' not in page and "&lt;script&gt;</p>" in page


def test_evidence_of_an_earlier_version_is_left_out(operator):
    evidence = {"NARROW": {"strength": 0.8, "listed": [1, 2], "accounts": [{"fid": 5}]}}
    standing = StandingFactory(snapshot=SnapshotFactory(), evidence=evidence)
    page = operator.get(f"{STANDINGS}{standing.pk}/change/").content.decode()
    assert "NARROW" in page and "strength" not in page


def test_rankings_are_listed_by_interval_and_discount(operator):
    day, week = SnapshotFactory(), SnapshotFactory(interval="7d")
    past = SnapshotFactory(is_current=False, replaced_at=timezone.now())
    first, second = (StandingFactory(snapshot=day, rank=rank) for rank in (1, 2))
    most = StandingFactory(snapshot=day, rank=3, wash_confidence=0.8, wash_flags=["NARROW"])
    some = StandingFactory(snapshot=day, rank=4, wash_confidence=0.2, wash_flags=["UNCONFIRMED"])
    weekly = StandingFactory(snapshot=week, rank=1)
    StandingFactory(snapshot=past, rank=1)

    def listed(**requested):
        return [row.pk for row in operator.get(STANDINGS, requested).context["cl"].result_list]

    assert listed() == [first.pk, second.pk, most.pk, some.pk]
    assert listed(interval="7d") == [weekly.pk]
    # The selected value is shown, also where it is the default.
    for requested, shown in (({}, "24h"), ({"interval": "7d"}, "7d"), ({"interval": "x"}, "24h")):
        changelist = operator.get(STANDINGS, requested).context["cl"]
        offered = list(changelist.filter_specs[0].choices(changelist))
        assert [(choice["display"], choice["selected"]) for choice in offered] == [
            (interval, interval == shown) for interval in ("24h", "7d", "30d")
        ]
    assert listed(discounts="some") == [most.pk, some.pk]
    assert listed(discounts="most") == [most.pk]
    assert listed(q=second.agent.agent_id) == [second.pk]


def test_a_hub_that_refuses_an_agent_is_shown(operator):
    agent = AgentFactory()
    assert "not pulled" in operator.get(f"{AGENTS}{agent.pk}/change/").content.decode()
    HubCursorFactory(agent=agent, last_error="HTTP status 400")
    assert "HTTP status 400" in operator.get(f"{AGENTS}{agent.pk}/change/").content.decode()


def test_facts_of_an_agent_are_counted_by_day(operator):
    agent = AgentFactory()
    ActionFactory(agent=agent, at=timezone.now() - timedelta(days=40), kind=ActionKind.REPLY)
    assert Action.objects.count() == 1
    assert "Casts by day, UTC, up to 0" in operator.get(f"{AGENTS}{agent.pk}/change/").content.decode()


def test_imports_are_listed(operator):
    assert operator.get(IMPORTS).status_code == 200
