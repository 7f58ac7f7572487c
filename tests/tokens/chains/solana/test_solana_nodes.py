"""tokens/chains/solana/transaction_reading.py: nodes that lag, lack data, refuse, hang or contradict themselves."""

import pytest

from development.standins.solana_node import SolanaStandIn
from tests.nodes.solana import recorded
from tests.nodes.solana.forms import add_changed, base58, parsed_of, raw_of
from tests.nodes.solana.recorded import forms_of, solana_chain
from tests.tokens.chains.solana.test_solana_launch import RECORDED_FACTS, RECORDED_LAUNCH
from tokens.chains.errors import LogDecodingError, NodeUnavailableError, TransactionNotFoundError

STRANGER = "11111111111111111111111111111112"
UNKNOWN = "1" * 64


@pytest.fixture
def second_solana_node():
    """Run a second node of the same recording, without faults."""
    with SolanaStandIn() as node:
        yield node


@pytest.fixture
def two(solana_node, second_solana_node, solana_info):
    """Return Solana with both nodes; the first one is called first."""
    return solana_chain(
        solana_info, solana_node.url, second_solana_node.url, initial_backoff=0.0, attempts=1, timeout=1.0
    )


def call_count(node, method):
    return sum(call["method"] == method for call in node.calls)


def test_it_requests_only_what_is_final(solana, solana_node):
    solana.read_transaction(recorded.LAUNCH)
    solana.read_head()
    solana.list_signatures(recorded.CONFIG)
    solana.read_pool_fees(recorded.POOL)
    calls = [call for call in solana_node.calls if call["method"] != "getGenesisHash"]
    assert {call["params"][-1]["commitment"] for call in calls} == {"finalized"}
    forms = [call["params"][1]["encoding"] for call in calls if call["method"] == "getTransaction"]
    assert forms == ["json", "jsonParsed"]


def test_an_unknown_transaction_is_not_found_and_opens_no_circuit(two, solana_node):
    for _ in range(5):
        with pytest.raises(TransactionNotFoundError):
            two.read_transaction(UNKNOWN)
    calls_before = len(solana_node.received)
    two.read_transaction(recorded.LAUNCH)
    assert len(solana_node.received) > calls_before


def test_a_transaction_that_is_not_final_yet_is_not_found(solana, solana_node):
    solana_node.behind = 3
    with pytest.raises(TransactionNotFoundError, match="final"):
        solana.read_transaction(recorded.LAUNCH)
    solana_node.behind = 2
    assert solana.read_transaction(recorded.LAUNCH) == RECORDED_FACTS


def test_it_calls_the_next_node_for_what_one_lacks(two, solana_node, second_solana_node):
    solana_node.missing.add(recorded.LAUNCH)
    found = two.read_transactions([recorded.CLAIM, recorded.LAUNCH])
    assert found[recorded.LAUNCH] == RECORDED_FACTS
    # The other one is not called again.
    assert call_count(second_solana_node, "getTransaction") == 2


def test_it_reads_none_of_many_where_one_is_not_found(solana, solana_node):
    solana_node.missing.add(recorded.LAUNCH)
    with pytest.raises(TransactionNotFoundError):
        solana.read_transactions([recorded.CLAIM, recorded.LAUNCH])


def test_accounts_are_not_read_of_a_node_that_has_not_come_to_the_launch(two, solana_node, second_solana_node):
    # It returns the transaction, and refuses accounts of that slot: as a lagging node behind the same URL.
    solana_node.refused["getMultipleAccounts"] = {
        "code": -32016,
        "message": "Minimum context slot has not been reached",
    }
    assert two.read_transaction(recorded.LAUNCH) == RECORDED_FACTS
    (call,) = [call for call in second_solana_node.calls if call["method"] == "getMultipleAccounts"]
    assert call["params"][1]["minContextSlot"] == 1003


def test_a_node_that_has_not_come_so_far_opens_no_circuit(solana_node, second_solana_node, solana_info):
    two = solana_chain(
        solana_info, solana_node.url, second_solana_node.url, initial_backoff=0.0, attempts=1, breaker_failures=1
    )
    solana_node.behind = 3
    assert len(two.list_signatures(recorded.CONFIG, min_slot=1005)) == 3
    before = call_count(solana_node, "getSlot")
    assert two.read_head() == 1002
    assert call_count(solana_node, "getSlot") == before + 1


def test_accounts_of_a_slot_before_the_launch_are_not_trusted(two, solana_node, second_solana_node):
    def change(call_count, body):
        result = body["result"] if isinstance(body, dict) else None
        if not isinstance(result, dict) or "context" not in result:
            return body
        return body | {"result": result | {"context": {"slot": 1002}}}

    solana_node.change = change
    assert two.read_transaction(recorded.LAUNCH) == RECORDED_FACTS
    assert call_count(second_solana_node, "getMultipleAccounts") == 1


def signed_by_another(forms):
    for form in ("json", "jsonParsed"):
        forms[form]["transaction"]["signatures"][0] = recorded.CLAIM


def without_lookups(forms):
    forms["json"]["meta"]["loadedAddresses"]["readonly"] = [STRANGER]
    keys = forms["jsonParsed"]["transaction"]["message"]["accountKeys"]
    keys.append({"pubkey": STRANGER, "signer": False, "writable": False, "source": "lookupTable"})


def change_of(form, *path, to):
    def change(forms):
        place = forms[form]
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = to

    return change


DISAGREEMENTS = {
    "another signature": signed_by_another,
    "accounts of no table": without_lookups,
    "no parsed form": lambda forms: forms.update(jsonParsed=None),
    "no raw form": lambda forms: forms.update(json=None),
    "slot": change_of("jsonParsed", "slot", to=1004),
    "slot below zero": change_of("json", "slot", to=-1),
    "slot too large": change_of("json", "slot", to=2**63),
    "no slot": change_of("json", "slot", to=None),
    "time": change_of("jsonParsed", "blockTime", to=None),
    "time after all years": change_of("json", "blockTime", to=253_402_300_800),
    "version": change_of("jsonParsed", "version", to=0),
    "success": change_of("jsonParsed", "meta", "err", to={"InstructionError": [0, "GenericError"]}),
    "signatures": change_of("jsonParsed", "transaction", "signatures", to=[recorded.LAUNCH]),
    "account": change_of("jsonParsed", "transaction", "message", "accountKeys", 5, "pubkey", to=STRANGER),
    "signer": change_of("jsonParsed", "transaction", "message", "accountKeys", 5, "signer", to=True),
    "program": change_of("jsonParsed", "transaction", "message", "instructions", 0, "programId", to=STRANGER),
    "bytes": change_of("jsonParsed", "transaction", "message", "instructions", 0, "data", to=base58(b"other")),
    "accounts": change_of("jsonParsed", "transaction", "message", "instructions", 0, "accounts", to=[STRANGER]),
    "no base58": change_of("json", "transaction", "message", "instructions", 0, "data", to="0OIl"),
    "endless base58": change_of("json", "transaction", "message", "instructions", 0, "data", to="z" * 16_385),
    "account beyond": change_of("json", "transaction", "message", "instructions", 0, "accounts", 3, to=99),
    "account from the end": change_of("json", "transaction", "message", "instructions", 0, "accounts", 3, to=-1),
    "no inner ones": change_of("json", "meta", "innerInstructions", to=None),
    "fewer inner ones": change_of("jsonParsed", "meta", "innerInstructions", to=[]),
    "inner ones of none": change_of("json", "meta", "innerInstructions", 0, "index", to=5),
    "no meta": change_of("json", "meta", to=None),
    "no signers": change_of("json", "transaction", "message", "header", "numRequiredSignatures", to=0),
    "a text": change_of("json", "transaction", to="AAAA"),
}


@pytest.mark.parametrize("change", DISAGREEMENTS.values(), ids=DISAGREEMENTS)
def test_it_calls_the_next_node_where_one_returns_two_transactions_or_half_a_one(
    two, solana_node, second_solana_node, change
):
    forms = forms_of(solana_node, recorded.LAUNCH)
    change(forms)
    solana_node.response_hook = lambda signature, encoding, answer: forms[encoding]
    assert two.read_transaction(recorded.LAUNCH) == RECORDED_FACTS
    assert call_count(second_solana_node, "getTransaction") == 2


@pytest.mark.parametrize("form", ["json", "jsonParsed"])
def test_a_node_that_lacks_only_one_form_is_out_of_order(solana, solana_node, form):
    solana_node.response_hook = lambda signature, encoding, answer: None if encoding == form else answer
    with pytest.raises(NodeUnavailableError, match="incomplete or contradictory transaction"):
        solana.read_transaction(recorded.LAUNCH)


def test_it_takes_no_transaction_whose_forms_disagree_on_every_node(solana, solana_node):
    forms = forms_of(solana_node, recorded.LAUNCH)
    forms["jsonParsed"]["slot"] += 1
    solana_node.response_hook = lambda signature, encoding, answer: forms[encoding]
    with pytest.raises(NodeUnavailableError, match="the encodings"):
        solana.read_transaction(recorded.LAUNCH)


@pytest.mark.parametrize(("code", "message"), [(-32005, "Node is behind by 42 slots"), (-32601, "Method not found")])
@pytest.mark.parametrize("method", ["getTransaction", "getSignaturesForAddress"])
def test_it_calls_the_next_node_after_a_refusal(two, solana, solana_node, method, code, message):
    solana_node.refused[method] = {"code": code, "message": message}
    if method == "getTransaction":
        assert two.read_transaction(recorded.LAUNCH) == RECORDED_FACTS
        # No refusal of every node is final.
        with pytest.raises(NodeUnavailableError):
            solana.read_transaction(recorded.LAUNCH)
    else:
        assert len(two.list_signatures(recorded.CONFIG)) == 3
    # It was called, and did not respond.
    assert call_count(solana_node, method)


def of_version_1(raw):
    raw["version"] = 1


def test_a_transaction_of_an_unknown_version_can_not_be_decoded(two, solana_node, second_solana_node):
    signature = add_changed(solana_node, recorded.LAUNCH, of_version_1)
    with pytest.raises(LogDecodingError, match="version"):
        two.read_transaction(signature)
    with pytest.raises(LogDecodingError, match="version"):
        two.read_transactions([signature, recorded.CLAIM])
    # Every node would respond the same.
    assert not call_count(second_solana_node, "getTransaction")


@pytest.mark.parametrize("code", [-32015, -32000])
def test_the_refusal_of_a_version_is_known_by_its_code_or_its_text(solana, solana_node, code):
    words = "Transaction version (1) is not supported by the requesting client."
    solana_node.refused["getTransaction"] = {"code": code, "message": words}
    with pytest.raises(LogDecodingError, match="version"):
        solana.read_transaction(recorded.LAUNCH)


def test_it_reads_a_transaction_with_a_lookup_table(solana, solana_node):
    """Read the launch with all its accounts but the signers from a table, as wallets make them smaller."""

    def change(raw):
        message, loaded = raw["transaction"]["message"], raw["meta"]["loadedAddresses"]
        keys = message["accountKeys"]
        raw["version"] = 0
        # Accounts 3 to 6 are writable, those from 7 on are not; their sequence stays the same.
        loaded["writable"], loaded["readonly"] = keys[3:7], keys[7:]
        message["accountKeys"] = keys[:3]
        message["addressTableLookups"] = [
            {"accountKey": STRANGER, "writableIndexes": [0, 1, 2, 3], "readonlyIndexes": list(range(4, 12))}
        ]

    (launch,) = solana.read_transaction(add_changed(solana_node, recorded.LAUNCH, change)).launches
    assert (launch.token, launch.pool) == (recorded.MINT, RECORDED_LAUNCH.pool)


def without_time(raw):
    raw["blockTime"] = None


def test_it_requests_the_time_of_a_block_where_the_transaction_has_none(solana, solana_node):
    signature = add_changed(solana_node, recorded.LAUNCH, without_time)
    solana_node.refused["getBlockTime"] = {"code": -32009, "message": "Slot was skipped"}
    with pytest.raises(NodeUnavailableError):
        solana.read_transaction(signature)
    other = raw_of(solana_node, recorded.SWAP)
    other["slot"], other["blockTime"] = solana_node.slot, 1795229000
    del solana_node.refused["getBlockTime"]
    solana_node.transactions = {
        "other": {"json": other, "jsonParsed": parsed_of(other)},
        **solana_node.transactions,
    }
    assert solana.read_transaction(signature).block_time == 1795229000


@pytest.mark.parametrize("time", [None, -1, True, "1795229000", 253_402_300_800])
def test_a_block_of_unknown_time_is_requested_again(solana, solana_node, time):
    raw = raw_of(solana_node, recorded.LAUNCH)
    raw["blockTime"] = time
    signature = add_changed(solana_node, recorded.LAUNCH, lambda changed: changed.update(blockTime=None))
    solana_node.transactions = {"first": {"json": raw | {"slot": solana_node.slot}}, **solana_node.transactions}
    with pytest.raises(NodeUnavailableError):
        solana.read_transaction(signature)


def test_it_calls_no_node_of_another_network(solana_info):
    with SolanaStandIn(genesis_hash="EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG") as devnet:
        with pytest.raises(NodeUnavailableError, match="another chain"):
            solana_chain(solana_info, devnet.url, attempts=1).read_transaction(recorded.LAUNCH)
        assert not call_count(devnet, "getTransaction")


def test_it_takes_no_answer_of_another_kind(solana, solana_node):
    solana.read_head()
    for read in (
        solana.read_head,
        lambda: solana.list_signatures(recorded.CONFIG),
        lambda: solana.read_pool_fees(recorded.POOL),
        lambda: solana.read_transaction(recorded.LAUNCH),
    ):
        solana_node.change = lambda call_count, body: (
            body | {"result": {"value": 1}}
            if isinstance(body, dict)
            else [reply | {"result": "a text"} for reply in body]
        )
        with pytest.raises(NodeUnavailableError):
            read()


def test_it_lists_newest_first_from_a_bound_on(solana):
    listed = [entry.signature for entry in solana.list_signatures(recorded.CONFIG)]
    assert listed == [recorded.SWAP, recorded.LAUNCH, recorded.CREATE_CONFIG]
    assert [entry.signature for entry in solana.list_signatures(recorded.CONFIG, before=recorded.SWAP)] == listed[1:]


def test_it_lists_what_was_undone_as_such(solana, solana_node):
    signature = add_changed(
        solana_node, recorded.LAUNCH, lambda raw: raw["meta"].update(err={"InstructionError": [0, 1]})
    )
    newest, *others = solana.list_signatures(recorded.CONFIG)
    assert (newest.signature, newest.failed, newest.slot) == (signature, True, 1006)
    assert {entry.failed for entry in others} == {False}


def test_it_lists_of_no_node_that_is_behind(two, solana_node, second_solana_node):
    solana_node.behind = 3
    assert len(two.list_signatures(recorded.CONFIG, min_slot=1005)) == 3
    assert call_count(second_solana_node, "getSignaturesForAddress") == 1


LISTINGS = {
    "no list": lambda listed: {"value": listed},
    "oldest first": lambda listed: listed[::-1],
    "one twice": lambda listed: [listed[0], *listed],
    "no signature": lambda listed: [listed[0] | {"signature": recorded.MINT}],
    "no slot": lambda listed: [{key: value for key, value in entry.items() if key != "slot"} for entry in listed],
    "no result": lambda listed: [{key: value for key, value in entry.items() if key != "err"} for entry in listed],
    "a slot below zero": lambda listed: [listed[0] | {"slot": -1}],
    "an entry that is none": lambda listed: [*listed, None],
    "the bound": lambda listed: [listed[0] | {"signature": recorded.SWAP}, *listed],
}


@pytest.mark.parametrize("change", LISTINGS.values(), ids=LISTINGS)
def test_it_takes_no_listing_with(two, solana_node, change):
    solana_node.change = lambda call_count, body: (
        body | {"result": change(body["result"])} if (isinstance(body.get("result"), list)) else body
    )
    listed = two.list_signatures(recorded.CONFIG, before=recorded.SWAP)
    assert [entry.signature for entry in listed] == [recorded.LAUNCH, recorded.CREATE_CONFIG]


def test_it_has_no_headers_to_check(solana, solana_node):
    assert (solana.read_headers([1003]), solana_node.calls) == ({}, [])
