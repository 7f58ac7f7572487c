"""tokens/chains/solana/mints.py: a mint's description from its account, from Metaplex or from the launch."""

import base64
import copy

import pytest
from solders.account import Account
from solders.address_lookup_table_account import ID as LOOKUP_TABLE_PROGRAM
from solders.address_lookup_table_account import AddressLookupTableAccount
from solders.instruction import AccountMeta, Instruction
from solders.keypair import Keypair
from solders.litesvm import LiteSVM
from solders.message import MessageV0
from solders.pubkey import Pubkey
from solders.system_program import CreateAccountParams, create_account
from solders.transaction import VersionedTransaction

from tests.nodes.solana import recorded
from tests.nodes.solana.forms import (
    EVENT_MARK,
    add_changed,
    add_key,
    add_transaction,
    base58,
    borsh_text,
    executed,
    mark,
    outer,
)
from tests.tokens.chains.solana.test_solana_launch import RECORDED_FACTS, RECORDED_LAUNCH
from tokens.chains.errors import LogDecodingError, NodeUnavailableError
from tokens.chains.solana.token_accounts import (
    SPL_2022_PROGRAM,
    SPL_PROGRAM,
    metadata_address,
    read_metadata,
    read_mint,
)

METADATA = "7mtfbMPCe5iRzUmXnb5FCSpuf1m19buiy5ssK5dpBwCz"
# A mint with metadata that is no quote token in the registry.
OTHER_MINT = "2KW2XRd9kwqet15Aha2oK3tYvd3nWbTFH1MBiRAv1BE1"


def data_of(account):
    return base64.b64decode(account["data"][0])


def with_data(account, data, **more):
    return account | {"data": [base64.b64encode(data).decode(), "base64"]} | more


def metadata(*, mint=recorded.MINT, name=b"Name", symbol=b"SYM", uri=b"ipfs://x"):
    texts = b"".join(borsh_text(text) for text in (name, symbol, uri))
    return b"\4" + bytes(32) + bytes(Pubkey.from_string(mint)) + texts + bytes(100)


@pytest.fixture
def described(solana, solana_node):
    """Return a function that reads the recorded launch with these accounts."""

    def read(**accounts):
        for name, account in accounts.items():
            address = {"mint": recorded.MINT, "metadata": METADATA}[name]
            if account is None:
                del solana_node.accounts[address]
            else:
                solana_node.accounts[address] = account
        return solana.read_transaction(recorded.LAUNCH).launches[0]

    return read


def test_metadata_are_where_metaplex_has_them():
    assert metadata_address(recorded.MINT) == METADATA


def test_what_a_mint_is_called_now_is_read_of_metaplex(solana_node, described):
    account = solana_node.accounts[METADATA]
    launch = described(metadata=with_data(account, metadata(name=b"Now\0\0\0", symbol=b"N\0", uri=b"\0\0")))
    assert (launch.name, launch.symbol, launch.uri) == ("Now", "N", None)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"a\0b", "ab"),
        (b"\xff\xfeok", "\ufffd\ufffdok"),
        (b"\xed\xa0\x80", "\ufffd" * 3),
        ("Łódź 🚀".encode(), "Łódź 🚀"),
    ],
)
def test_it_takes_whatever_name_the_chain_holds(solana_node, described, raw, shown):
    assert described(metadata=with_data(solana_node.accounts[METADATA], metadata(name=raw))).name == shown


@pytest.mark.parametrize("data", [b"", b"\0", b"\0" * 607, b"\6" + bytes(606)])
def test_the_launch_describes_what_metaplex_no_longer_has(solana_node, described, data):
    assert described(metadata=with_data(solana_node.accounts[METADATA], data)) == RECORDED_LAUNCH


def test_the_launch_describes_what_another_program_must_not(solana_node, described):
    account = with_data(solana_node.accounts[METADATA], metadata(name=b"Fake"), owner=SPL_PROGRAM)
    assert described(metadata=account) == RECORDED_LAUNCH


def test_it_needs_no_account_that_is_gone(described):
    assert described(mint=None, metadata=None) == RECORDED_LAUNCH


def test_supply_and_decimals_of_a_mint_that_is_gone_are_those_of_the_launch(solana, solana_node):
    del solana_node.accounts[recorded.MINT]

    def change(raw):
        inner = raw["meta"]["innerInstructions"][0]["instructions"]
        # initializeMint2 and mintTo, as the recorded launch has them.
        inner[1]["data"] = base58(bytes([20, 9]) + bytes(33))
        inner[12]["data"] = base58(bytes([7]) + (5).to_bytes(8, "little"))
        inner.append(inner[12] | {"data": base58(bytes([7]) + (2).to_bytes(8, "little"))})

    (launch,) = solana.read_transaction(add_changed(solana_node, recorded.LAUNCH, change)).launches
    assert (launch.decimals, launch.supply) == (9, 7)


def test_it_refuses_a_launch_of_a_mint_without_a_description(solana, solana_node):
    del solana_node.accounts[recorded.MINT]

    def change(raw):
        raw["meta"]["innerInstructions"][0]["instructions"][1]["data"] = base58(b"\1")

    with pytest.raises(LogDecodingError, match="decimals and supply of a launch's mint are unknown"):
        solana.read_transaction(add_changed(solana_node, recorded.LAUNCH, change))


MINT_DATA = bytes(36) + (7).to_bytes(8, "little") + bytes([6, 1]) + bytes(36)
WRONG_MINTS = {
    "of no token program": {"owner": recorded.PROGRAM},
    "not set up": {"data": MINT_DATA[:45] + bytes(37)},
    "too short": {"data": MINT_DATA[:81]},
    "a token account": {"data": MINT_DATA + bytes(83)},
    "a token account of the newer program": {"data": MINT_DATA + bytes(83) + b"\2", "owner": SPL_2022_PROGRAM},
    "an extension beyond the end": {
        "data": MINT_DATA + bytes(83) + b"\1" + b"\x13\0\xff\0" + bytes(10),
        "owner": SPL_2022_PROGRAM,
    },
    "a description of another mint": {
        "data": MINT_DATA + bytes(83) + b"\1" + b"\x13\0\x4c\0" + bytes(64 + 12),
        "owner": SPL_2022_PROGRAM,
    },
}


@pytest.mark.parametrize("changed", WRONG_MINTS.values(), ids=WRONG_MINTS)
def test_it_takes_no_mint_that_is(solana_node, described, changed):
    account = solana_node.accounts[recorded.MINT]
    data = changed.get("data", data_of(account))
    with pytest.raises(NodeUnavailableError):
        described(mint=with_data(account, data, owner=changed.get("owner", account["owner"])))


@pytest.mark.parametrize(
    "data",
    [metadata(mint=OTHER_MINT), metadata()[:50], metadata()[:-100][:-1], b"\4"],
    ids=["of another mint", "cut short", "a text cut short", "a key alone"],
)
def test_it_takes_no_metadata(solana_node, described, data):
    with pytest.raises(NodeUnavailableError):
        described(metadata=with_data(solana_node.accounts[METADATA], data))


@pytest.mark.parametrize(
    "account",
    [
        {"owner": SPL_PROGRAM},
        {"owner": SPL_PROGRAM, "data": "AAAA"},
        {"owner": SPL_PROGRAM, "data": ["AAAA", "base58"]},
        {"owner": SPL_PROGRAM, "data": ["?", "base64"]},
        {"owner": SPL_PROGRAM, "data": [None, "base64"]},
        {"data": ["AAAA", "base64"]},
        "a text",
        7,
    ],
)
def test_it_takes_no_half_an_account(described, account):
    with pytest.raises(NodeUnavailableError):
        described(mint=account)


def test_a_pair_that_is_not_in_the_registry_is_called_by_its_own_metadata(solana, solana_node):
    def change(raw):
        outer(raw)[0]["accounts"][4] = add_key(raw, OTHER_MINT)

    signature = add_changed(solana_node, recorded.LAUNCH, change)
    pool = solana.read_transaction(signature).launches[0].pool
    assert (pool.paired_token, pool.pair_symbol, pool.pair_decimals) == (OTHER_MINT, "SOLT", 6)
    del solana_node.accounts[OTHER_MINT], solana_node.accounts[metadata_address(OTHER_MINT)]
    pool = solana.read_transaction(signature).launches[0].pool
    assert (pool.paired_token, pool.pair_symbol, pool.pair_decimals) == (OTHER_MINT, None, None)


def test_the_recorded_facts_need_no_account_of_a_pair_of_the_registry(solana, solana_node):
    del solana_node.accounts[recorded.WRAPPED_SOL]
    assert solana.read_transaction(recorded.LAUNCH) == RECORDED_FACTS


class Made:
    """A Token-2022 mint that describes itself, made by LiteSVM in a transaction with a lookup table."""

    def __init__(self) -> None:
        self.vm = LiteSVM()
        self.payer, self.mint = Keypair(), Keypair()
        self.vm.airdrop(self.payer.pubkey(), 10**10)
        self.program = Pubkey.from_string(SPL_2022_PROGRAM)
        self.vault = Pubkey.find_program_address(
            [bytes(self.payer.pubkey()), bytes(self.program), bytes(self.mint.pubkey())], _ASSOCIATED
        )[0]

    def transaction(self) -> dict:
        """Return the `json` form of the transaction that created the mint."""
        table = self._table([self.vault, self.program, _SYSTEM, _ASSOCIATED])
        message = MessageV0.try_compile(self.payer.pubkey(), self._instructions(), [table], self.vm.latest_blockhash())
        (lookup,) = message.address_table_lookups
        loaded = [
            [str(table.addresses[number]) for number in numbers]
            for numbers in (lookup.writable_indexes, lookup.readonly_indexes)
        ]
        assert str(self.vault) in loaded[0]
        return executed(self.vm, VersionedTransaction(message, [self.payer, self.mint]), loaded=loaded)

    def account(self) -> dict:
        """Return the mint as in `getMultipleAccounts`."""
        account = self.vm.get_account(self.mint.pubkey())
        return {"owner": str(account.owner), "data": [base64.b64encode(account.data).decode(), "base64"]}

    def _table(self, addresses: list[Pubkey]) -> AddressLookupTableAccount:
        key = Pubkey.new_unique()
        head = (1).to_bytes(4, "little") + b"\xff" * 8 + bytes(8) + b"\0" + b"\0" + bytes(34)
        data = head + b"".join(bytes(address) for address in addresses)
        self.vm.set_account(key, Account(lamports=10**9, data=data, owner=LOOKUP_TABLE_PROGRAM))
        self.vm.warp_to_slot(2000)
        return AddressLookupTableAccount(key, addresses)

    def _instructions(self) -> list[Instruction]:
        mint, payer = self.mint.pubkey(), self.payer.pubkey()
        # A mint with three extensions; the program adds the description.
        space = CreateAccountParams(
            from_pubkey=payer, to_pubkey=mint, lamports=10**8, space=166 + 4 + 64 + 4 + 32, owner=self.program
        )
        texts = b"".join(borsh_text(text) for text in ("Twenty Two", "TT", "https://example.org/tt.json"))
        initialize = mark("spl_token_metadata_interface", "initialize_account") + texts
        authority = [AccountMeta(payer, is_signer=True, is_writable=False)]
        return [
            create_account(space),
            self._on_mint(bytes([25, 1]) + bytes(payer)),
            self._on_mint(bytes([39, 0]) + bytes(payer) + bytes(mint)),
            self._on_mint(bytes([20, 9]) + bytes(payer) + b"\0"),
            self._on_mint(initialize, *authority, AccountMeta(mint, False, False), *authority),
            Instruction(
                _ASSOCIATED,
                b"",
                [
                    AccountMeta(payer, True, True),
                    AccountMeta(self.vault, False, True),
                    *(AccountMeta(key, False, False) for key in (payer, mint, _SYSTEM, self.program)),
                ],
            ),
            self._on_mint(
                bytes([7]) + (10**18).to_bytes(8, "little"), AccountMeta(self.vault, False, True), *authority
            ),
        ]

    def _on_mint(self, data: bytes, *more: AccountMeta) -> Instruction:
        return Instruction(self.program, data, [AccountMeta(self.mint.pubkey(), False, True), *more])


_ASSOCIATED = Pubkey.from_string("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
_SYSTEM = Pubkey.from_string("1" * 32)


def launched(raw, mint):
    """Add a launch of the mint with the recorded config to a transaction, with the program's event."""
    pool = str(Pubkey.new_unique())
    named = [recorded.CONFIG, recorded.PROGRAM, recorded.CREATOR, mint, recorded.WRAPPED_SOL, pool]
    message, loaded = raw["transaction"]["message"], raw["meta"]["loadedAddresses"]
    # The message's accounts come before its lookup tables' accounts, whose indexes therefore move.
    before = len(message["accountKeys"])
    places = {key: add_key(raw, key) for key in [*named, recorded.EVENT_AUTHORITY]}
    moved = len(message["accountKeys"]) - before
    for entry in [
        *outer(raw),
        *(entry for group in raw["meta"]["innerInstructions"] for entry in group["instructions"]),
    ]:
        entry["accounts"] = [number + moved * (number >= before) for number in entry["accounts"]]
        entry["programIdIndex"] += moved * (entry["programIdIndex"] >= before)
    texts = b"".join(borsh_text(text) for text in ("Given", "G", "https://example.org/given.json"))
    event_keys = b"".join(bytes(Pubkey.from_string(key)) for key in (pool, recorded.CONFIG, recorded.CREATOR, mint))
    program = places[recorded.PROGRAM]
    outer(raw).append(
        {
            "programIdIndex": program,
            "accounts": [places[key] for key in named] + [0] * 9,
            "data": base58(mark("global", "initialize_virtual_pool_with_token2022") + texts),
        }
    )
    event = EVENT_MARK + mark("event", "EvtInitializePool") + event_keys + b"\1" + bytes(8)
    entry = {"programIdIndex": program, "accounts": [places[recorded.EVENT_AUTHORITY]], "data": base58(event)}
    raw["meta"]["innerInstructions"].append({"index": len(outer(raw)) - 1, "instructions": [entry]})
    assert loaded["writable"]


def test_it_reads_a_mint_that_describes_itself_in_a_transaction_with_a_lookup_table(solana, solana_node):
    made = Made()
    mint = str(made.mint.pubkey())
    raw = made.transaction()
    assert raw["version"] == 0
    launched(raw, mint)
    signature = add_transaction(solana_node, raw)
    solana_node.accounts[mint] = made.account()
    (launch,) = solana.read_transaction(signature).launches
    assert (launch.name, launch.symbol, launch.uri) == ("Twenty Two", "TT", "https://example.org/tt.json")
    assert (launch.decimals, launch.supply, launch.token) == (9, 10**18, mint)
    # The mint's description in the transaction is the same; its instruction has another name.
    del solana_node.accounts[mint]
    (launch,) = solana.read_transaction(signature).launches
    assert (launch.name, launch.decimals, launch.supply) == ("Given", 9, 10**18)


def test_it_reads_a_mint_of_the_newer_program_without_extensions():
    data = with_data({"owner": SPL_2022_PROGRAM}, MINT_DATA)
    state = read_mint(copy.deepcopy(data), mint=recorded.MINT)
    assert state is not None
    assert (state.decimals, state.supply, state.description) == (6, 7, None)
    assert read_mint(None, mint=recorded.MINT) is None
    assert read_metadata(None, mint=recorded.MINT) is None
