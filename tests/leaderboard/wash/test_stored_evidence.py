"""Flags recalculated from a ranking's stored evidence, and the admin page that shows it."""

import html

import pytest

from accounts.models import SocialProfile
from leaderboard.admin.evidence_labels import FLAGS, PLAIN, SIGNS
from leaderboard.facts.short_keys import key_from_hex, key_to_hex, wallet_key
from leaderboard.models import Action, Interaction, Trade
from leaderboard.ranking.scoring import score_agents
from leaderboard.wash.detectors import DETECTORS
from tests.rows.agent_factories import SnapshotFactory, StandingFactory
from tests.rows.evidence_recalculation import flags_again
from tests.rows.flag_scenes import SCENES, batch, clockwork, concentrated, copied, league, ring
from tests.rows.stored_scenes import hash_of, judged
from tests.rows.wash_scenes import NOW, town

pytestmark = pytest.mark.django_db(transaction=True)

# The signs that each raise their flag without others.
ACCUSED = {
    "CONCENTRATED": concentrated,
    "RECIPROCAL_RING": ring,
    "BURST_TIMING": clockwork,
    "LOW_SCORE_AUDIENCE": batch,
    "DUPLICATE_TEXT": copied,
    "SELF_TRADE": league,
}


def page_of(client, standing):
    """Return the page's text, without markup of its own."""
    answer = client.get(f"/admin/leaderboard/standing/{standing.pk}/change/")
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


def names_in(found):
    """Return all keys in a piece of evidence, however deep."""
    if isinstance(found, dict):
        return set(found) | {name for value in found.values() for name in names_in(value)}
    return {name for value in found for name in names_in(value)} if isinstance(found, list) else set()


@pytest.mark.parametrize("text", ["", "00", "0x12345678901234", "g" * 16, " " * 16, "0" * 18])
def test_what_is_no_key_is_refused(text):
    with pytest.raises(ValueError):
        key_from_hex(text)


@pytest.mark.parametrize("key", [0, 1, -1, 2**63 - 1, -(2**63)])
def test_a_key_is_read_as_it_is_written(key):
    assert key_from_hex(key_to_hex(key)) == key


def test_every_flag_is_among_those_that_are_worked_out_again():
    assert list(ACCUSED) == [detector.flag for detector in DETECTORS]


@pytest.mark.parametrize("flag", ACCUSED)
def test_a_flag_is_worked_out_again_only_from_what_is_stored(flag):
    scene = town()
    standing = judged(scene, ACCUSED[flag](scene, honest=False))
    # From here on nothing but the row counts.
    for model in (Interaction, Action, Trade):
        model.objects.all().delete()
    standing.refresh_from_db()
    assert flag in standing.wash_flags
    assert sorted(flags_again(standing.evidence, standing.wash_confidence)) == sorted(standing.wash_flags)


@pytest.mark.parametrize("make", [concentrated, clockwork, batch, copied, league])
def test_an_honest_agent_has_nothing_that_would_make_a_flag(make):
    scene = town()
    standing = judged(scene, make(scene, honest=True))
    assert standing.wash_flags == flags_again(standing.evidence, standing.wash_confidence) == []


def test_a_page_names_the_casts_that_carry_a_copied_text_and_what_they_answer(operator):
    scene = town()
    standing = judged(scene, copied(scene, honest=False))
    page = page_of(operator, standing)
    shown = standing.evidence["DUPLICATE_TEXT"]["listed"]
    for text in shown:
        assert text["key"] in page
        for cast in text["casts"]:
            assert f'href="https://farcaster.xyz/~/conversations/{hash_of(key_from_hex(cast["cast"]))}"' in page
        stored = Interaction.objects.filter(agent=standing.agent, text_key=key_from_hex(text["key"])).order_by(
            "at", "key"
        )
        for reply in stored[:12]:
            assert f"0x{key_to_hex(reply.message_key)}… by {reply.actor_fid}" in page
    fid = shown[0]["actors"][0]
    assert f'href="https://farcaster.xyz/~/profiles/{fid}"' in page
    SocialProfile.objects.create(fid=fid, username="parrot", due_at=standing.snapshot.computed_at)
    assert f"{fid} @parrot" in page_of(operator, standing)


def test_a_page_names_the_wallets_and_transactions_of_trades(operator):
    scene = town()
    standing = judged(scene, league(scene, honest=False))
    page = page_of(operator, standing)
    made = {(int(trade.at.timestamp()), key_to_hex(wallet_key(trade.wallet))): trade for trade in Trade.objects.all()}
    listed = standing.evidence["SELF_TRADE"]["circles"]["listed"]
    assert len(listed) == 25
    for one in listed:
        trade = made[one["at"], one["wallet"]]
        assert f'href="https://basescan.org/address/{trade.wallet}"' in page
        assert f'href="https://basescan.org/tx/{trade.tx_hash}"' in page
        assert one["wallet"] not in page


@pytest.mark.parametrize("make", [copied, league])
def test_a_page_shows_what_is_stored_where_the_facts_are_gone(operator, make):
    scene = town()
    standing = judged(scene, make(scene, honest=False))
    for model in (Interaction, Action, Trade):
        model.objects.all().delete()
    page = page_of(operator, standing)
    if make is copied:
        assert f"0x{standing.evidence['DUPLICATE_TEXT']['listed'][0]['casts'][0]['cast']}…" in page
    else:
        assert f"one with the key {standing.evidence['SELF_TRADE']['circles']['listed'][0]['wallet']}" in page


@pytest.mark.parametrize(("flag", "sign", "make"), SCENES)
def test_there_are_plain_words_for_all_that_evidence_names(flag, sign, make):
    scene = town()
    agent = make(scene, honest=False)
    evidence = score_agents(scene.facts()).evidence[agent]
    for name, found in evidence.items():
        assert name in FLAGS
        assert found["signs"].keys() <= SIGNS.keys()
        assert names_in({key: value for key, value in found.items() if key != "signs"}) <= PLAIN.keys()


@pytest.mark.parametrize("flag", ACCUSED)
def test_a_page_states_in_plain_words_what_a_flag_means(operator, flag):
    scene = town()
    page = page_of(operator, judged(scene, ACCUSED[flag](scene, honest=False)))
    part = page[page.index("Score; flags: ") :]
    for word in ("doubt", "spared", "usualPower", "circlingOwn", "knownInteractions", "agentsInAll"):
        assert word not in part
    assert FLAGS[flag] in part


@pytest.mark.django_db
def test_there_are_plain_words_for_what_no_detector_found(operator):
    evidence = {
        "EARLIER": {"confidence": 0.75, "at": NOW, "flags": ["SELF_TRADE"]},
        "INSUFFICIENT_DATA": {"interactions": 40, "fromUnknownAccounts": 39, "most": 0.6667, "doubt": 5},
    }
    page = page_of(operator, StandingFactory(snapshot=SnapshotFactory(), evidence=evidence))
    for name, found in evidence.items():
        assert FLAGS[name] in page
        assert all(PLAIN[key] in page for key in found)
