"""A trial's text for a terminal. Contracts' texts are quoted, so that no control character reaches it."""

from collections.abc import Iterator

from tokens.chains.rpc.responses import is_hex
from tokens.declaring.event_mistakes import log_text
from tokens.declaring.launch_trial import LaunchTrial, TriedLaunch

_WIDTH = 14


def trial_lines(trial: LaunchTrial) -> Iterator[str]:
    """Yield a trial's lines."""
    mined = trial.mined
    yield (
        f"transaction {mined.hash}, block {mined.block_number} of chain {mined.chain.chain_id} ({mined.chain.name}),"
        f" {len(mined.logs)} logs"
    )
    for launch in trial.launches:
        yield from _launch_lines(launch)
    if trial.calls:
        yield "\ncalls"
        yield from (f"  {call}: {result}" for call, result in trial.calls)
    if trial.unnamed:
        yield "\nlogs of its contracts that no declaration names"
        for unnamed in trial.unnamed:
            tx_hash = unnamed.log["transactionHash"]
            prefix = "" if tx_hash == mined.hash else f"{tx_hash} "
            more = f", and {unnamed.count - 1} more" if unnamed.count > 1 else ""
            yield f"  {prefix}{log_text(unnamed.log)}{more}"
            if unnamed.similar:
                yield f"    {unnamed.similar}"
    if trial.mistakes:
        yield "\ncheck"
        yield from (f"  {mistake}" for mistake in trial.mistakes)


def _launch_lines(tried: TriedLaunch) -> Iterator[str]:
    launch = tried.launch
    yield f"\nlaunch by log {launch.log_index} of {launch.factory}, {tried.key_path}"
    for value in tried.values:
        shown = "missing" if value.value is None else _shown(value.value)
        yield f"  {value.field:{_WIDTH}} {shown}  ({value.origin})"
    for title, logs in (("swaps in its pool", tried.swaps), ("changes and claims", tried.events)):
        if logs:
            yield title
            yield from (f"  {log.tx_hash} log {log.log_index}: {log.text}" for log in logs)


def _shown(value: object) -> str:
    return value if isinstance(value, str) and is_hex(value) else repr(value)
