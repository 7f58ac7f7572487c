"""Inputs for a call to each operation: examples from the description, and a table of what it can't state.

A parameter or body that neither has is an error that names it.
"""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from development.devchain.anvil import CHAIN_ID, DEPLOYER
from tests.accounts.users.wallets import message, sign
from tests.rows.pictures import encoded, plain_picture

Json = dict[str, Any]
ADMIN = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
OTHER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
FID = 12345


@dataclass
class Facts:
    """Facts about a running service, and earlier calls' bodies by operation.

    `token` is a traded token, `block` its trade's served block, `user` its requestor, and `dropped` the address
    of a token with an airdrop.
    """

    # SITE_URL.
    site: str
    token: Json
    user: Json
    block: int
    dropped: str
    password: str
    answers: dict[str, Json] = field(default_factory=dict)
    # Distinguishes the rows that this client makes.
    mark: str = field(default_factory=lambda: secrets.token_hex(4))


@dataclass(frozen=True)
class Inputs:
    """Path values by name, query values, and the body, a file's bytes; None for none."""

    path: Json
    query: Json
    body: Json | bytes | None


def make_launch_request(**parts: Json) -> Json:
    """Return a deployment body under a new request key, with parts such as an airdrop."""
    token = {"name": "Called", "symbol": "CALL", "tokenAdmin": ADMIN, "requestKey": secrets.token_hex(16)}
    return {"chainId": CHAIN_ID, "token": token} | parts


# Two entries, so that a proof has a hash.
AIRDROP: Json = {"entries": [{"account": ADMIN, "amount": 10**9}, {"account": OTHER, "amount": 10**9}]}
PRESALE: Json = {"minEthGoal": 1, "maxEthGoal": 2, "presaleDuration": 86_400, "allowlist": [ADMIN, OTHER]}


def pretoken(facts: Facts) -> Json:
    admins = [{"admin": ADMIN, "recipient": ADMIN, "bps": 10_000}]
    settings = {"name": "Called", "symbol": "CALL", "admins": admins}
    return {"keyword": f"called{facts.mark}", "chain_id": CHAIN_ID, "token_settings": settings}


def sign_in(facts: Facts) -> Json:
    """Return the message of a wallet with the nonce that was created before, and its signature."""
    nonce = facts.answers["createSignInNonce"]["nonce"]
    text = message(domain=facts.site.partition("://")[2], uri=facts.site, nonce=nonce)
    return {"message": text, "signature": f"0x{sign(text).hex()}"}


# Required parameters by name, or by operation and name; list parameters that keep responses short.
VALUES: Mapping[str, Callable[[Facts], Any]] = {
    "address": lambda facts: facts.token["contract_address"],
    "addresses": lambda facts: [facts.token["contract_address"], facts.dropped],
    "admin": lambda facts: facts.token["admin"],
    "agentId": lambda facts: facts.mark,
    "chainId": lambda facts: CHAIN_ID,
    "buyerAddress": lambda facts: ADMIN,
    "claimerAddress": lambda facts: ADMIN,
    "creator": lambda facts: facts.token["msg_sender"],
    # The development chain is younger.
    "day": lambda facts: "2020-01-01",
    "deleteSavedAllowlist id": lambda facts: str(facts.answers["savePresaleAllowlist"]["id"]),
    "deleteSavedAirdrop id": lambda facts: str(facts.answers["saveAirdrop"]["id"]),
    "deletePretoken id": lambda facts: facts.answers["createPretoken"]["id"],
    "feeRecipient": lambda facts: ADMIN,
    "fid": lambda facts: facts.user["fid"],
    "fids": lambda facts: [facts.user["fid"], FID],
    "fromBlock": lambda facts: facts.block,
    "getAirdropProofs tokenAddress": lambda facts: facts.dropped,
    "getUserByAddress address": lambda facts: facts.user["verifiedAddresses"][0],
    "id": lambda facts: str(facts.answers["createWebhook"]["id"]),
    "interval": lambda facts: "1m",
    "limit": lambda facts: 2,
    "listAirdrops tokenAddress": lambda facts: facts.dropped,
    "listAllocations tokenAddress": lambda facts: facts.dropped,
    "name": lambda facts: facts.user["username"],
    "number": lambda facts: facts.block,
    "poolAddress": lambda facts: facts.token["pool_address"],
    "presaleId": lambda facts: facts.answers["listPresales"]["presales"][0]["presaleId"],
    "recipient": lambda facts: ADMIN,
    "requestKey": lambda facts: facts.answers["deployToken"]["requestKey"],
    "resolution": lambda facts: "1",
    "screenerAsset id": lambda facts: facts.token["contract_address"],
    "screenerPair id": lambda facts: facts.token["pool_address"],
    "searchCreator q": lambda facts: facts.user["username"],
    "symbol": lambda facts: f"{CHAIN_ID}:{facts.token['contract_address']}",
    "to": lambda facts: 2**32,
    "toBlock": lambda facts: facts.block,
    "tokenAddress": lambda facts: facts.token["contract_address"],
    "toolsAsset id": lambda facts: facts.token["contract_address"],
    "toolsHolders id": lambda facts: facts.token["contract_address"],
    "toolsExchange id": lambda facts: facts.token["factory_address"],
    "toolsPair id": lambda facts: facts.token["pool_address"],
}


def wallet(facts: Facts, **fields: Any) -> Json:
    """Return an unsigned transaction's body; the wallet is the token's admin."""
    return {"from": facts.token["admin"], "chainId": CHAIN_ID} | fields


def owned(facts: Facts, **fields: Any) -> Json:
    return wallet(facts, tokenAddress=facts.token["contract_address"], **fields)


def foreign(facts: Facts, **fields: Any) -> Json:
    """Return a body whose wallet owns nothing of the token, which has an airdrop and no vault."""
    return wallet(facts, tokenAddress=facts.dropped, **fields) | {"from": OTHER}


def of_sale(facts: Facts, **fields: Any) -> Json:
    """Return a body with a presale that does not exist: what may be done with one depends on its time."""
    return wallet(facts, presaleId=10**6, **fields)


_HASH = "0x" + "ab" * 32
PREPARED: Mapping[str, Callable[[Facts], Json]] = {
    "prepareLaunch": lambda facts: {"from": ADMIN, **make_launch_request()},
    "prepareSwap": lambda facts: foreign(facts, side="buy", amount=str(10**12)) | {"from": DEPLOYER},
    "prepareCollectRewards": lambda facts: wallet(facts, tokenAddresses=[facts.token["contract_address"]]),
    "prepareClaimFees": lambda facts: wallet(facts, currencies=[facts.dropped]),
    "prepareClaimVault": foreign,
    "prepareUpdateVaultAdmin": lambda facts: foreign(facts, newAdmin=OTHER),
    "prepareClaimAirdrop": lambda facts: owned(facts, amount="1", proof=[]),
    "prepareUpdateAirdropAdmin": lambda facts: foreign(facts, newAdmin=OTHER),
    "prepareUpdateAirdropRoot": lambda facts: foreign(facts, merkleRoot=_HASH),
    "prepareReclaimAirdrop": foreign,
    "prepareUpdateImage": lambda facts: owned(facts, image="https://called.example/a.png"),
    "prepareUpdateMetadata": lambda facts: owned(facts, description=facts.mark),
    "prepareUpdateAdmin": lambda facts: owned(facts, newAdmin=OTHER),
    "prepareVerify": owned,
    "prepareUpdateRewardRecipient": lambda facts: owned(facts, rewardIndex=6, newRecipient=OTHER),
    "prepareUpdateRewardAdmin": lambda facts: owned(facts, rewardIndex=6, newAdmin=OTHER),
    "prepareUpdateFeePreference": lambda facts: owned(facts, rewardIndex=6, rewardsToken="Paired"),
    "preparePresaleBuy": lambda facts: of_sale(facts, amount="1"),
    "preparePresaleClaim": of_sale,
    "preparePresaleWithdraw": lambda facts: of_sale(facts, amount="1"),
    "preparePresaleEnd": lambda facts: of_sale(facts, salt=_HASH),
    "preparePresaleCollect": of_sale,
    "prepareUpdateAllowlistRoot": lambda facts: of_sale(facts, merkleRoot=_HASH),
    "prepareUpdateAllowlistBuyer": lambda facts: of_sale(facts, buyer=OTHER, amount="1"),
    "prepareUpdateAllowlistState": lambda facts: of_sale(facts, enabled=False),
}
# Calls that the contracts accept from any token's admin; the others would be reverted.
SIMULATED = {
    *("prepareLaunch", "prepareCollectRewards", "prepareUpdateImage", "prepareUpdateMetadata", "prepareUpdateAdmin"),
    *("prepareVerify", "prepareSwap"),
}
# Bodies by operation.
BODIES: Mapping[str, Callable[[Facts], Json | bytes]] = {
    "beginAdminSession": lambda facts: {"username": "admin", "password": facts.password},
    "createPretoken": pretoken,
    "createWebhook": lambda facts: {"url": f"https://{facts.mark}.example/", "types": ["token.indexed"]},
    "deployToken": lambda facts: make_launch_request(),
    "deployTokenV4": lambda facts: make_launch_request(),
    "fetchByPoolAddresses": lambda facts: {"poolAddresses": [facts.token["pool_address"]]},
    "indexTokenByAddress": lambda facts: {"address": facts.token["contract_address"], "chainId": CHAIN_ID},
    "indexTransaction": lambda facts: {"txHash": facts.token["tx_hash"], "chainId": CHAIN_ID},
    **PREPARED,
    "replayWebhook": lambda facts: {"afterEventId": 0},
    "reportAgentEvents": lambda facts: {
        "events": [
            {
                "id": f"called{facts.mark}",
                "type": "agent",
                "at": "2026-02-07T12:00:00Z",
                "agentId": facts.mark,
                "creatorFid": FID,
            }
        ]
    },
    "saveAirdrop": lambda facts: AIRDROP,
    "savePresaleAllowlist": lambda facts: {"entries": [{"address": ADMIN, "allowedAmountWei": "1"}]},
    "saveDeployedToken": lambda facts: {
        "address": facts.token["contract_address"],
        "tx_hash": facts.token["tx_hash"],
        "chain_id": CHAIN_ID,
    },
    "signIn": sign_in,
    "uploadMetadata": lambda facts: {"name": "Called", "symbol": "CALL", "description": facts.mark},
    "uploadPicture": lambda facts: encoded(plain_picture()),
    "updateWebhook": lambda facts: {"description": "called"},
}


# Optional parameters that are sent: for lists, and for a lookup that requires one of two.
_GIVEN = ("limit", "number")


def make_inputs(operation: Json, facts: Facts) -> Inputs:
    """Return an operation's inputs. Raises LookupError for what neither it nor the tables have."""
    name = operation["operationId"]
    places: dict[str, Json] = {"path": {}, "query": {}, "header": {}, "cookie": {}}
    for parameter in operation.get("parameters", []):
        if parameter.get("required") or parameter["name"] in _GIVEN:
            places[parameter["in"]][parameter["name"]] = _value(name, parameter, facts)
    return Inputs(path=places["path"], query=places["query"], body=_body(operation, facts))


def _value(name: str, parameter: Json, facts: Facts) -> Any:
    known = VALUES.get(f"{name} {parameter['name']}") or VALUES.get(parameter["name"])
    if known:
        return known(facts)
    examples = [parameter.get("example"), parameter["schema"].get("example"), *parameter["schema"].get("examples", [])]
    found = next((each for each in examples if each is not None), None)
    if found is None:
        raise LookupError(f"{name}: the parameter {parameter['name']} has no example and is not in VALUES")
    return found


def _body(operation: Json, facts: Facts) -> Json | bytes | None:
    if "requestBody" not in operation:
        return None
    if operation["operationId"] in BODIES:
        return BODIES[operation["operationId"]](facts)
    content = operation["requestBody"]["content"]["application/json"]
    examples = [content.get("example"), *(each.get("value") for each in content.get("examples", {}).values())]
    found: Json | None = next((each for each in examples if each is not None), None)
    if found is None:
        raise LookupError(f"{operation['operationId']}: the body has no example and is not in BODIES")
    return found
