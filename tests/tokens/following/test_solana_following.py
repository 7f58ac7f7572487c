"""Followed Solana accounts: each transaction is read despite faults and kills, and most only once."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction
from solders.signature import Signature

from tests.nodes.solana.changed import FaultySolanaNode, key, mint
from tests.nodes.solana.recorded import CONFIG, MINT, SWAP, allow_list
from tests.processes.fork_server import fork_server
from tests.processes.waiting import wait_for
from tokens.chains.errors import LaunchNotFoundError
from tokens.following.coverage import ProgressConflictError
from tokens.following.leader_loops import LeaderSession
from tokens.following.solana import followed_accounts
from tokens.following.solana.account_listing import list_signature_page
from tokens.following.solana.account_loop import AccountRounds
from tokens.following.solana.followed_accounts import OVERLAP_SLOTS
from tokens.following.solana.signature_reading import read_listed
from tokens.indexing import index_requests
from tokens.installation.installed_chains import installed_solana
from tokens.models import Candle, ChainHead, FollowedAccount, IndexRequest, ListedSignature, PoolTrade, Token
from tokens.models.candle import DAY

pytestmark = pytest.mark.django_db(transaction=True)

SOLANA = 101

# How often a follower is killed, each time at another point.
KILLS = 12


@pytest.fixture
def node(faulty_solana):
    return faulty_solana


@pytest.fixture(autouse=True)
def _few_at_once(settings):
    settings.RPC_BATCH_SIZE, settings.FOLLOW_CONCURRENCY = 4, 2
    settings.RPC_ATTEMPTS, settings.RPC_PATIENCE_SECONDS = 1, 5.0


def take_rounds(most=200):
    """Follow, each round by a follower that has just started, until nothing is left to be done at once."""
    for _ in range(most):
        session = LeaderSession(SOLANA)
        if not AccountRounds(installed_solana()).run_once(session):
            return
    raise AssertionError("there is always more to be done")


def one_round():
    AccountRounds(installed_solana()).run_once(LeaderSession(SOLANA))


def take_rounds_in_trouble():
    """Repeat rounds as long as one changes something."""
    before = None
    while before != (before := list(ListedSignature.objects.values_list("pk", "read").order_by("pk"))):
        one_round()


def allow(file, *configs):
    """Write a registry file that allows these configs; return it."""
    contracts = [f'{{ role = "launch_config", generation = "solana", address = "{config}" }}' for config in configs]
    file.write_text(f"[chains.solana]\ncontracts = [{', '.join(contracts)}]\n")
    return file


@pytest.fixture
def two_configs(node, settings, tmp_path, forget_chains):
    configs = CONFIG, key("second")
    settings.CHAINS_FILES = (str(allow(tmp_path / "two.toml", *configs)),)
    forget_chains()
    return configs


def launched():
    return set(Token.objects.on_chain().values_list("contract_address", flat=True))


def traded():
    return [str(Signature(bytes(tx_hash))) for tx_hash in PoolTrade.objects.values_list("tx_hash", flat=True)]


def account(address=CONFIG):
    return FollowedAccount.objects.get(address=address)


def test_the_launches_of_a_config_are_read(node):
    take_rounds()
    assert launched() == {MINT}
    assert (account().complete_to, account().read_to_slot) == (node.slot, 1004)
    head = ChainHead.objects.get(pk=SOLANA)
    assert (head.head, head.final, head.followed) == (node.slot, node.slot, node.slot)
    assert not IndexRequest.objects.exists()
    assert not ListedSignature.objects.filter(read=False).exists()


@pytest.mark.parametrize("page", [2, 3, 5, 1000])
def test_pages_of_any_length_lose_nothing(node, page):
    node.page = page
    wanted = {MINT}
    for number in range(6):
        # Three in a slot, which pages may cut.
        wanted.add(node.launch(f"launch {number}", slot=2000 + number // 3))
        node.swap(f"swap {number}", slot=2000 + number // 3)
    take_rounds()
    assert launched() == wanted
    wanted.add(node.launch("a later one"))
    take_rounds()
    assert launched() == wanted


def test_only_what_is_new_is_read(node):
    take_rounds()
    read = len(node.read())
    take_rounds()
    take_rounds()
    assert len(node.read()) == read
    node.swap("one")
    take_rounds()
    assert len(node.read()) == read + 1


def test_the_oldest_is_read_first(node, settings):
    settings.FOLLOW_CONCURRENCY = 1
    for number in range(10):
        node.swap(f"swap {number}")
    take_rounds()
    listed = [name for name in node.transactions if name in node.read()]
    assert [name for name in node.read() if name in listed] == listed


def test_what_was_undone_is_not_fetched(node):
    failed = node.swap("failed", failed=True)
    take_rounds()
    assert failed not in node.read()
    # Nor does it matter that a listing's newest transaction was undone.
    wanted = {MINT, node.launch("after it")}
    take_rounds()
    assert launched() == wanted


def test_an_account_that_is_unused_is_complete(node, settings, tmp_path, forget_chains):
    settings.CHAINS_FILES = (str(allow_list(tmp_path / "chains.toml", address=key("unused"))),)
    forget_chains()
    take_rounds()
    assert account(key("unused")).complete_to == node.slot
    mint_of_it = node.launch("the first", config=key("unused"))
    take_rounds()
    assert launched() == {mint_of_it}


def test_a_transaction_that_no_node_gives_yet_is_waited_for(node):
    mints = [node.launch(f"launch {number}") for number in range(12)]
    wanted = {MINT, *mints}
    late = list(node.transactions)[-6]
    node.missing.add(late)
    take_rounds_in_trouble()
    # It did not delay older transactions, even in the same request.
    assert launched() == {MINT, *mints[:6]}
    assert ListedSignature.objects.get(signature=late).read is False
    assert ChainHead.objects.get(pk=SOLANA).followed < node.slot
    node.missing.clear()
    take_rounds()
    assert launched() == wanted


def test_a_node_that_has_not_come_to_the_newest_slot_is_not_queried_for_a_list(node, settings, forget_chains):
    take_rounds()
    wanted = {MINT, node.launch("new")}
    with FaultySolanaNode() as behind:
        # It lacks the launch. The first one returns the newest slot, and then fails.
        settings.RPC_URLS = {SOLANA: (node.url, behind.url)}
        forget_chains()
        node.refused["getSignaturesForAddress"] = {"code": -32005, "message": "Node is unhealthy"}
        take_rounds_in_trouble()
    assert account().complete_to < node.slot
    node.refused.clear()
    settings.RPC_URLS = {SOLANA: (node.url,)}
    forget_chains()
    take_rounds()
    assert launched() == wanted


def test_a_node_that_lacks_where_a_list_is_to_go_on_is_not_at_its_end(node):
    node.page = 3
    wanted = {MINT} | {node.launch(f"launch {number}") for number in range(9)}
    one_round()
    assert not account().listed
    # As another node that has only the newest transactions would respond.
    cut = account().listed_before
    node.unlisted.add(cut)
    one_round()
    one_round()
    assert not account().listed
    node.unlisted.clear()
    take_rounds()
    assert launched() == wanted


def test_a_node_that_has_forgotten_what_was_read_is_not_trusted(node):
    take_rounds()
    wanted = {MINT} | {node.launch(f"launch {number}", slot=5000 + number) for number in range(4)}
    node.kept_from = 5002
    one_round()
    one_round()
    assert launched() == {MINT}
    assert account().complete_to < 5000
    node.kept_from = 0
    take_rounds()
    assert launched() == wanted


@pytest.fixture
def other(node, settings, forget_chains):
    """Run a second node, which is queried where the first one fails, and for second opinions."""
    with FaultySolanaNode() as other:
        settings.RPC_URLS = {SOLANA: (node.url, other.url)}
        forget_chains()
        yield other


def shared(node, other, *, launches):
    """Give both nodes a past with so many launches."""
    made = {node.launch(f"launch {number}", slot=2000 + number) for number in range(launches)}
    other.transactions, other.slot, other.accounts = node.transactions, node.slot, node.accounts
    return {MINT, *made}


@pytest.mark.parametrize("page", [3, 1000])
@pytest.mark.parametrize("kept_from", [2005, 2006, 5000])
def test_a_first_list_does_not_end_where_one_of_the_nodes_has_forgotten_the_past(node, other, page, kept_from):
    wanted = shared(node, other, launches=7)
    node.page = other.page = page
    node.kept_from = kept_from
    wait_for(lambda: one_round() or is_complete(node))
    assert launched() == wanted


def test_a_first_list_does_not_end_where_a_node_does_not_respond(node, other):
    wanted = shared(node, other, launches=7)
    node.kept_from = 2005
    other.refused["getSignaturesForAddress"] = {"code": -32005, "message": "Node is unhealthy"}
    take_rounds_in_trouble()
    assert account().complete_to is None
    other.refused.clear()
    wait_for(lambda: one_round() or is_complete(node))
    assert launched() == wanted


def test_little_is_listed_where_nothing_is_new(node):
    for number in range(200):
        node.swap(f"swap {number}", slot=10_000 + 10 * number)
    take_rounds()
    node.calls.clear()
    take_rounds()
    assert [call["params"][1]["limit"] for call in node.signatures()] == [66]


def test_much_that_is_new_is_listed_in_full(node):
    node.swap("one")
    take_rounds()
    wanted = {MINT} | {node.launch(f"launch {number}") for number in range(60)}
    take_rounds()
    assert launched() == wanted


def test_transactions_of_one_slot_are_read_in_their_order(node, settings):
    settings.FOLLOW_CONCURRENCY = 1
    made = [node.swap(f"swap {number}", slot=2000) for number in range(10)]
    take_rounds()
    assert [name for name in node.read() if name in made] == made


def test_an_index_that_is_late_loses_nothing(node):
    take_rounds()
    node.launch("late", slot=3000)
    late = list(node.transactions)[-1]
    node.unlisted.add(late)
    node.launch("in time", slot=3000 + OVERLAP_SLOTS - 1)
    take_rounds()
    assert launched() == {MINT, mint("in time")}
    node.unlisted.clear()
    take_rounds()
    assert launched() == {MINT, mint("in time"), mint("late")}


def test_what_can_not_be_decoded_is_noted_and_passed(node):
    wanted = {MINT} | {node.launch(f"launch {number}") for number in range(6)}
    broken = list(node.transactions)[7]
    for form in node.transactions[broken].values():
        form["version"] = 1
    wanted.discard(mint("launch 2"))
    take_rounds()
    assert launched() == wanted
    request = IndexRequest.objects.get()
    assert request.undecodable
    assert (request.tx_hash, request.status, request.attempts) == (broken, "failed", 1)
    assert "version" in request.last_error


def test_what_can_not_be_decoded_and_holds_nothing_ends_when_it_is_tried_again(node):
    broken = node.swap("of a later version")
    for form in node.transactions[broken].values():
        form["version"] = 1
    take_rounds()
    # The service's next version reads it.
    for form in node.transactions[broken].values():
        form["version"] = "legacy"
    index_requests.reopen_requests([IndexRequest.objects.get()])
    with pytest.raises(LaunchNotFoundError):
        index_requests.index_transaction(chain_id=SOLANA, tx_hash=broken, scheduled=True)
    assert IndexRequest.objects.get().status == "failed"


def test_two_configs_share_transactions(node, two_configs):
    # A launch with the second config, and a transaction that names both configs.
    wanted = {MINT, node.launch("of the second", config=two_configs[1])}
    both = node.launch("both")
    for form in node.transactions[list(node.transactions)[-1]].values():
        keys = form["transaction"]["message"]["accountKeys"]
        keys.append(two_configs[1] if isinstance(keys[0], str) else dict(keys[0], pubkey=two_configs[1], signer=False))
        for balances in ("preBalances", "postBalances"):
            form["meta"][balances].append(0)
    take_rounds()
    assert launched() == {*wanted, both}
    assert Token.objects.count() == 3


def test_an_account_that_waits_holds_up_no_other(node, two_configs):
    node.launch("late", config=two_configs[1])
    node.missing.add(list(node.transactions)[-1])
    wanted = {MINT, node.launch("of the first")}
    take_rounds_in_trouble()
    assert launched() == wanted
    assert account().complete_to == node.slot
    assert account(two_configs[1]).complete_to is None
    # Up to the slot before the one that waits.
    assert ChainHead.objects.get(pk=SOLANA).followed == node.slot - 2


def test_a_config_that_is_added_later_is_read_from_its_start(node, settings, tmp_path, forget_chains):
    earlier = node.launch("earlier", config=key("second"))
    take_rounds()
    assert launched() == {MINT}
    settings.CHAINS_FILES = (str(allow(tmp_path / "two.toml", CONFIG, key("second"))),)
    forget_chains()
    take_rounds()
    assert launched() == {MINT, earlier}


def test_a_config_that_is_removed_is_followed_no_longer(node, settings, tmp_path, forget_chains):
    take_rounds()
    settings.CHAINS_FILES = (str(allow_list(tmp_path / "other.toml", address=key("second"))),)
    forget_chains()
    node.launch("of the first")
    take_rounds()
    assert launched() == {MINT}
    assert FollowedAccount.objects.count() == 2
    assert ChainHead.objects.get(pk=SOLANA).followed == node.slot


def test_nothing_before_the_first_slot_is_read(node, settings):
    settings.FOLLOW_FROM = {SOLANA: 2000}
    node.page = 2
    for number in range(5):
        node.launch(f"before {number}", slot=1990 + number)
    wanted = {node.launch(f"after {number}", slot=2000 + number) for number in range(5)}
    take_rounds()
    take_rounds()
    assert launched() == wanted


def test_without_accounts_nothing_counts_as_followed(node, settings, forget_chains):
    settings.CHAINS_FILES = ()
    forget_chains()
    take_rounds()
    assert ChainHead.objects.get(pk=SOLANA).followed is None
    assert not node.read()


def test_what_is_kept_of_a_list_is_bounded(node):
    for number in range(20):
        node.swap(f"swap {number}", slot=10_000 + 100 * number)
    take_rounds()
    # Only the signatures that end the next listing are kept.
    newest = 10_000 + 1900
    assert set(ListedSignature.objects.values_list("slot", flat=True)) == {newest, newest - 100}
    assert not ListedSignature.objects.filter(read=False).exists()


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 8))])
def test_whatever_goes_wrong_in_between_nothing_is_lost(node, seed):
    rng, wanted, trades = random.Random(f"solana {seed}"), {MINT}, {SWAP}
    slot, hidden = 2000, []
    take_rounds()
    for step in range(25):
        slot += rng.randint(1, OVERLAP_SLOTS // 4)
        for number in range(rng.randint(0, 6)):
            label = f"{seed} {step} {number}"
            if rng.random() < 0.5:
                wanted.add(node.launch(label, slot=slot))
            elif rng.random() < 0.3:
                node.swap(label, slot=slot, failed=True)
            else:
                trades.add(node.swap(label, slot=slot))
        newest = [name for name, forms in node.transactions.items() if forms["json"]["slot"] == slot]
        # An index is late for two steps at the most, which are less than the overlap.
        hidden = [*hidden[-1:], {name for name in newest if rng.random() < 0.2}]
        node.unlisted = set().union(*hidden)
        node.missing = {name for name in newest if rng.random() < 0.2}
        node.page, node.behind = rng.choice([2, 3, 7, 1000]), rng.choice([0, 0, 0, 40])
        node.kept_from = rng.choice([0, 0, 0, slot])
        for _ in range(rng.randint(0, 4)):
            one_round()
    node.unlisted, node.missing, node.behind, node.kept_from = set(), set(), 0, 0
    # A new transaction starts another listing: the last one may have preceded a late index.
    trades.add(node.swap(f"{seed} last", slot=slot + 1))
    # What is listed may have changed under a listing, which is then begun anew.
    wait_for(lambda: one_round() or is_complete(node))
    assert launched() == wanted
    assert sorted(traded()) == sorted(trades)


def test_an_overtaken_follower_writes_nothing(node):
    one = node.launch("one")
    take_rounds()
    node.launch("two")
    stale = account()
    chain = installed_solana()
    list_signature_page(stale, chain=chain, head=node.slot)
    ahead = account()
    assert followed_accounts.unread_signatures(ahead).count() == 1
    # The other one reads it while this one's responses are on their way, and lists anew.
    read_listed(ahead, chain=chain)
    followed_accounts.complete_listing(ahead)
    with pytest.raises(ProgressConflictError):
        read_listed(stale, chain=chain)
    with pytest.raises(ProgressConflictError):
        followed_accounts.complete_listing(stale)
    assert account().complete_to == node.slot
    assert launched() == {MINT, one, mint("two")}


def test_reading_again_locks_accounts_before_their_signatures(node):
    take_rounds()
    assert ListedSignature.objects.exists()
    with ThreadPoolExecutor() as pool:
        with transaction.atomic():
            followed_accounts.advance_account(account())
            result = pool.submit(_read_again)
            wait_for(_lock_waits)
            # A follower, which has locked its account, goes on to its signatures.
            assert list(ListedSignature.objects.select_for_update(nowait=True))
        assert result.result() == 1
    assert not ListedSignature.objects.exists()


def _read_again() -> int:
    try:
        return followed_accounts.read_again(SOLANA)
    finally:
        connection.close()


def _lock_waits() -> bool:
    """Return whether another connection is blocked by this one."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid)))"
        )
        return bool(cursor.fetchone()[0])


def test_two_followers_that_list_at_once_notice_each_other(node):
    take_rounds()
    first, second = account(), account()
    chain = installed_solana()
    node.launch("new")
    list_signature_page(first, chain=chain, head=node.slot)
    with pytest.raises(ProgressConflictError):
        list_signature_page(second, chain=chain, head=node.slot)
    take_rounds()
    assert launched() == {MINT, mint("new")}


def progress():
    """Return a value that changes with every database transaction that a follower ends."""
    rows = list(FollowedAccount.objects.values_list("listed_to", "listed", "complete_to"))
    return rows, list(ListedSignature.objects.values_list("pk", "read").order_by("pk")), Token.objects.count()


@pytest.mark.slow
def test_a_follower_that_is_killed_again_and_again_loses_nothing(node, solana_file, service_environment):
    node.page = 4
    wanted, trades = {MINT}, {SWAP}
    quick = {"FOLLOW_POLL_SECONDS": 0.05, "RPC_BATCH_SIZE": 4}
    environment = service_environment | {"CHAINS_FILE": str(solana_file), "LOG_LEVEL": "WARNING"}
    with fork_server(environment) as processes:
        for number in range(KILLS):
            wanted |= {node.launch(f"launch {number} {place}", slot=2000 + number) for place in range(5)}
            trades |= {node.swap(f"swap {number} {place}", slot=2000 + number) for place in range(5)}
            before = progress()
            follower = processes.follow(SOLANA, settings=quick)
            wait_for(lambda before=before: progress() != before)
            follower.kill()
        follower = processes.follow(SOLANA, settings=quick)
        wait_for(lambda: is_complete(node))
        follower.kill()
    assert launched() == wanted
    assert sorted(traded()) == sorted(trades)
    assert sum(Candle.objects.filter(seconds=DAY).values_list("buys", flat=True)) == len(trades)
    # Counted by the node: every transaction that it has for the config was requested.
    assert {name for name, forms in node.transactions.items() if names(forms, CONFIG)} <= set(node.read())


def names(forms, address):
    return address in forms["json"]["transaction"]["message"]["accountKeys"]


def is_complete(node):
    # Only the config counts: a pool has its own row after a claim.
    complete = FollowedAccount.objects.filter(address=CONFIG, complete_to=node.slot).exists()
    return complete and not ListedSignature.objects.filter(read=False).exists()
