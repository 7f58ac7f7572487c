"""tokens/chains/solana: any response of a node results in the recorded transaction or a declared error."""

import base64
import copy
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from development.standins.solana_node import RECORDING
from tests.nodes.solana import recorded
from tokens.chains.rpc.quantities import MalformedResponseError
from tokens.chains.solana.token_accounts import read_metadata, read_mint
from tokens.chains.solana.transaction_forms import SolanaTransaction, parse_transaction

RECORDED = json.loads(RECORDING.read_text())
JUNK = st.sampled_from([None, True, 0, -1, 1, 7, 2**64, 1.0, "", "1", "x" * 9, "0OIl", [], [[]], {}, {"parsed": 1}])
ACCOUNTS = {
    read_mint: RECORDED["accounts"][recorded.MINT],
    read_metadata: RECORDED["accounts"]["7mtfbMPCe5iRzUmXnb5FCSpuf1m19buiy5ssK5dpBwCz"],
}


def decoded_parts(transaction: SolanaTransaction):
    """Return the parts from which launches and claims are decoded."""
    by_program = [entry for entry in transaction.instructions if entry.program == recorded.PROGRAM]
    return (transaction.signature, transaction.slot, transaction.block_time, transaction.failed, by_program)


@st.composite
def damaged(draw: st.DrawFn, value):
    """Return the same JSON with one value replaced by junk or removed."""
    changed = copy.deepcopy(value)
    place = changed
    while True:
        steps = list(place) if isinstance(place, dict) else list(range(len(place)))
        step = draw(st.sampled_from(steps))
        inner = place[step]
        if not isinstance(inner, dict | list) or not inner or draw(st.integers(0, 4)) == 0:
            break
        place = inner
    if draw(st.booleans()):
        del place[step]
    else:
        place[step] = draw(JUNK)
    return changed


@settings(max_examples=400)
@given(
    sample=st.data(),
    form=st.sampled_from(["json", "jsonParsed"]),
    signature=st.sampled_from(list(RECORDED["labels"].values())),
)
def test_one_form_with_junk_is_refused_or_decodes_the_same(sample, form, signature):
    forms = RECORDED["transactions"][signature]
    whole = parse_transaction(signature, raw=forms["json"], parsed=forms["jsonParsed"])
    answers = {**forms, form: sample.draw(damaged(forms[form]))}
    try:
        read = parse_transaction(signature, raw=answers["json"], parsed=answers["jsonParsed"])
    except MalformedResponseError:
        return
    assert decoded_parts(read) == decoded_parts(whole)


@given(raw=JUNK, parsed=JUNK)
def test_junk_is_no_transaction(raw, parsed):
    try:
        parse_transaction(recorded.LAUNCH, raw=raw, parsed=parsed)
    except MalformedResponseError:
        return
    raise AssertionError("junk was taken for a transaction")


@settings(max_examples=300)
@given(sample=st.data(), read=st.sampled_from(list(ACCOUNTS)))
def test_an_account_with_junk_is_read_or_refused(sample, read):
    account = ACCOUNTS[read]
    data = base64.b64decode(account["data"][0])
    start = sample.draw(st.integers(0, len(data)))
    data = data[:start] + sample.draw(st.binary(max_size=8)) + data[start + sample.draw(st.integers(0, 8)) :]
    owner = sample.draw(st.sampled_from([account["owner"], "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"]))
    try:
        found = read({"owner": owner, "data": [base64.b64encode(data).decode(), "base64"]}, mint=recorded.MINT)
    except MalformedResponseError:
        return
    assert "\0" not in str(found)


@settings(max_examples=200)
@given(sample=st.data(), read=st.sampled_from(list(ACCOUNTS)))
def test_half_an_account_is_refused(sample, read):
    try:
        read(sample.draw(damaged(ACCOUNTS[read])), mint=recorded.MINT)
    except MalformedResponseError:
        return


@settings(max_examples=200)
@given(extensions=st.binary(max_size=300))
def test_any_extensions_are_read_or_refused(extensions):
    mint = bytes(36) + (7).to_bytes(8, "little") + bytes([6, 1]) + bytes(36) + bytes(83) + b"\1" + extensions
    account = {
        "owner": "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
        "data": [base64.b64encode(mint).decode(), "base64"],
    }
    try:
        found = read_mint(account, mint=recorded.MINT)
    except MalformedResponseError:
        return
    assert (found.supply, found.decimals) == (7, 6)
