"""Quote token facts that a later launch reading may lack: no contract changes its decimals."""

from collections.abc import Iterable
from dataclasses import replace

from tokens.chains.types import Launch
from tokens.models import LaunchFacts, Token
from tokens.models.expressions import equals_any


def lacks_decimals(launch: Launch) -> bool:
    """Return whether the launch has a pool whose quote token's decimals are unknown: its swaps are no trades yet."""
    return launch.pool is not None and bool(launch.pool.address) and launch.pool.pair_decimals is None


def has_decimals(token: Token) -> bool:
    """Return whether the quote token's decimals are stored. Requires the launch's facts."""
    return (token.launch.facts["pool"] or {}).get("pair_decimals") is not None


def complete_from_rows(launches: Iterable[Launch], *, chain_id: int) -> dict[str, Launch]:
    """Return address -> launch, completed with its quote token's stored symbol and decimals if it lacks them.

    A failed call does not refute values that another call returned. At most one query.
    """
    lacking = {launch.token: launch for launch in launches if lacks_decimals(launch)}
    if not lacking:
        return {}
    rows = LaunchFacts.objects.filter(
        equals_any("token__contract_address", lacking),
        token__chain_id=chain_id,
        facts__pool__pair_decimals__isnull=False,
    ).exclude(facts__pool__pair_decimals=None)
    completed = {}
    for address, stored in rows.values_list("token__contract_address", "facts__pool"):
        launch = lacking[address]
        if launch.pool and launch.pool.paired_token == stored["paired_token"]:
            symbol = launch.pool.pair_symbol or stored["pair_symbol"]
            pool = replace(launch.pool, pair_symbol=symbol, pair_decimals=int(stored["pair_decimals"]))
            completed[address] = replace(launch, pool=pool)
    return completed
