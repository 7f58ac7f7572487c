"""Mistakes in a declaration that only a real launch shows: conditions, views, tokens that are not new, pools."""

from collections.abc import Iterator

from tokens.chains.abi.codec import Log
from tokens.chains.addresses import ZERO_ADDRESS, checksum_address
from tokens.chains.evm.generations.declared_launches import DeclaredLaunch
from tokens.chains.evm.generations.launch_completion import MAX_DECIMALS
from tokens.chains.evm.generations.launch_views import missing_values
from tokens.chains.evm.generations.mined_transactions import MinedTransaction
from tokens.chains.types import Launch, MissingValue
from tokens.declaring.made_pools import POOL_EVENTS, find_made_pools
from tokens.declaring.recorded_calls import RecordingClient, call_text, had_code
from tokens.declaring.trade_mistakes import read_transfers
from tokens.declaring.value_origins import value_text


def find_condition_mistakes(
    declared: DeclaredLaunch, mined: MinedTransaction, log: Log, *, key_path: str, rpc: RecordingClient
) -> Iterator[str]:
    """Yield the declared conditions that a log with the declared event does not meet."""
    scope = declared.scope(mined, log)
    for condition in declared.declaration.conditions:
        value, text = scope.read(condition.value), value_text(condition.value, scope)
        if isinstance(value, MissingValue):
            answer = rpc.answer(value)
            value = answer and answer.value
        if value not in condition.expected:
            expected = ", ".join(sorted(map(str, condition.expected)))
            yield (
                f"log {int(log['logIndex'], 16)} is no launch of {key_path}: {text} is {value}, and `when` expects one"
                f" of {expected}"
            )


def find_decimals_mistake(decoded: Launch, *, rpc: RecordingClient) -> Iterator[str]:
    """Yield a mistake if a launch is not stored because its token has too many decimals."""
    for missing in missing_values(decoded):
        answer = rpc.answer(missing) if missing.field == "decimals" else None
        if answer and answer.value is not None and answer.value > MAX_DECIMALS:
            yield f"{decoded.token} is not stored: it has {answer.value} decimals, more than {MAX_DECIMALS}"


def find_token_mistake(launch: Launch, *, rpc: RecordingClient) -> str:
    """Return the mistake that the launch's token is no contract; empty if it is one, or if no node responds."""
    block = launch.block_number
    is_contract, block_text = had_code(rpc, launch.token, block), f"in block {block}"
    if is_contract is None:
        is_contract, block_text = had_code(rpc, launch.token, None), "at the newest block"
    if is_contract is not False:
        return ""
    return f"{launch.token} has no code {block_text}: `token` names no contract, or other arguments are indexed"


def find_launch_mistakes(
    declared: DeclaredLaunch, mined: MinedTransaction, decoded: Launch, launch: Launch, *, rpc: RecordingClient
) -> Iterator[str]:
    """Yield what is suspicious about a decoded launch."""
    yield from _of_views(decoded, rpc)
    yield from _of_token(mined, launch, rpc)
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


def _of_token(mined: MinedTransaction, launch: Launch, rpc: RecordingClient) -> Iterator[str]:
    before = launch.block_number - 1
    existed = had_code(rpc, launch.token, before)
    if existed:
        pool = "" if launch.pool else f", and its pool's {_pool_events()} is not in this transaction"
        yield (
            f"{launch.token} is no new token: it has code in block {before}{pool}. Is the event that of a purchase, and"
            " another one that of the creation?"
        )
    elif existed is None and not _mints_supply(mined, launch):
        yield (
            f"it is unknown whether {launch.token} is new: no node has the state of block {before}, and the transaction"
            " does not mint the token's whole supply"
        )


def _mints_supply(mined: MinedTransaction, launch: Launch) -> bool:
    transfers = read_transfers(mined, launch.token)
    minted = sum(transfer.amount for transfer in transfers if transfer.sender == ZERO_ADDRESS)
    # If no node has the launch's state, this is the newest block's supply: some tokens may have been burned.
    return bool(launch.supply) and minted >= (launch.supply or 0)


def _of_pools(declared: DeclaredLaunch, mined: MinedTransaction, launch: Launch) -> Iterator[str]:
    kind = declared.declaration.pool
    pool_event = POOL_EVENTS[kind]
    emitter = pool_event.trusted(mined.chain) or "which the registry lacks"
    yield (
        f'no pool of {launch.token}: pool = "{kind}" is found by {pool_event.name} with the token, by the chain\'s'
        f" {pool_event.emitter}, {emitter}"
    )
    pools = list(find_made_pools(mined))
    for pool in pools:
        if launch.token not in pool.currencies:
            reason = "not the token's"
        elif not pool.is_trusted:
            reason = f"the token's, and a {pool.kind} pool by no contract of the chain's entry is not read"
        elif pool.kind != kind:
            reason = f'the token\'s: declare pool = "{pool.kind}"'
        else:
            reason = "the token's, and `pool_id` names another pool"
        name, emitter = POOL_EVENTS[pool.kind].name, checksum_address(pool.log["address"])
        yield f"{name} of pool {pool.id} with {' and '.join(pool.currencies)} by {emitter}: {reason}"
    if not pools:
        yield f"no {_pool_events()} is in this transaction"


def _pool_events() -> str:
    return " or ".join(pool.name for pool in POOL_EVENTS.values())
