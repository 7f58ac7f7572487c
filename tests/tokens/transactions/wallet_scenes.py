"""A wallet of its own on a development chain: what it owns there, and calls that it signs and mines."""

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eth_account import Account
from web3.logs import DISCARD

from development.devchain import node_client
from development.devchain.anvil import CHAIN_ID, DEPLOYER
from development.devchain.launch_transactions import DevLaunchConfig, Recipient
from tests.nodes.devchain_launches import Launchpad
from tests.nodes.devchain_tests import OTHER, SENDER, let_pass
from tests.rows.factories import TokenFactory
from tests.tokens.deploying.test_presales import TERMS, launch
from tokens.chains.launching.launch_calls import encode_launch
from tokens.indexing.index_requests import index_transaction
from tokens.installation.installed_chains import installed_chain

DAY = 86_400
ETHER = 10**18
ZERO = "0x" + "00" * 20
# In wei, as the node's own accounts have.
_FUNDS = 10_000 * ETHER
# What the v3.1 vault keeps of the supply.
VAULTED = 10**27


@dataclass
class WalletScene:
    """A wallet, a client of the service, and what the wallet's actions need on the chain."""

    launchpad: Launchpad
    client: Any
    account: Any = field(default_factory=Account.create)

    def __post_init__(self) -> None:
        self.launchpad.rpc("anvil_setBalance", self.address, hex(_FUNDS))

    @property
    def address(self) -> str:
        return str(self.account.address)

    @property
    def url(self) -> str:
        return self.launchpad.deployment.rpc_url

    def post(self, action: str, **body: Any) -> Any:
        """Request an action of the wallet."""
        body = {"from": self.address, "chainId": CHAIN_ID} | body
        return self.client.post(f"/api/transactions/{action}", body, content_type="application/json")

    def prepare(self, action: str, **body: Any) -> Any:
        """Return a successful response's body."""
        answer = self.post(action, **body)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def mine(self, answer: Mapping[str, Any]) -> list[Any]:
        """Sign exactly the calls of a response and mine them in one block at the simulated time; return receipts."""
        rpc, web3 = self.launchpad.rpc, self.launchpad.web3
        data, simulation = answer["data"], answer["simulation"]
        nonce = web3.eth.get_transaction_count(self.address)
        price = {"maxFeePerGas": 100 * 10**9, "maxPriorityFeePerGas": 10**9}
        rpc("evm_setAutomine", False)
        hashes = []
        for index, (call, gas) in enumerate(zip(data["calls"], simulation["calls"], strict=True)):
            transaction = {
                "chainId": int(data["chainId"], 16),
                "to": call["to"],
                "data": call["data"],
                "value": int(call["value"], 16),
                "nonce": nonce + index,
                "gas": gas["gas"],
            }
            signed = self.account.sign_transaction(transaction | price)
            hashes.append(web3.eth.send_raw_transaction(signed.raw_transaction))
        rpc("evm_setNextBlockTimestamp", simulation["time"])
        rpc("evm_mine")
        rpc("evm_setAutomine", True)
        receipts = [web3.eth.get_transaction_receipt(sent) for sent in hashes]
        assert [receipt["status"] for receipt in receipts] == [1] * len(hashes)
        return receipts

    def balances(self, currencies: Sequence[str]) -> dict[str, int]:
        """Return the wallet's balances; zero address is the native coin, and a token may not exist yet."""
        eth = self.launchpad.web3.eth

        def read(currency: str) -> int:
            if currency == ZERO:
                return int(eth.get_balance(self.address))
            token = self.contract("Token", currency).functions
            return int(token.balanceOf(self.address).call()) if eth.get_code(currency) else 0

        return {currency: read(currency) for currency in currencies}

    def contract(self, name: str, address: str) -> Any:
        return node_client.bind_contract(self.url, name, address)

    def transact(self, call: Any, *, sender: str = SENDER, value: int = 0) -> Any:
        return node_client.transact(self.url, call, sender=sender, value=value)

    def wait(self, seconds: int) -> None:
        let_pass(self.launchpad.deployment, seconds)

    def launch(self, **config: Any) -> str:
        """Launch a v4 token that the wallet administers, and index it."""
        config = {"admin": self.address, "salt": os.urandom(32)} | config
        shares = (Recipient(admin=self.address, recipient=self.address, bps=10_000),)
        tx_hash = self.launchpad.launch(DevLaunchConfig(**({"recipients": shares} | config)))
        (token,) = index_transaction(chain_id=CHAIN_ID, tx_hash=tx_hash)
        return token

    def start_presale(self, *, allowlist: tuple[str, ...] = ()) -> int:
        """Have the presale contract's admin start a presale that the wallet owns; return its id."""
        chain = installed_chain(CHAIN_ID)
        terms = {"recipient": self.address, "allowlist": allowlist}
        config = launch(chain, presale=type(TERMS)(**{name: getattr(TERMS, name) for name in TERMS.__slots__} | terms))
        start = encode_launch(chain.info, config, salt="0x" + secrets.token_hex(32)).presale_start
        assert start is not None
        sent = node_client.send_transaction(self.url, sender=DEPLOYER, to=start.to, data=start.data)
        node_client.wait_for_receipt(self.url, sent)
        return chain.count_presales(contract=start.to)

    def presale(self) -> Any:
        return self.contract("Presale", self.launchpad.deployment.presale).functions

    def launch_legacy(self, chains_file: Path, settings: Any, forget_chains: Any) -> tuple[str, Any]:
        """Launch by v3.1's stand-ins, whose tokens the wallet administers; return the token and the positions.

        The registry gets their addresses, and the table of tokens a row.
        """
        artifact = node_client.load_artifact("LegacyFactory")
        data = artifact.bytecode + "0" * 24 + OTHER[2:]
        receipt = node_client.wait_for_receipt(
            self.url, node_client.send_transaction(self.url, sender=SENDER, to=None, data=data, gas=20_000_000)
        )
        factory = self.contract("LegacyFactory", receipt["contractAddress"])
        addresses = {
            "factory": factory.address,
            "locker": factory.functions.locker().call(),
            "vault": factory.functions.vault().call(),
        }
        entries = ",".join(
            f'{{role = "{role}", generation = "v3.1", address = "{address}"}}' for role, address in addresses.items()
        )
        legacy = chains_file.with_name("legacy.toml")
        legacy.write_text(f"[chains.{CHAIN_ID}]\ncontracts = [{entries}]\n", encoding="utf-8")
        settings.CHAINS_FILES = (*settings.CHAINS_FILES, str(legacy))
        forget_chains()
        unlock = self.launchpad.web3.eth.get_block("latest")["timestamp"] + DAY
        call = factory.functions.launch(
            os.urandom(32), self.launchpad.deployment.wrapped_native, OTHER, VAULTED, unlock
        )
        self.launchpad.rpc("anvil_impersonateAccount", self.address)
        receipt = self.transact(call, sender=self.address)
        (event,) = factory.events.Launched().process_receipt(receipt, errors=DISCARD)
        TokenFactory(
            chain_id=CHAIN_ID,
            contract_address=event["args"]["token"],
            generation="v3.1",
            factory_address=addresses["factory"],
            locker_address=addresses["locker"],
            position_id=str(event["args"]["positionId"]),
        )
        positions = self.contract("LegacyPositions", factory.functions.positionManager().call())
        return event["args"]["token"], positions
