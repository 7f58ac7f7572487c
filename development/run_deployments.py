"""Deploying on the development chain of `make run`: the wallet, and an example to paste."""

import json
import secrets
import shlex

from django.conf import settings

from development.devchain import anvil

_CHAIN = anvil.CHAIN_ID


def environment() -> dict[str, str]:
    """The settings by which deployments are signed on our development chain; empty where others are set for it."""
    signers = (settings.DEPLOYER_KEYS, settings.DEPLOYER_KEYSTORES, settings.DEPLOYER_REMOTE)
    return {} if any(_CHAIN in signer for signer in signers) else {f"DEPLOYER_KEYS_{_CHAIN}": anvil.DEPLOYER_KEY}


def greet(address: str, *, partner_key: str) -> str:
    """Two commands for a shell: one that launches a token, however often it is pasted, and one that tells of it."""
    # Whoever pastes it twice gets the same answer twice; another start of the service has another key.
    request_key = secrets.token_hex(16)
    token = {"name": "My token", "symbol": "MINE", "tokenAdmin": anvil.DEPLOYER, "requestKey": request_key}
    body = json.dumps({"chainId": _CHAIN, "token": token})
    header = f"-H {shlex.quote(f'x-api-key: {partner_key}')}"
    status = shlex.quote(f"{address}/api/tokens/deploy/status/{request_key}")
    return f"""  Deploy a token    curl {shlex.quote(f"{address}/api/tokens/deploy")} {header} \\
                      -H 'content-type: application/json' -d {shlex.quote(body)}
  What became of it curl {status} {header}
"""
