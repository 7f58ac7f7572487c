"""Checks of the chain registry and the nodes, which run before anything else starts."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from eth_utils.address import is_checksum_address

from tokens.chains.evm.transactions.keystores import read_keystore
from tokens.chains.registry.chains import RegistryError
from tokens.chains.types import SignerRefused
from tokens.installation.installed_chains import registry

# Of a chain's own settings, those that mean something on Solana, too.
_ALSO_OF_SOLANA = ("FOLLOW_FROM",)


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
    kinds: dict[str, Iterable[int]] = {"RPC_WS_URL": settings.RPC_WS_URLS, "FOLLOW_FROM": settings.FOLLOW_FROM}
    lonely = [Warning(text, id="tokens.W002") for text in _without_use(kinds, otherwise="the chain is not followed")]
    lonely += _check_solana()
    if settings.FOLLOW_RANGE_BLOCKS <= settings.FOLLOW_LONGEST_RANGE_BLOCKS:
        return [*lonely]
    return [
        *lonely,
        Error("FOLLOW_RANGE_BLOCKS is larger than FOLLOW_LONGEST_RANGE_BLOCKS, which is the most.", id="tokens.E003"),
    ]


def _check_solana() -> Iterator[Warning]:
    try:
        solana = registry().solana
    except RegistryError:
        # `check_chains` tells.
        return
    if solana.chain_id in settings.RPC_URLS and not (
        solana.addresses("launch_config") or solana.addresses("launch_creator")
    ):
        yield Warning(
            f"RPC_URLS_{solana.chain_id} is set, and no launch_config or launch_creator: nothing of Solana is indexed.",
            hint="Name the launchpad's accounts in the file that CHAINS_FILE names; docs/chains.md says how.",
            id="tokens.W004",
        )


def check_signers(**_: Any) -> list[CheckMessage]:
    """Settings by which nobody could sign deployments.

    Key files are read and not opened, which takes a second or more for each: whether the password fits is seen when the
    first deployment needs it, and said in the log.
    """
    kinds: dict[str, Iterable[int]] = {
        "DEPLOYER_KEYS": settings.DEPLOYER_KEYS,
        "DEPLOYER_KEYSTORES": settings.DEPLOYER_KEYSTORES,
        "DEPLOYER_REMOTE": settings.DEPLOYER_REMOTE,
    }
    lonely = [Warning(text, id="tokens.W003") for text in _without_use(kinds, otherwise="nothing is sent there")]
    return [*lonely, *_check_keystores(), *_check_remote_signer()]


def _without_use(kinds: Mapping[str, Iterable[int]], *, otherwise: str) -> Iterator[str]:
    """What is to be said of settings of EVM chains, by name and chain, that have no node or name Solana."""
    for name, chains in kinds.items():
        for chain_id in chains:
            if chain_id == settings.SOLANA_CHAIN_ID and name not in _ALSO_OF_SOLANA:
                yield f"{name}_{chain_id} is set, and chain {chain_id} is Solana: it means nothing there."
            elif chain_id not in settings.RPC_URLS:
                yield f"{name}_{chain_id} is set, and RPC_URLS_{chain_id} is not: {otherwise}."


def _check_keystores() -> Iterator[CheckMessage]:
    for chain_id, paths in settings.DEPLOYER_KEYSTORES.items():
        for place, path in enumerate(paths, 1):
            try:
                read_keystore(path)
            except SignerRefused as error:
                yield Error(f"DEPLOYER_KEYSTORES_{chain_id}, file {place}: {error}", id="tokens.E004")
    if settings.DEPLOYER_KEYSTORES and not settings.DEPLOYER_KEYSTORE_PASSWORD:
        yield Error("There are DEPLOYER_KEYSTORES, and no DEPLOYER_KEYSTORE_PASSWORD.", id="tokens.E005")


def _check_remote_signer() -> Iterator[CheckMessage]:
    for chain_id, addresses in settings.DEPLOYER_REMOTE.items():
        for address in addresses:
            digits = address[2:]
            if digits not in (digits.lower(), digits.upper()) and not is_checksum_address(address):
                yield Error(
                    f"DEPLOYER_REMOTE_{chain_id} has an address with a wrong checksum: {address}", id="tokens.E006"
                )
    if settings.DEPLOYER_REMOTE and not settings.DEPLOYER_SIGNER_URL:
        yield Error("There are addresses in DEPLOYER_REMOTE, and no DEPLOYER_SIGNER_URL.", id="tokens.E007")


def check_nodes(**_: Any) -> list[CheckMessage]:
    """For `check --deploy`: what works is no reason for every command to speak."""
    if settings.RPC_URLS:
        return []
    return [Warning("No RPC_URLS_<chainId> is set: nothing can be indexed.", id="tokens.W001")]
