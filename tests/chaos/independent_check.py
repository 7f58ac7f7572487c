"""Check that the database matches the development chain: row by row, with no code but web3.py's.

    python -m tests.chaos.independent_check RPC_URL DATABASE_URL

reads every launch, every event after launch, swap and liquidity change from the first block on (eth_getLogs, decoded
by web3.py with the development contracts' ABIs) and compares them with the rows by plain SQL; candles, rolling
sums and markets with those that follow from the swaps, and daily fee sums with the events. It shares no
code with the service. Prints what is wrong, a line each, and ends with code 1 where something is.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import psycopg
from eth_utils.crypto import keccak
from web3 import HTTPProvider, Web3
from web3.contract import Contract
from web3.types import EventData

from development.devchain.deploy_contracts import DevelopmentContracts, locate_contracts
from development.devchain.node_client import load_artifact
from tests.chaos.chain_trades import USD_DECIMALS, ChainTrades, Row, TokenPool, TradeReader
from tests.chaos.trade_check import TradeRows, expect_rows, read_trade_rows

# So many blocks a query.
_RANGE = 500
# Event name -> its name in the rows, by emitter.
_OF_TOKENS = {
    "UpdateAdmin": "admin_updated",
    "UpdateImage": "image_updated",
    "UpdateMetadata": "metadata_updated",
    "Verified": "verified",
}
_OF_LOCKER = {
    "ClaimedRewards": "fees_collected",
    "RewardRecipientUpdated": "reward_recipient_updated",
    "RewardAdminUpdated": "reward_admin_updated",
    "FeePreferenceUpdated": "fee_preference_updated",
}
_PREFERENCES = ("Both", "Paired", "Clanker")


@dataclass
class Found:
    """The contents of the chain: tokens by address, events by (transaction, log index), and the rows' sums of fees."""

    tokens: dict[str, Row] = field(default_factory=dict)
    events: dict[tuple[str, int], Row] = field(default_factory=dict)
    fee_sums: dict[tuple[Any, ...], Row] = field(default_factory=dict)
    has_all_sums: bool = False


class Reader:
    """A chain reader, by web3.py."""

    def __init__(self, rpc_url: str) -> None:
        self.web3 = Web3(HTTPProvider(rpc_url, request_kwargs={"timeout": 60}))
        self.deployment: DevelopmentContracts = locate_contracts(rpc_url)
        self.head = self.web3.eth.block_number
        self._blocks: dict[int, Row] = {}
        # Pool id -> a launched token's pool.
        self._pools: dict[str, TokenPool] = {}

    def read(self) -> Found:
        """Read everything up to the newest block."""
        found = Found()
        for event in self._events("Factory", self.deployment.factory, "TokenCreated"):
            found.tokens[event["args"]["tokenAddress"]] = self._token(event)
        initialized = {
            event["args"]["id"]: event["args"]
            for event in self._events("PoolManager", self.deployment.pool_manager, "Initialize")
        }
        for event in self._events("PlainLaunchpad", self.deployment.plain_launchpad, "Launched"):
            found.tokens[event["args"]["token"]] = self._plain_token(event, initialized[event["args"]["poolId"]])
        for event in self._events("Locker", self.deployment.locker, "TokenRewardAdded"):
            args = event["args"]
            shares = zip(args["rewardAdmins"], args["rewardRecipients"], args["rewardBps"], strict=True)
            found.tokens[args["token"]]["shares"] = [
                {"admin": admin, "recipient": recipient, "bps": bps} for admin, recipient, bps in shares
            ]
        for event in self._events("Locker", self.deployment.locker, "InitialFeePreferences"):
            for share, expects in zip(
                found.tokens[event["args"]["token"]]["shares"], event["args"]["feePreference"], strict=True
            ):
                share["token"] = _PREFERENCES[expects]
        happened = [*self._after_launch(found)]
        for event, kind, token in sorted(happened, key=lambda entry: (entry[0]["blockNumber"], entry[0]["logIndex"])):
            found.events[event["transactionHash"].to_0x_hex(), event["logIndex"]] = {
                "kind": kind,
                "token": token,
                "block_number": event["blockNumber"],
                "block_hash": event["blockHash"].to_0x_hex(),
                "at": datetime.fromtimestamp(self._block(event["blockNumber"])["timestamp"], UTC),
                "arguments": {name: _stored(value) for name, value in event["args"].items()},
            }
            if token:
                _apply(found.tokens[token], event)
        return found

    def read_trades(self) -> ChainTrades:
        """Read what happened in the read tokens' pools."""
        trades = TradeReader(self._pools, deployment=self.deployment, block_of=self._block)
        manager = self.deployment.pool_manager
        return trades.read(
            self._events("PoolManager", manager, "Swap"), self._events("PoolManager", manager, "ModifyLiquidity")
        )

    def _after_launch(self, found: Found) -> Iterator[tuple[EventData, str, str | None]]:
        """Yield (event, its name in the rows, its token)."""
        for name, kind in _OF_TOKENS.items():
            for event in self._events("Token", None, name):
                if event["address"] in found.tokens:
                    yield event, kind, event["address"]
        for name, kind in _OF_LOCKER.items():
            for event in self._events("Locker", self.deployment.locker, name):
                yield event, kind, event["args"]["token"]
        for event in self._events("FeeLocker", self.deployment.fee_locker, "ClaimTokens"):
            currency = event["args"]["token"]
            yield event, "fees_claimed", currency if currency in found.tokens else None

    def _events(self, contract: str, address: str | None, name: str) -> Iterator[EventData]:
        abi = next(item for item in load_artifact(contract).abi if item["type"] == "event" and item["name"] == name)
        types = ",".join(_type(part) for part in abi["inputs"])
        decoder: Contract = self.web3.eth.contract(abi=[abi])
        query: Row = {"topics": ["0x" + keccak(text=f"{name}({types})").hex()]}
        if address:
            query["address"] = address
        for first in range(0, self.head + 1, _RANGE):
            last = min(first + _RANGE - 1, self.head)
            for log in self.web3.eth.get_logs(query | {"fromBlock": first, "toBlock": last}):
                yield decoder.events[name]().process_log(log)

    def _token(self, event: EventData) -> Row:
        args = event["args"]
        return self._placed(
            event, token=args["tokenAddress"], quote=args["pairedToken"], tick=args["startingTick"], supply=10**29
        ) | {
            "generation": "v4",
            "uri": None,
            "name": args["tokenName"],
            "symbol": args["tokenSymbol"],
            "img_url": args["tokenImage"],
            "admin": args["tokenAdmin"],
            "msg_sender": args["msgSender"],
            "locker_address": args["locker"],
        }

    def _plain_token(self, event: EventData, pool: Mapping[str, Any]) -> Row:
        """Return a launch's row by the declared launchpad, and its pool's Initialize."""
        token, terms = event["args"]["token"], event["args"]["terms"]
        is_first = pool["currency0"] == token
        return self._placed(
            event,
            token=token,
            quote=pool["currency1" if is_first else "currency0"],
            tick=pool["tick"] if is_first else -pool["tick"],
            supply=10**27,
        ) | {
            "generation": "plain",
            "uri": terms["uri"],
            "name": terms["name"],
            "symbol": terms["symbol"],
            "img_url": "",
            "admin": event["args"]["creator"],
            "msg_sender": "",
            "locker_address": "",
            "shares": [],
        }

    def _placed(self, event: EventData, *, token: str, quote: str, tick: int, supply: int) -> Row:
        """Return what all launches have in common, and keep the pool; `tick` as if the token were currency 0."""
        pool_id, at = "0x" + event["args"]["poolId"].hex(), self._block(event["blockNumber"])["timestamp"]
        self._pools[pool_id] = TokenPool(
            token=token,
            quote=quote,
            quote_decimals=USD_DECIMALS if quote == self.deployment.usd else 18,
            tick=tick,
            launched_at=at,
            supply=supply // 10**18,
        )
        return {
            "tx_hash": event["transactionHash"].to_0x_hex(),
            "log_index": event["logIndex"],
            "block_number": event["blockNumber"],
            "block_hash": event["blockHash"].to_0x_hex(),
            "deployed_at": datetime.fromtimestamp(at, UTC),
            "pool_address": pool_id,
            "paired_token": quote,
            "factory_address": event["address"],
            "verified_on_chain": False,
            "supply": supply,
        }

    def _block(self, number: int) -> Row:
        """Return a block's time, and its transactions' senders and recipients by hash."""
        if number not in self._blocks:
            block = self.web3.eth.get_block(number, full_transactions=True)
            senders = {entry["hash"].to_0x_hex(): entry["from"].lower() for entry in block["transactions"]}
            recipients = {entry["hash"].to_0x_hex(): entry["to"] for entry in block["transactions"]}
            times = {"timestamp": block["timestamp"]}
            self._blocks[number] = times | {"senders": senders, "recipients": recipients}
        return self._blocks[number]


def read_rows(database_url: str, chain_id: int) -> Found:
    """Read the chain's rows in the database."""
    found = Found()
    with psycopg.connect(database_url, row_factory=psycopg.rows.dict_row) as connection:
        tokens = """SELECT token.*, document.uri FROM tokens_token token
            LEFT JOIN tokens_tokendocument document ON document.token_id = token.id
            WHERE chain_id = %s AND NOT unindexed"""
        for row in connection.execute(tokens, [chain_id]):
            fees = row["extensions"]["fees"]
            found.tokens[row["contract_address"]] = row | {"shares": fees["recipients"]}
        events = """SELECT event.*, token.contract_address AS of_token FROM tokens_tokenevent event
            LEFT JOIN tokens_token token ON token.id = event.token_id WHERE event.chain_id = %s"""
        for row in connection.execute(events, [chain_id]):
            found.events[row["tx_hash"], row["log_index"]] = row | {"token": row["of_token"]}
        collected = """SELECT contract_address, day, since, share, place, amount FROM tokens_collectionsum
            JOIN tokens_token token ON token.id = token_id WHERE chain_id = %s AND amount <> 0"""
        claimed = """SELECT recipient, currency, day, amount FROM tokens_accountclaimsum
            WHERE chain_id = %s AND amount <> 0"""
        progress = "SELECT FROM tokens_feesumprogress WHERE chain_id = %s AND summed_to = 9223372036854775807"
        found.has_all_sums = connection.execute(progress, [chain_id]).fetchone() is not None
        for name, query in (("collected", collected), ("claimed", claimed)):
            for row in connection.execute(query, [chain_id]):
                *key, amount = row.values()
                found.fee_sums[name, *key] = {"amount": amount}
    return found


def compare(chain: Found, rows: Found) -> Iterator[str]:
    """Return errors in the rows, one line each."""
    for kind, theirs, ours in (("token", chain.tokens, rows.tokens), ("event", chain.events, rows.events)):
        yield from _compare(kind, theirs, ours)


def compare_fee_sums(chain: Found, rows: Found) -> Iterator[str]:
    """Return errors in daily fee sums, one line each; none while a worker still adds stored events to them."""
    if not rows.has_all_sums:
        return
    expected: dict[tuple[Any, ...], int] = defaultdict(int)
    changed: dict[tuple[Any, ...], int] = {}
    for (_, log_index), event in sorted(
        chain.events.items(), key=lambda entry: (entry[1]["block_number"], entry[0][1])
    ):
        values, day, token = event["arguments"], event["at"].date(), event["token"]
        if event["kind"] == "reward_recipient_updated":
            changed[token, day] = event["block_number"] * 2**20 + log_index
        elif event["kind"] == "fees_claimed":
            expected["claimed", values["feeOwner"], values["token"], day] += int(values["amountClaimed"])
        elif event["kind"] == "fees_collected":
            for place in (0, 1):
                for share, amount in enumerate(values[f"rewards{place}"]):
                    expected["collected", token, day, changed.get((token, day), 0), share, place] += int(amount)
    theirs = {key: {"amount": amount} for key, amount in expected.items() if amount}
    yield from _compare("fee sum", theirs, rows.fee_sums)


def compare_trades(chain: ChainTrades, rows: TradeRows) -> Iterator[str]:
    """Return errors in trade rows, and in all that follows from them, one line each."""
    expected, ours = vars(expect_rows(chain, rows)), vars(rows)
    for kind in ("trades", "liquidity", "candles", "sums", "markets"):
        yield from _compare(kind, expected[kind], ours[kind])


def count_trades(chain: ChainTrades, rows: TradeRows) -> dict[str, int]:
    """Return counts that show what the comparison covers."""
    trades, pools = chain.trades, chain.pools
    return {
        "trades": len(trades),
        "sells": sum(not trade.is_buy for trade in trades),
        "conversions": sum(trade.is_conversion for trade in trades),
        "of currency 0": sum(pools[trade.token].is_first for trade in trades),
        "for launched tokens": sum(pools[trade.token].quote in pools for trade in trades),
        "without USD": sum(trade.quote_usd is None for trade in trades),
        "without trader": sum(row["trader"] is None for row in rows.trades.values()),
        "candles": len(rows.candles),
        "sums": len(rows.sums),
    }


def main() -> None:
    """Compare, print and exit."""
    rpc_url, database_url = sys.argv[1:]
    reader = Reader(rpc_url)
    chain, chain_id = reader.read(), reader.web3.eth.chain_id
    trades, rows = reader.read_trades(), read_rows(database_url, chain_id)
    with psycopg.connect(database_url, row_factory=psycopg.rows.dict_row) as connection:
        trade_rows = read_trade_rows(connection, chain_id)
    wrong = [*compare(chain, rows), *compare_fee_sums(chain, rows), *compare_trades(trades, trade_rows)]
    print("\n".join(wrong[:50]))
    counted = {"head": reader.head, "tokens": len(chain.tokens), "events": len(chain.events)}
    counted["declared"] = sum(token["generation"] == "plain" for token in chain.tokens.values())
    counted["fee sums"] = len(rows.fee_sums)
    print(json.dumps(counted | count_trades(trades, trade_rows)))
    sys.exit(1 if wrong else 0)


def _compare(kind: str, theirs: Mapping[Any, Row], ours: Mapping[Any, Row]) -> Iterator[str]:
    for key in theirs.keys() - ours.keys():
        yield f"{kind} {key} is missing: {theirs[key]}"
    for key in ours.keys() - theirs.keys():
        yield f"{kind} {key} is not on the chain: {ours[key]}"
    for key in theirs.keys() & ours.keys():
        for name, value in theirs[key].items():
            if ours[key][name] != value:
                yield f"{kind} {key} has {name} {ours[key][name]!r}, and the chain {value!r}"


def _apply(token: Row, event: EventData) -> None:
    args = event["args"]
    match event["event"]:
        case "UpdateAdmin":
            token["admin"] = args["newAdmin"]
        case "UpdateImage":
            token["img_url"] = args["image"]
        case "Verified":
            token["verified_on_chain"] = True
        case "RewardRecipientUpdated":
            token["shares"][args["rewardIndex"]]["recipient"] = args["newRecipient"]
        case "RewardAdminUpdated":
            token["shares"][args["rewardIndex"]]["admin"] = args["newAdmin"]
        case "FeePreferenceUpdated":
            token["shares"][args["rewardIndex"]]["token"] = _PREFERENCES[args["newFeePreference"]]


def _stored(value: Any) -> Any:
    """Return an event's value as the rows have it: whole numbers may have 256 bits."""
    if isinstance(value, list | tuple):
        return [_stored(part) for part in value]
    return str(value)


def _type(part: Any) -> str:
    if part["type"].startswith("tuple"):
        return f"({','.join(_type(inner) for inner in part['components'])}){part['type'][5:]}"
    return str(part["type"])


if __name__ == "__main__":
    main()
