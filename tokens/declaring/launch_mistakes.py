"""Mistakes of a declaration that only a real launch shows: conditions, views, tokens that are not new, pools."""

from collections.abc import Iterator

from tokens.chains.abi.codec import AbiEvent, Log
from tokens.chains.addresses import checksum_address
from tokens.chains.errors import LogDecodingError
from tokens.chains.evm.generations.declared_launches import PAIR_CREATED, POOL_CREATED, DeclaredLaunch
from tokens.chains.evm.generations.launch_completion import MAX_DECIMALS
from tokens.chains.evm.generations.launch_views import missing_values
from tokens.chains.evm.generations.mined_transactions import POOL_INITIALIZED, MinedTransaction
from tokens.chains.types import Launch, MissingValue
from tokens.declaring.recorded_calls import RecordingClient, call_text, had_code
from tokens.declaring.value_origins import value_text

_CURRENCIES = {
    POOL_INITIALIZED: ("v4", "id", "currency0", "currency1"),
    POOL_CREATED: ("v3", "pool", "token0", "token1"),
    PAIR_CREATED: ("v2", "pair", "token0", "token1"),
}


def find_condition_mistakes(
    declared: DeclaredLaunch, mined: MinedTransaction, log: Log, *, place: str, rpc: RecordingClient
) -> Iterator[str]:
    """Yield which conditions of a declaration a log of its event does not meet."""
    scope = declared.scope(mined, log)
    for condition in declared.declaration.conditions:
        found, text = scope.read(condition.value), value_text(condition.value, scope)
        if isinstance(found, MissingValue):
            answer = rpc.answer(found)
            found = answer and answer.value
        if found not in condition.expected:
            expected = ", ".join(sorted(map(str, condition.expected)))
            yield (
                f"log {int(log['logIndex'], 16)} is no launch of {place}: {text} is {found}, and `when` expects one of"
                f" {expected}"
            )


def find_decimals_mistake(decoded: Launch, *, rpc: RecordingClient) -> Iterator[str]:
    """Yield that a launch is not stored because of its token's decimals."""
    for missing in missing_values(decoded):
        answer = rpc.answer(missing) if missing.field == "decimals" else None
        if answer and answer.value is not None and answer.value > MAX_DECIMALS:
            yield f"{decoded.token} is not stored: it has {answer.value} decimals, more than {MAX_DECIMALS}"


def find_launch_mistakes(
    declared: DeclaredLaunch, mined: MinedTransaction, decoded: Launch, launch: Launch, *, rpc: RecordingClient
) -> Iterator[str]:
    """Yield what is suspicious about a decoded launch."""
    yield from _of_views(decoded, rpc)
    yield from _of_token(launch, rpc)
    if launch.pool is None:
        yield from _of_pools(declared, mined, launch)
    if declared.launchpad.hook_swaps and launch.pool and not launch.pool.hook:
        yield 'internal_senders has "hook", and the pool has none'


def _of_views(decoded: Launch, rpc: RecordingClient) -> Iterator[str]:
    answers = {missing: answer for missing in missing_values(decoded) if (answer := rpc.answer(missing))}
    for missing, answer in answers.items():
        if answer.problem:
            yield f"{missing.field or 'when'}: {call_text(missing, answer.block)}: {answer.problem}"
    if all(answer.block == "latest" for answer in answers.values()):
        yield f"no node has the state of block {decoded.block_number}: views were called at the newest block"


def _of_token(launch: Launch, rpc: RecordingClient) -> Iterator[str]:
    before = launch.block_number - 1
    if had_code(rpc, launch.token, before):
        pool = "" if launch.pool else f", and its pool's {_pool_events()} is not in this transaction"
        yield (
            f"{launch.token} is no new token: it has code in block {before}{pool}. Is the event that of a purchase, and"
            " another one that of the creation?"
        )


def _of_pools(declared: DeclaredLaunch, mined: MinedTransaction, launch: Launch) -> Iterator[str]:
    kind, chain = declared.declaration.pool, mined.chain
    key = {"v4": "v4_pool_manager", "v3": "v3_factory"}.get(kind, "v2_factory")
    event = next(each for each, (of, *_) in _CURRENCIES.items() if of == kind)
    emitter = getattr(chain, key) or "which the registry lacks"
    yield (
        f'no pool of {launch.token}: pool = "{kind}" is found by {_name(event)} with the token, by the chain\'s {key},'
        f" {emitter}"
    )
    found = list(_pool_events_of(mined, launch, kind))
    yield from found
    if not found:
        yield f"no {_pool_events()} is in this transaction"


def _pool_events_of(mined: MinedTransaction, launch: Launch, declared_kind: str) -> Iterator[str]:
    """Yield the pools that contracts made in the transaction, and why none of them is the launch's."""
    trusted = {"v4": mined.chain.v4_pool_manager, "v3": mined.chain.v3_factory, "v2": mined.chain.v2_factory}
    for log in mined.logs:
        event = next((each for each in _CURRENCIES if log["topics"][:1] == [each.topic0]), None)
        if event is None:
            continue
        kind, pool, first, second = _CURRENCIES[event]
        try:
            made = event.decode(log)
        except LogDecodingError:
            continue
        currencies, emitter = (made[first], made[second]), checksum_address(log["address"])
        if launch.token not in currencies:
            reason = "not the token's"
        elif emitter.lower() != (trusted.get(kind) or "").lower():
            reason = f"the token's, and a {kind} pool by no contract of the chain's entry is not read"
        elif kind != declared_kind:
            reason = f'the token\'s: declare pool = "{kind}"'
        else:
            reason = "the token's, and `pool_id` names another pool"
        yield f"{_name(event)} of pool {made[pool]} with {' and '.join(currencies)} by {emitter}: {reason}"


def _pool_events() -> str:
    return " or ".join(map(_name, _CURRENCIES))


def _name(event: AbiEvent) -> str:
    return event.signature.partition("(")[0]
