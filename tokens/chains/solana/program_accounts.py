"""Accounts of Meteora's Dynamic Bonding Curve: account kinds, and their known fields' size. Pure.

The fields follow the eight-byte discriminator without gaps, in the same sequence as in state/virtual_pool.rs and
state/config.rs in https://github.com/MeteoraAg/dynamic-bonding-curve.
"""

import hashlib
from collections.abc import Collection, Mapping
from typing import Any

from tokens.chains.errors import ProgramAccountError
from tokens.chains.solana.borsh import BorshReader
from tokens.chains.solana.program_steps import DISCRIMINATOR_SIZE
from tokens.chains.solana.token_accounts import read_account


def _account_discriminator(name: str) -> bytes:
    return hashlib.sha256(f"account:{name}".encode()).digest()[:DISCRIMINATOR_SIZE]


# Discriminator -> the known fields' size in bytes; the account may be longer. Accounts for mints with a transfer hook
# start alike; their config names the hook.
POOLS = {_account_discriminator("VirtualPool"): 424, _account_discriminator("TransferHookPool"): 424}
CONFIGS = {_account_discriminator("PoolConfig"): 1_048, _account_discriminator("ConfigWithTransferHook"): 1_128}


def account_reader(account: Any, programs: Collection[str], *, sizes: Mapping[bytes, int], kind: str) -> BorshReader:
    """Check an account's kind and return a reader for its bytes, discriminator included.

    Raises ProgramAccountError, and MalformedResponseError for a value that is no account.
    """
    owner, data = read_account(account)
    if owner is None:
        raise ProgramAccountError(f"there is no {kind} at this address")
    if owner not in programs:
        raise ProgramAccountError(f"the account at this address belongs to another program and is no {kind}")
    size = sizes.get(data[:DISCRIMINATOR_SIZE])
    if size is None or len(data) < size:
        raise ProgramAccountError(f"the account is no {kind}, or one of an unknown layout")
    return BorshReader(data)
