"""Rows of progress (tokens/following/coverage.py): their start, their updates, and the detection of other followers."""

import pytest

from tests.nodes.recordings import base
from tests.rows.factories import CoverageFactory, TokenFactory
from tokens.chains.registry.chains import load_registry
from tokens.following import coverage
from tokens.following.coverage import ProgressConflictError
from tokens.models import Coverage

pytestmark = pytest.mark.django_db

CHAIN = 8453


@pytest.fixture
def extended(tmp_path):
    """Return the chain with one factory more."""
    file = tmp_path / "chains.toml"
    file.write_text(
        "[chains.8453]\ncontracts = "
        '[{ role = "factory", generation = "v4", address = "0x1111111111111111111111111111111111111111" }]\n'
    )
    return load_registry(file).chain(CHAIN)


def followed(first: int = 100, to: int = 149, **columns) -> Coverage:
    """Create a live row that has read up to a block."""
    (row,) = coverage.open_live_coverage(base(), final=first - 1)
    Coverage.objects.filter(pk=row.pk).update(followed_to=to, **columns)
    row.refresh_from_db()
    return row


def test_progress_that_another_process_advanced_is_not_changed():
    row = followed()
    Coverage.objects.update(followed_to=160)
    with pytest.raises(ProgressConflictError):
        coverage.advance_followed(row, to=150)
    assert Coverage.objects.get().followed_to == 160


def test_progress_of_a_row_that_is_gone_is_not_moved():
    row = followed()
    Coverage.objects.all().delete()
    with pytest.raises(ProgressConflictError):
        coverage.advance_verified(row, to=120)


def test_what_is_not_followed_any_more_does_not_count_as_checked():
    row = followed(to=149)
    Coverage.objects.update(followed_to=130)
    with pytest.raises(ProgressConflictError):
        coverage.advance_verified(row, to=140)


def test_progress_moves_in_the_row_and_in_memory():
    row = followed()
    coverage.advance_followed(row, to=160)
    coverage.advance_verified(row, to=155)
    assert (row.followed_to, row.verified_to) == (160, 155)
    row.refresh_from_db()
    assert (row.followed_to, row.verified_to) == (160, 155)


def test_a_chain_is_followed_from_behind_the_block_that_was_final_first(settings):
    settings.FOLLOW_FROM = {}
    (row,) = coverage.open_live_coverage(base(), final=99)
    assert (row.first_block, row.last_block, row.followed_to, row.verified_to) == (100, None, 99, 99)
    assert row.addresses == sorted(base().emitters | coverage.pool_makers(base()))
    assert coverage.open_live_coverage(base(), final=500) == [row]


def test_a_young_chain_is_followed_from_its_first_block(settings):
    settings.FOLLOW_FROM = {}
    (row,) = coverage.open_live_coverage(base(), final=-3)
    assert (row.first_block, row.followed_to) == (0, -1)


def test_a_chain_is_followed_from_the_block_that_the_setting_names(settings):
    settings.FOLLOW_FROM = {CHAIN: 40}
    (row,) = coverage.open_live_coverage(base(), final=99)
    assert (row.first_block, row.followed_to) == (40, 39)


def test_a_contract_more_has_all_blocks_read_once_more(extended):
    """Check that the new factory's tokens may have events of the older vault, which were not trusted before."""
    old = followed(first=100, to=149)
    rows = coverage.open_live_coverage(extended, final=500)
    assert [row.pk for row in rows][:1] == [old.pk]
    new = rows[1]
    assert (new.first_block, new.followed_to, new.last_block) == (100, 99, None)
    assert set(new.addresses) == extended.emitters | coverage.pool_makers(extended)
    assert coverage.open_live_coverage(extended, final=600) == rows


def test_the_older_row_goes_when_the_newer_one_has_read_and_checked_as_much(extended):
    followed(first=100, to=149, verified_to=120)
    _, new = coverage.open_live_coverage(extended, final=500)
    coverage.advance_followed(new, to=149)
    coverage.advance_verified(new, to=119)
    assert len(coverage.open_live_coverage(extended, final=500)) == 2
    coverage.advance_verified(new, to=120)
    assert coverage.open_live_coverage(extended, final=500) == [new]
    assert Coverage.objects.get() == new


def test_a_contract_less_changes_nothing(extended):
    (row,) = coverage.open_live_coverage(extended, final=99)
    assert coverage.open_live_coverage(base(), final=99) == [row]


def with_launchpads(*names: str):
    return load_registry(launchpads={CHAIN: names}).chain(CHAIN)


def test_a_launchpad_that_is_switched_on_has_all_blocks_read_once_more():
    old = followed(first=100, to=149)
    zora = with_launchpads("clanker", "zora")
    _, new = coverage.open_live_coverage(zora, final=500)
    assert (new.first_block, new.followed_to, new.last_block) == (100, 99, None)
    assert zora.launch_contracts <= coverage.event_contracts(new, zora)
    assert not set(old.addresses) >= zora.launch_contracts


def test_a_launchpad_of_the_contract_of_another_one_is_read_from_the_first_block_too():
    coverage.open_live_coverage(with_launchpads("bankr"), final=99)
    both = with_launchpads("bankr", "doppler")
    assert both.launch_contracts == with_launchpads("bankr").launch_contracts
    assert len(coverage.open_live_coverage(both, final=500)) == 2


def test_launches_of_a_launchpad_that_was_switched_off_are_read_after_it_is_on_again():
    (row,) = coverage.open_live_coverage(with_launchpads("clanker", "zora"), final=99)
    (same,) = coverage.open_live_coverage(base(), final=99)
    assert same == row and set(same.addresses) == base().emitters | coverage.pool_makers(base())
    assert len(coverage.open_live_coverage(with_launchpads("clanker", "zora"), final=500)) == 2


def test_a_switched_off_launchpad_of_generations_is_not_read():
    zora = with_launchpads("zora")
    (row,) = coverage.open_live_coverage(zora, final=99)
    factories = {address.lower() for address in base().addresses("factory")}
    assert factories and factories.isdisjoint(coverage.event_contracts(row, zora))
    assert coverage.covers_launches(row, zora) and not coverage.covers_launches(row, with_launchpads("doppler"))


def test_the_row_of_later_events_has_no_declared_factory():
    zora = with_launchpads("clanker", "zora")
    run = coverage.open_run_coverage(zora, first=10, last=20)
    assert coverage.covers_launches(run, zora)
    later = coverage.open_later_coverage(run, zora, final=99)
    assert later is not None and not coverage.covers_launches(later, zora)


def test_the_head_moves_the_rows_that_have_read_all_before_it():
    row = followed(to=149)
    coverage.advance_joined(CHAIN, first=150, last=152)
    row.refresh_from_db()
    assert row.followed_to == 152


def test_the_head_moves_no_row_that_is_still_on_its_way():
    row, run = followed(to=148), coverage.open_run_coverage(base(), first=100, last=200)
    Coverage.objects.filter(pk=run.pk).update(followed_to=149)
    coverage.advance_joined(CHAIN, first=150, last=152)
    coverage.advance_joined(1, first=149, last=152)
    for unmoved, at in ((row, 148), (run, 149)):
        unmoved.refresh_from_db()
        assert unmoved.followed_to == at


def test_a_row_that_begins_above_the_head_is_met_by_it():
    row = followed(first=200, to=199)
    coverage.advance_joined(CHAIN, first=150, last=152)
    row.refresh_from_db()
    assert row.followed_to == 199
    coverage.advance_joined(CHAIN, first=153, last=201)
    row.refresh_from_db()
    assert row.followed_to == 201


def test_a_run_is_found_again_by_its_blocks():
    run = coverage.open_run_coverage(base(), first=10, last=20)
    assert (run.first_block, run.last_block, run.followed_to, run.verified_to) == (10, 20, 9, 9)
    coverage.advance_followed(run, to=15)
    again = coverage.open_run_coverage(base(), first=10, last=20)
    assert (again.pk, again.followed_to) == (run.pk, 15)
    assert coverage.open_run_coverage(base(), first=10, last=21).pk != run.pk


def test_what_happened_since_is_read_without_launches_up_to_where_others_go_on():
    run = coverage.open_run_coverage(base(), first=10, last=20)
    factories = {address.lower() for address in base().addresses("factory")}
    later = coverage.open_later_coverage(run, base(), final=90)
    assert (later.first_block, later.last_block) == (21, 90)
    assert set(later.addresses) == (base().emitters - factories) | coverage.pool_makers(base())
    assert coverage.open_later_coverage(run, base(), final=300).pk == later.pk


@pytest.mark.parametrize(("to", "last"), [(149, 149), (450, 400)])
def test_what_is_followed_already_is_read_again_as_far_as_it_is_final(to, last):
    followed(first=100, to=to)
    run = coverage.open_run_coverage(base(), first=10, last=20)
    assert coverage.open_later_coverage(run, base(), final=400).last_block == last


def test_nothing_is_read_again_behind_a_run_that_ends_at_the_head():
    run = coverage.open_run_coverage(base(), first=10, last=20)
    assert coverage.open_later_coverage(run, base(), final=20) is None


def test_trades_that_are_switched_on_are_read_from_the_first_block_again(settings):
    settings.MARKET_PROVIDER_CHAINS = {CHAIN}
    plain = followed(first=100, to=149)
    assert not coverage.covers_trades(plain, base())
    settings.MARKET_PROVIDER_CHAINS = set()
    kept, with_trades = coverage.open_live_coverage(base(), final=200)
    assert (kept, with_trades.first_block, with_trades.followed_to) == (plain, 100, 99)
    assert coverage.covers_trades(with_trades, base())


def test_trades_that_are_switched_off_are_read_again_once_they_are_back(settings):
    row = followed(first=100, to=149)
    settings.MARKET_PROVIDER_CHAINS = {CHAIN}
    (same,) = coverage.open_live_coverage(base(), final=200)
    assert (same.pk, same.followed_to) == (row.pk, 149)
    assert not coverage.covers_trades(same, base())
    coverage.advance_joined(CHAIN, first=150, last=160)
    settings.MARKET_PROVIDER_CHAINS = set()
    _, again = coverage.open_live_coverage(base(), final=200)
    assert (again.first_block, again.followed_to) == (100, 99)


def test_a_row_that_trades_had_opened_goes_when_they_are_switched_off(settings):
    settings.MARKET_PROVIDER_CHAINS = {CHAIN}
    plain = followed(first=100, to=149)
    settings.MARKET_PROVIDER_CHAINS = set()
    coverage.open_live_coverage(base(), final=200)
    settings.MARKET_PROVIDER_CHAINS = {CHAIN}
    assert coverage.open_live_coverage(base(), final=200) == [plain]


def test_trades_of_the_head_count_at_once_but_not_before_those_of_the_history():
    followed(to=149, summed_to=149)
    CoverageFactory(first_block=90, followed_to=149, verified_to=89, summed_to=120)
    coverage.advance_joined(CHAIN, first=150, last=152)
    rows = Coverage.objects.order_by("-summed_to").values_list("followed_to", "summed_to")
    assert list(rows) == [(152, 152), (152, 120)]


def trade_run(**bounds) -> Coverage | None:
    wanted = {"first": None, "last": None, "final": 400, "verified": False} | bounds
    return coverage.open_trade_coverage(base(), **wanted)


def test_trades_alone_are_read_from_the_earliest_launch_to_the_newest_followed_final_block():
    assert trade_run() is None
    TokenFactory(chain_id=CHAIN, block_number=70)
    TokenFactory(chain_id=CHAIN, block_number=60)
    TokenFactory(chain_id=1, block_number=50)
    row = trade_run()
    assert (row.first_block, row.last_block, row.followed_to, row.summed_to) == (60, 400, 59, 59)
    assert coverage.covers_trades(row, base())
    assert not coverage.covers_events(row, base()) and not coverage.covers_launches(row, base())
    Coverage.objects.all().delete()
    followed(first=100, to=149)
    assert trade_run().last_block == 149


def test_a_run_of_trades_that_is_not_complete_is_continued_whatever_is_newest_by_then():
    row = trade_run(first=60)
    assert trade_run(first=60, final=500).pk == trade_run(final=500).pk == row.pk
    coverage.advance_followed(row, to=400)
    # Killed before its trades were summed up.
    assert trade_run(final=500).pk == row.pk
    Coverage.objects.update(summed_to=400)
    assert trade_run(final=500, verified=True).pk == row.pk
    assert trade_run(first=60, final=500).last_block == 500
    assert trade_run(first=10, last=20).last_block == 20
