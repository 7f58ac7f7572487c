"""Tokens that trade benchmarks run on: launched on Base into v4 pools with wrapped ether, in both currency orders.

They are numbered from 1 on: the number is the row's id, in the token's address, and at the end of its pool's id.
"""

import hashlib
from datetime import datetime

from benchmarks.lists import dataset

CHAIN_ID = 8453
WETH = "0x4200000000000000000000000000000000000006"
SUPPLY = 10**29
# The range for all liquidity, as if the token were currency 0; and the liquidity that is the supply there.
LOWER_TICK, UPPER_TICK = -230_400, -120_000
LIQUIDITY = 10**24

_LOAD = f"""
INSERT INTO tokens_token (
    id, chain_id, contract_address, generation, unindexed, tx_hash, log_index, block_number, block_hash, created_at,
    last_indexed, deployed_at, name, symbol, description, img_url, supply, admin, msg_sender, requestor_address,
    cast_hash, pool_address, paired_token, pair, factory_address, locker_address, position_id, presale_id, metadata,
    social_context, deploy_config, pool_config, extensions, launch_warnings, copy_key, champagne, verified,
    known_interface_deployer, blocked
)
OVERRIDING SYSTEM VALUE
SELECT n, {CHAIN_ID}, '0x' || CASE WHEN n %% 2 = 0 THEN 1 ELSE 5 END || lpad(n::text, 39, '0'), 'v4', false,
    '0x' || md5('launch ' || n) || md5(n::text), 0, 0, '0x' || repeat('ab', 32), now(),
    now(), %(launched_at)s, 'Traded ' || n, 'T' || n, '', '', {SUPPLY}, '', '', '', '',
    '0x' || md5('pool ' || n) || lpad(to_hex(n), 32, '0'), '{WETH}', 'WETH', '',
    '0x63D2DfEA64b3433F4071A98665bcD7Ca14d93496', '', '',
    '{{"auditUrls": [], "socialMediaUrls": []}}', '{{}}', '{{}}', '{{}}', '[]', '{{}}', '', false, false, false, false
FROM generate_series(1, %(count)s) AS n
"""
_LOAD_FACTS = f"""
INSERT INTO tokens_launchfacts (token_id, facts)
SELECT id, '{{"pool": {{"pair_decimals": 18, "tick": {LOWER_TICK}}}}}' FROM tokens_token
"""
_LOAD_LIQUIDITY = f"""
INSERT INTO tokens_poolliquiditychange (token_id, position, at, tick_lower, tick_upper, liquidity)
SELECT id, 0, deployed_at, CASE WHEN id % 2 = 0 THEN {LOWER_TICK} ELSE {-UPPER_TICK} END,
    CASE WHEN id % 2 = 0 THEN {UPPER_TICK} ELSE {-LOWER_TICK} END, {LIQUIDITY}
FROM tokens_token
"""


def pool_id(number: int) -> str:
    """Return the id of a token's pool, in which even tokens are currency 0."""
    return f"0x{hashlib.md5(b'pool %d' % number, usedforsecurity=False).hexdigest()}{number:032x}"


def address(number: int) -> str:
    """Return a token's address: digits, which have no upper case."""
    return f"0x{1 if number % 2 == 0 else 5}{number:039d}"


def make_database(database: str, *, count: int, launched_at: datetime) -> None:
    """Recreate a database with so many tokens, all launched at one time, and no trades."""
    dataset.make_migrated(database)
    with dataset.connect(database) as connection:
        connection.execute(_LOAD, {"count": count, "launched_at": launched_at})
        for statement in (_LOAD_FACTS, _LOAD_LIQUIDITY, "VACUUM (ANALYZE)"):
            connection.execute(statement)
