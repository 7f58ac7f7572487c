"""Chains for `make run`: the configured chains, or a development chain with its deploy wallet."""

import json
import secrets
import shlex
from collections.abc import Mapping

import requests
from django.conf import settings

from development.devchain import anvil

# Setting that points the processes at the development chain.
DEVELOPMENT_RPC_URLS = f"RPC_URLS_{anvil.CHAIN_ID}"
# The factory's launchpad, and the launchpads in the development chain's own file.
_LAUNCHPADS = ("clanker", "curve", "plain")


def has_development_chain(environment: Mapping[str, str]) -> bool:
    """Return whether these settings have the development chain that this run started."""
    return not evm_chain_ids() and DEVELOPMENT_RPC_URLS in environment


def evm_chain_ids() -> list[int]:
    """Return the configured EVM chains: Solana runs beside a development chain as beside real ones."""
    return [chain_id for chain_id in settings.RPC_URLS if chain_id != settings.SOLANA_CHAIN_ID]


def chain_ids(environment: Mapping[str, str]) -> list[int]:
    """Return the chains that have a node, the development chain first."""
    return [*([anvil.CHAIN_ID] if has_development_chain(environment) else []), *settings.RPC_URLS]


def chains_greeting(environment: Mapping[str, str], address: str) -> str:
    """Return the greeting's lines about chains, for a service at this address."""
    followed = " ".join(f"{address}/readyz?chain={chain_id}" for chain_id in chain_ids(environment))
    return f"""  Chains            {_describe(environment)}
  Followed so far   {followed or "none"}"""


def find_tokens(address: str) -> list[str]:
    """Return the newest development chain token that the service at `address` lists, or no token."""
    try:
        page = requests.get(f"{address}/api/tokens", params={"chainId": anvil.CHAIN_ID, "limit": 1}, timeout=5).json()
    except requests.RequestException:
        return []
    return [token["contract_address"] for token in page["data"]]


def market_greeting(address: str, *, token: str) -> str:
    """Return shell commands for market data about a development chain token, and about all tokens."""
    path = f"{address}/api/tokens/{anvil.CHAIN_ID}/{token}"
    return f"""  Trades            curl {shlex.quote(f"{path}/trades")}
  Candles           curl {shlex.quote(f"{path}/candles?interval=1m")}
  Trending          curl {shlex.quote(f"{address}/api/tokens/trending?chainId={anvil.CHAIN_ID}")}
"""


def launchpad_settings() -> dict[str, str]:
    """Return the setting that indexes all the development chain's launchpads; empty if the operator has set it."""
    return {} if anvil.CHAIN_ID in settings.LAUNCHPADS else {f"LAUNCHPADS_{anvil.CHAIN_ID}": ",".join(_LAUNCHPADS)}


def deployer_settings() -> dict[str, str]:
    """Return the settings for signing on the development chain; empty if the operator has set other signers."""
    signers = (settings.DEPLOYER_KEYS, settings.DEPLOYER_KEYSTORES, settings.DEPLOYER_REMOTE)
    return (
        {}
        if any(anvil.CHAIN_ID in signer for signer in signers)
        else {f"DEPLOYER_KEYS_{anvil.CHAIN_ID}": anvil.DEPLOYER_KEY}
    )


def deploy_greeting(address: str, *, partner_key: str) -> str:
    """Return two shell commands: the first launches a token and is safe to repeat, the second queries its status."""
    # Pasting a command twice returns the same deployment; each service start prints another key.
    request_key = secrets.token_hex(16)
    token = {"name": "My token", "symbol": "MINE", "tokenAdmin": anvil.DEPLOYER, "requestKey": request_key}
    body = json.dumps({"chainId": anvil.CHAIN_ID, "token": token})
    header = f"-H {shlex.quote(f'x-api-key: {partner_key}')}"
    status = shlex.quote(f"{address}/api/tokens/deploy/status/{request_key}")
    return f"""  Deploy a token    curl {shlex.quote(f"{address}/api/tokens/deploy")} {header} \\
                      -H 'content-type: application/json' -d {shlex.quote(body)}
  What became of it curl {status} {header}
"""


def _describe(environment: Mapping[str, str]) -> str:
    evm = evm_chain_ids()
    chains = ["chain " + ", ".join(map(str, evm))] if evm else []
    if settings.SOLANA_CHAIN_ID in settings.RPC_URLS:
        chains.append(f"Solana as chain {settings.SOLANA_CHAIN_ID}")
    if has_development_chain(environment):
        samples = (
            f"a launch every {settings.LAUNCH_EVERY_SECONDS:g} s, a trade every {settings.TRADE_EVERY_SECONDS:g} s"
        )
        chains.append(f"development chain {anvil.CHAIN_ID} at {environment[DEVELOPMENT_RPC_URLS]}, {samples}")
    return "; ".join(chains) or (
        "none: install Node 20 and `make run` again for a development chain,\n"
        "                  or set RPC_URLS_<chainId>, such as RPC_URLS_8453=https://..."
    )
