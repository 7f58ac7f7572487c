"""Amounts in GET /api/creators/{creator} while older blocks are still read."""

import pytest

from tests.nodes.solana.recorded import CONFIG, CREATOR, allow_list
from tests.rows.factories import ChainHeadFactory, CoverageFactory, FollowedAccountFactory, SolanaTokenFactory
from tests.tokens.ledger.creator_launches import ALICE, FID, amounts, claim, collect, launch
from tokens.models import ChainHead, Coverage, FollowedAccount

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("summed")]


@pytest.mark.parametrize("first_block", [None, 10**9])
def test_amounts_are_unknown_while_the_history_is_not_read(read, first_block):
    token = launch()
    collect(token, (1,), (1,))
    if first_block is None:
        Coverage.objects.all().delete()
    else:
        Coverage.objects.update(first_block=first_block, followed_to=first_block, verified_to=first_block)
    (entry,) = read(days=90)["launches"]
    assert set(amounts(entry, "earned").values()) == {"history_not_read"}
    assert amounts(entry, "claimed")[ALICE, token.symbol] == "history_not_read"
    assert [fees["days"] for fees in entry["fees"]] == [[], []]


def test_runs_of_blocks_below_the_live_ones_count(read):
    token = launch()
    Coverage.objects.update(first_block=token.block_number + 100)
    run = CoverageFactory(
        first_block=token.block_number, last_block=token.block_number + 99, followed_to=token.block_number + 98
    )
    assert amounts(read()["launches"][0], "earned")[ALICE, "WETH"] == "history_not_read"
    Coverage.objects.filter(pk=run.pk).update(followed_to=token.block_number + 99)
    assert amounts(read()["launches"][0], "earned")[ALICE, "WETH"] == "0"


def test_a_history_that_is_behind_is_not_read(read):
    launch()
    followed_to = Coverage.objects.get().followed_to
    head = ChainHeadFactory(followed=followed_to)
    assert amounts(read()["launches"][0], "earned")[ALICE, "WETH"] == "0"
    # The head is written at once, and older blocks follow.
    ChainHead.objects.filter(pk=head.pk).update(followed=followed_to + 1)
    assert amounts(read()["launches"][0], "earned")[ALICE, "WETH"] == "history_not_read"
    ChainHead.objects.update(followed=followed_to)
    CoverageFactory(first_block=1, followed_to=followed_to - 1)
    assert amounts(read()["launches"][0], "earned")[ALICE, "WETH"] == "history_not_read"


def test_a_token_of_solana(read, settings, tmp_path):
    files = (
        allow_list(tmp_path / "config.toml"),
        allow_list(tmp_path / "creator.toml", role="launch_creator", address=CREATOR),
    )
    settings.CHAINS_FILES = tuple(map(str, files))
    token = SolanaTokenFactory(requestor_fid=FID)
    claim(token.msg_sender, token.paired_token, 8, token=token, chain_id=101, block_hash="")

    def earned():
        return amounts(read(FID)["launches"][0], "earned")[token.msg_sender, "SOL"]

    assert earned() == "history_not_read"
    FollowedAccountFactory(address=CONFIG, complete_to=None)
    FollowedAccountFactory(address=CREATOR)
    assert earned() == "history_not_read"
    FollowedAccount.objects.update(complete_to=1000)
    assert earned() == "8"
    # A pool is read from its own token's launch on.
    FollowedAccountFactory(first_slot=token.block_number + 1)
    assert earned() == "8"
    FollowedAccount.objects.filter(address=CONFIG).update(first_slot=token.block_number + 1)
    assert earned() == "history_not_read"
