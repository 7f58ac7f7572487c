"""Check that every request became exactly one token: by the chain's logs, the clients' responses, and the rows.

It queries the node by plain JSON-RPC and the database by plain SQL, and shares no code with the service.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
import requests
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from tests.servers.deploy_clients import Answers

# The v4 factory's TokenCreated.
_TOKEN_CREATED = (
    "0x"
    + keccak(
        b"TokenCreated(address,address,address,string,string,string,string,string,int24,address,bytes32,address,address,"
        b"address,uint256,address[])"
    ).hex()
)
_BATCH = 50


@dataclass(frozen=True, kw_only=True)
class Launch:
    """A token that the factory made."""

    token: str
    tx_hash: str


@dataclass(frozen=True, kw_only=True)
class Sent:
    """A mined transaction from our wallets; `to_itself` where it does nothing but use its nonce."""

    wallet: str
    nonce: int
    tx_hash: str
    succeeded: bool
    to_itself: bool


@dataclass(frozen=True, kw_only=True)
class Found:
    """The chain's contents; nonce counts by wallet, mined and with pending ones."""

    launches: tuple[Launch, ...]
    sent: tuple[Sent, ...]
    mined: dict[str, int]
    with_waiting: dict[str, int]
    # Transactions in the node's pool, whether they can be mined or an earlier nonce is missing.
    waiting: int = 0


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The database's contents: deployments by status, next nonces by wallet, attempts without an end."""

    statuses: dict[str, int]
    next_nonces: dict[str, int]
    open_attempts: int


def read_chain(rpc_url: str, *, factory: str, wallets: Sequence[str], since: int = 0) -> Found:
    """Read everything, from the block after `since` on."""
    head = int(_fetch(rpc_url, "eth_blockNumber"), 16)
    created = _fetch(
        rpc_url,
        "eth_getLogs",
        {"address": factory, "topics": [_TOKEN_CREATED], "fromBlock": hex(since + 1), "toBlock": hex(head)},
    )
    launches = [
        Launch(token=to_checksum_address(log["topics"][1][-40:]), tx_hash=log["transactionHash"]) for log in created
    ]
    pool = _fetch(rpc_url, "txpool_status")
    return Found(
        launches=tuple(launches),
        sent=tuple(_read_sent(rpc_url, wallets, since + 1, head)),
        mined={wallet: int(_fetch(rpc_url, "eth_getTransactionCount", wallet, "latest"), 16) for wallet in wallets},
        with_waiting={
            wallet: int(_fetch(rpc_url, "eth_getTransactionCount", wallet, "pending"), 16) for wallet in wallets
        },
        waiting=sum(int(number, 16) if isinstance(number, str) else number for number in pool.values()),
    )


def _read_sent(rpc_url: str, wallets: Sequence[str], first: int, last: int) -> Iterator[Sent]:
    ours = {wallet.lower(): wallet for wallet in wallets}
    for start in range(first, last + 1, _BATCH):
        numbers = range(start, min(start + _BATCH, last + 1))
        blocks = _fetch_all(rpc_url, [("eth_getBlockByNumber", [hex(number), True]) for number in numbers])
        found = [entry for block in blocks for entry in block["transactions"] if entry["from"].lower() in ours]
        receipts = _fetch_all(rpc_url, [("eth_getTransactionReceipt", [entry["hash"]]) for entry in found])
        for entry, receipt in zip(found, receipts, strict=True):
            yield Sent(
                wallet=ours[entry["from"].lower()],
                nonce=int(entry["nonce"], 16),
                tx_hash=entry["hash"],
                succeeded=receipt["status"] == "0x1",
                to_itself=(entry["to"] or "").lower() == entry["from"].lower(),
            )


def read_rows(database_url: str, *, request_keys: Sequence[str] | None = None) -> Rows:
    """Read the rows of these request keys, or all rows."""
    by_status = "SELECT status, count(*) FROM tokens_deployment WHERE request_key = ANY(%s) OR %s GROUP BY status"
    with psycopg.connect(database_url) as connection:
        statuses = connection.execute(by_status, [list(request_keys or ()), request_keys is None]).fetchall()
        nonces = connection.execute("SELECT address, next_nonce FROM tokens_deploywallet").fetchall()
        (is_open,) = connection.execute(
            "SELECT count(*) FROM tokens_deployattempt WHERE state = 'open'"
        ).fetchone() or (0,)
    return Rows(statuses=dict(statuses), next_nonces=dict(nonces), open_attempts=is_open)


def judge(answers: Answers, chain: Found, rows: Rows) -> list[str]:
    """Return the errors, a line each; none where every request became exactly one token."""
    return [*_judge_answers(answers, chain), *_judge_wallets(chain, rows), *_judge_rows(answers, rows)]


def _judge_answers(answers: Answers, chain: Found) -> Iterator[str]:
    launched = Counter(launch.token for launch in chain.launches)
    made_by = {launch.token: launch.tx_hash for launch in chain.launches}
    promised = Counter[str]()
    for (partner, key), responses in answers.orders.items():
        what = f"order {key} of {partner}"
        if any(answer != responses[0] for answer in responses):
            yield f"{what} was answered in different ways: {responses}"
        if responses[0].status != 200:
            yield f"{what} was refused: {responses[0]}"
            continue
        token = responses[0].body["expectedAddress"]
        promised[token] += 1
        if launched[token] != 1:
            yield f"{what} became {launched[token]} tokens at {token}"
        status = answers.statuses.get((partner, key), {})
        outcome = (status.get("status"), status.get("address"), status.get("txHash"))
        if outcome != ("indexed", token, made_by.get(token)):
            yield f"{what} ended as {outcome}, and should be indexed at {token} by {made_by.get(token)}"
    for token, count in promised.items():
        if count > 1:
            yield f"{count} orders were promised {token}"
    for launch in chain.launches:
        if not promised[launch.token]:
            yield f"nobody was promised {launch.token}, launched by {launch.tx_hash}"


def _judge_wallets(chain: Found, rows: Rows) -> Iterator[str]:
    for wallet, count in chain.mined.items():
        used = sorted(sent.nonce for sent in chain.sent if sent.wallet == wallet)
        if used != list(range(count - len(used), count)):
            yield f"wallet {wallet} has used {count} nonces, and the blocks hold {used}"
        if chain.with_waiting[wallet] != count:
            yield f"wallet {wallet} waits with nonces {count} to {chain.with_waiting[wallet] - 1}"
        # It may be behind where another sender has used the wallet, and is never ahead: that would be a gap.
        if rows.next_nonces.get(wallet, 0) > count:
            yield f"wallet {wallet} has used {count} nonces, and its row says {rows.next_nonces[wallet]}"
    if chain.waiting:
        yield f"{chain.waiting} transactions wait in the node's pool"
    for sent in chain.sent:
        if not sent.succeeded:
            yield f"{sent.tx_hash}, nonce {sent.nonce} of wallet {sent.wallet}, was reverted"


def _judge_rows(answers: Answers, rows: Rows) -> Iterator[str]:
    taken = sum(1 for responses in answers.orders.values() if responses[0].status == 200)
    if rows.statuses != ({"indexed": taken} if taken else {}):
        yield f"{taken} orders were taken, and the rows are {rows.statuses}"
    if rows.open_attempts:
        yield f"{rows.open_attempts} attempts have no end"


def _fetch(rpc_url: str, method: str, *params: Any) -> Any:
    return _fetch_all(rpc_url, [(method, list(params))])[0]


def _fetch_all(rpc_url: str, calls: Sequence[tuple[str, list[Any]]]) -> list[Any]:
    if not calls:
        return []
    body = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(calls)
    ]
    responses = requests.post(rpc_url, json=body, timeout=60).json()
    return [answer["result"] for answer in sorted(responses, key=lambda answer: answer["id"])]
