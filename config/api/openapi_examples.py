"""Examples for the API description, which Swagger UI fills in and the Postman collection sends.

A test calls each operation with its examples on a service that reads Base: none is refused as invalid.
"""

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

_CHAIN_ID = 8453
_LAUNCHED = "0x60541C4871bf12291a75a7C91581A3d6822c4b07"
_POOL = "0x0D4691aaa8877d981930aa81313384bB3d274F3d"
_FACTORY = "0x2A787b2362021cC3eEa3C24C4748a6cD5B687382"
_TRANSACTION = "0xf9caf2f5eff9f20499fba4ab0fab6659df74f6291955f11c5e97cccf35426a57"
_ADMIN = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
_RECIPIENT = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
_REQUEST_KEY = "5b3a51c04fda4d3ea6f1f1b2f7a0c9d4"
_FID = 12345

# Required parameters by name, or by operation and name; the latter also if an operation requires one of several.
PARAMETERS: Mapping[str, Any] = {
    "address": _LAUNCHED,
    "addresses": [_LAUNCHED],
    "agentId": "alice-bot",
    "admin": _ADMIN,
    "buyerAddress": _ADMIN,
    "chainId": _CHAIN_ID,
    "claimerAddress": _ADMIN,
    "creator": _ADMIN,
    "day": "2026-01-05",
    "deletePretoken id": "0f8fad5b-d9cb-469f-a165-70867728950e",
    "feeRecipient": _ADMIN,
    "fid": _FID,
    "fids": [_FID],
    "fromBlock": 30_000_000,
    "getUserByAddress address": _ADMIN,
    "id": "1",
    "name": "alice",
    "poolAddress": _POOL,
    "presaleId": 1,
    "q": "alice",
    "requestKey": _REQUEST_KEY,
    "resolution": "60",
    "screenerAsset id": _LAUNCHED,
    "screenerPair id": _POOL,
    "symbol": f"{_CHAIN_ID}:{_LAUNCHED}",
    # 2026-01-05.
    "to": 1_767_571_200,
    "toBlock": 30_000_099,
    "tokenAddress": _LAUNCHED,
    "toolsAsset id": _LAUNCHED,
    # Or a timestamp.
    "toolsBlock number": 30_000_000,
    "toolsExchange id": _FACTORY,
    "toolsHolders id": _LAUNCHED,
    "toolsPair id": _POOL,
}
# Only simulated, so that an example spends no gas.
_LAUNCH: Json = {
    "chainId": _CHAIN_ID,
    "dryRun": True,
    "token": {"name": "Example", "symbol": "EXMPL", "tokenAdmin": _ADMIN, "requestKey": _REQUEST_KEY},
}
_WALLET: Json = {"from": _ADMIN, "chainId": _CHAIN_ID}
_OWNED: Json = _WALLET | {"tokenAddress": _LAUNCHED}
_OWNED_V4: Json = _WALLET | {"tokenAddress": "0x5d1f0A6E2B7C4F93A8E06B1dc92f7e34a60b4b07"}
_SALE: Json = _WALLET | {"presaleId": 1}
_HASH = "0x" + "ab" * 32
# Unsigned transactions, which are never sent.
_PREPARED: Mapping[str, Json] = {
    "prepareLaunch": {"from": _ADMIN, **{name: part for name, part in _LAUNCH.items() if name != "dryRun"}},
    "prepareSwap": _OWNED | {"side": "buy", "amount": "10000000000000000"},
    "prepareCollectRewards": _WALLET | {"tokenAddresses": [_LAUNCHED]},
    "prepareClaimFees": _WALLET | {"currencies": [_LAUNCHED]},
    "prepareClaimVault": _OWNED | {"amount": "1000000000000000000", "recipient": _ADMIN},
    "prepareUpdateVaultAdmin": _OWNED | {"newAdmin": _RECIPIENT},
    "prepareClaimAirdrop": _OWNED_V4 | {"account": _ADMIN},
    "prepareUpdateAirdropAdmin": _OWNED_V4 | {"newAdmin": _RECIPIENT},
    "prepareUpdateAirdropRoot": _OWNED_V4 | {"merkleRoot": _HASH},
    "prepareReclaimAirdrop": _OWNED_V4 | {"recipient": _RECIPIENT},
    "prepareUpdateImage": _OWNED | {"image": "https://example.com/token.png"},
    "prepareUpdateMetadata": _OWNED | {"description": "An example of a token."},
    "prepareUpdateAdmin": _OWNED_V4 | {"newAdmin": _RECIPIENT},
    "prepareVerify": _OWNED,
    "prepareUpdateRewardRecipient": _OWNED | {"rewardIndex": 0, "newRecipient": _RECIPIENT},
    "prepareUpdateRewardAdmin": _OWNED | {"rewardIndex": 0, "newAdmin": _RECIPIENT},
    "prepareUpdateFeePreference": _OWNED_V4 | {"rewardIndex": 0, "rewardsToken": "Paired"},
    "preparePresaleBuy": _SALE | {"amount": "1000000000000000000"},
    "preparePresaleClaim": _SALE,
    "preparePresaleWithdraw": _SALE | {"amount": "1000000000000000000"},
    "preparePresaleEnd": _SALE | {"salt": _HASH},
    "preparePresaleCollect": _SALE | {"recipient": _RECIPIENT},
    "prepareUpdateAllowlistRoot": _SALE | {"merkleRoot": _HASH},
    "prepareUpdateAllowlistBuyer": _SALE | {"buyer": _RECIPIENT, "amount": "1000000000000000000"},
    "prepareUpdateAllowlistState": _SALE | {"enabled": False},
}
_SIGN_IN = f"""example.org wants you to sign in with your Ethereum account:
{_ADMIN}


URI: https://example.org
Version: 1
Chain ID: {_CHAIN_ID}
Nonce: 4f1c1b9e0d7a43b2a6c85d3e2f9b7a10
Issued At: 2026-01-05T12:00:00.000Z"""
# Bodies by operation.
BODIES: Mapping[str, Json] = {
    "beginAdminSession": {"username": "ada", "password": "correct horse battery staple"},
    "createPretoken": {
        "keyword": "example",
        "chain_id": _CHAIN_ID,
        "token_settings": {
            "name": "Example",
            "symbol": "EXMPL",
            "admins": [{"admin": _ADMIN, "recipient": _ADMIN, "bps": 10_000}],
        },
    },
    "createWebhook": {
        "url": "https://hooks.example/launchboard",
        "types": ["token.indexed"],
        "chainIds": [_CHAIN_ID],
    },
    "deployToken": _LAUNCH,
    "deployTokenV4": _LAUNCH,
    "fetchByPoolAddresses": {"poolAddresses": [_POOL]},
    "indexTokenByAddress": {"address": _LAUNCHED, "chainId": _CHAIN_ID},
    "indexTransaction": {"txHash": _TRANSACTION, "chainId": _CHAIN_ID},
    **_PREPARED,
    "replayWebhook": {"eventId": 1},
    "reportAgentEvents": {
        "events": [{"id": "agent-1", "type": "agent", "at": "2026-01-05T12:00:00Z", "agentId": "alice-bot"}]
    },
    "saveAirdrop": {"entries": [{"account": _ADMIN, "amount": 1000}, {"account": _RECIPIENT, "amount": 500}]},
    "savePresaleAllowlist": {"entries": [{"address": _ADMIN, "allowedAmountWei": "1000000000000000000"}]},
    "saveDeployedToken": {"address": _LAUNCHED, "tx_hash": _TRANSACTION, "chain_id": _CHAIN_ID},
    "signIn": {"message": _SIGN_IN, "signature": "0x" + "00" * 65},
    "updateWebhook": {"description": "New tokens", "enabled": True},
    "uploadMetadata": {"name": "Example", "symbol": "EXMPL", "description": "An example of a token."},
}


def add_examples(result: Json, generator: Any, request: Any, public: bool) -> Json:
    """Add the examples to the description's bodies, and to the parameters that calls need.

    Other parameters have none: Swagger UI would send them.
    """
    for operations in result.get("paths", {}).values():
        for operation in operations.values():
            name = operation["operationId"]
            for parameter in operation.get("parameters", []):
                keys = [f"{name} {parameter['name']}", *([parameter["name"]] if parameter.get("required") else [])]
                examples = [PARAMETERS[key] for key in keys if key in PARAMETERS]
                if examples:
                    parameter["example"] = examples[0]
            if name in BODIES and "requestBody" in operation:
                operation["requestBody"]["content"]["application/json"]["example"] = BODIES[name]
    return result
