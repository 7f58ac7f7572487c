"""What neither logs nor calldata tell of launches is asked of the tokens themselves, as of the launches' blocks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tokens.chains.abi import codec
from tokens.chains.evm.eth_calls import Question, ask_back_then
from tokens.chains.rpc.client import RpcClient
from tokens.chains.types import Launch, Pool, TransactionFacts

_TOKEN = codec.load("token")

# The token's accessors by generation family: v3.1 and v4 name the image `imageUrl`, v1 to v3.0 `image`.
_IMAGES = (_TOKEN.function("imageUrl"), _TOKEN.function("image"))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Wanted:
    """A fact of a launch, and the view that tells it. Of a fact that is asked for twice the first answer counts."""

    fact: str
    question: Question


def complete(rpc: RpcClient, transactions: Sequence[TransactionFacts]) -> list[TransactionFacts]:
    """Transactions with what their launches lack, as far as contracts tell it; the rest stays None.

    Asked as of each launch's block: later changes are events, which are folded over the launch. Raises NodeUnavailable.
    """
    launches = [launch for facts in transactions for launch in facts.launches]
    wanted = [_wanted(launch) for launch in launches]
    questions = [
        (part.question, launch.block_number)
        for launch, parts in zip(launches, wanted, strict=True)
        for part in parts
    ]  # fmt: skip
    if not questions:
        return list(transactions)
    answers = iter(ask_back_then(rpc, questions))
    completed = []
    for launch, parts in zip(launches, wanted, strict=True):
        found: dict[str, Any] = {}
        for part in parts:
            if values := next(answers):
                found.setdefault(part.fact, *values.values())
        completed.append(_with(launch, found))
    rest = iter(completed)
    return [replace(facts, launches=tuple(next(rest) for _ in facts.launches)) for facts in transactions]


def _wanted(launch: Launch) -> list[_Wanted]:
    asked = []
    if launch.supply is None:
        asked.append(("supply", launch.token, _TOKEN.function("totalSupply")))
    if launch.image is None:
        asked += [("image", launch.token, function) for function in _IMAGES]
    if launch.metadata is None:
        asked.append(("metadata", launch.token, _TOKEN.function("metadata")))
    if launch.context is None:
        asked.append(("context", launch.token, _TOKEN.function("context")))
    if launch.pool and launch.pool.pair_symbol is None:
        asked.append(("pair_symbol", launch.pool.paired_token, _TOKEN.function("symbol")))
        asked.append(("pair_decimals", launch.pool.paired_token, _TOKEN.function("decimals")))
    return [
        _Wanted(fact=fact, question=Question(contract=contract, function=function))
        for fact, contract, function in asked
    ]  # fmt: skip


def _with(launch: Launch, found: dict[str, Any]) -> Launch:
    if not found:
        return launch
    return replace(
        launch,
        supply=found.get("supply", launch.supply),
        image=found.get("image", launch.image),
        metadata=found.get("metadata", launch.metadata),
        context=found.get("context", launch.context),
        pool=_with_pair(launch.pool, found),
    )


def _with_pair(pool: Pool | None, found: dict[str, Any]) -> Pool | None:
    if pool is None or pool.pair_symbol is not None:
        return pool
    return replace(pool, pair_symbol=found.get("pair_symbol"), pair_decimals=found.get("pair_decimals"))
