"""Which chains `make run` has: those of the settings, and a development chain where these name no EVM chain's node."""

from collections.abc import Mapping

from django.conf import settings

from development.devchain import anvil

# By which setting the processes know the development chain.
OUR_URLS = f"RPC_URLS_{anvil.CHAIN_ID}"


def has_ours(environment: Mapping[str, str]) -> bool:
    """Whether the processes with these settings have the development chain that this run started."""
    return not evm_chain_ids() and OUR_URLS in environment


def evm_chain_ids() -> list[int]:
    """Those of the settings: Solana goes on beside a development chain as it does beside real ones."""
    return [chain_id for chain_id in settings.RPC_URLS if chain_id != settings.SOLANA_CHAIN_ID]


def chain_ids(environment: Mapping[str, str]) -> list[int]:
    """The chains that have a node, ours first."""
    return [*([anvil.CHAIN_ID] if has_ours(environment) else []), *settings.RPC_URLS]


def greet(environment: Mapping[str, str], address: str) -> str:
    """The greeting's lines about chains, of a service at this address."""
    followed = " ".join(f"{address}/readyz?chain={chain_id}" for chain_id in chain_ids(environment))
    return f"""  Chains            {_describe(environment)}
  Followed so far   {followed or "none"}"""


def _describe(environment: Mapping[str, str]) -> str:
    evm = evm_chain_ids()
    chains = ["chain " + ", ".join(map(str, evm))] if evm else []
    if settings.SOLANA_CHAIN_ID in settings.RPC_URLS:
        chains.append(f"Solana as chain {settings.SOLANA_CHAIN_ID}")
    if has_ours(environment):
        every = environment["LAUNCH_EVERY_SECONDS"].removesuffix(".0")
        chains.append(f"development chain {anvil.CHAIN_ID} at {environment[OUR_URLS]}, a launch every {every} s")
    return "; ".join(chains) or (
        "none: install Node 20 and `make run` again for a development chain,\n"
        "                  or set RPC_URLS_<chainId>, such as RPC_URLS_8453=https://..."
    )
