"""Checks of the chain registry and the nodes, which run before anything else starts."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning

from tokens.chains.registry import RegistryError
from tokens.installed_chains import registry


def check_chains(**_: Any) -> list[CheckMessage]:
    """Every mistake in the registry files, and every RPC_URLS_<chainId> of a chain that no file describes."""
    try:
        chains = registry().chains
    except RegistryError as error:
        return [Error(f"CHAINS_FILE: {mistake}", id="tokens.E001") for mistake in error.mistakes]
    return [
        Error(
            f"RPC_URLS_{chain_id} is set, and chain {chain_id} is not in the registry.",
            hint="Describe the chain in the file that CHAINS_FILE names; docs/chains.md says how.",
            id="tokens.E002",
        )
        for chain_id in settings.RPC_URLS
        if chain_id not in chains
    ]


def check_following(**_: Any) -> list[CheckMessage]:
    """Settings of following that can't mean what they say."""
    lonely = [
        Warning(
            f"{name}_{chain_id} is set, and RPC_URLS_{chain_id} is not: the chain is not followed.", id="tokens.W002"
        )
        for name, chains in (("RPC_WS_URL", settings.RPC_WS_URLS), ("FOLLOW_FROM", settings.FOLLOW_FROM))
        for chain_id in chains
        if chain_id not in settings.RPC_URLS
    ]
    if settings.FOLLOW_RANGE_BLOCKS <= settings.FOLLOW_LONGEST_RANGE_BLOCKS:
        return [*lonely]
    return [
        *lonely,
        Error("FOLLOW_RANGE_BLOCKS is larger than FOLLOW_LONGEST_RANGE_BLOCKS, which is the most.", id="tokens.E003"),
    ]


def check_nodes(**_: Any) -> list[CheckMessage]:
    """For `check --deploy`: what works is no reason for every command to speak."""
    if settings.RPC_URLS:
        return []
    return [Warning("No RPC_URLS_<chainId> is set: nothing can be indexed.", id="tokens.W001")]
