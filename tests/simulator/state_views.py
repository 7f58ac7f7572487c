"""Return values from launched contracts' views of their changing state, derived from a block's truth."""

from functools import lru_cache
from typing import Any

from eth_utils.crypto import keccak

from tests.nodes.log_encoding import encode_values
from tests.simulator import addresses
from tests.simulator.chain import Block, truth_of
from tests.simulator.declared_launches import LAUNCHPAD
from tests.simulator.truth import TokenTruth, Truth

_PREFERENCES = ("Both", "Paired", "Clanker")
_REWARDS = ("(address,(address,address,uint24,int24,address),uint256,uint256,uint16[],address[],address[])",)
_V31_REWARDS = ("uint256", "uint256", "(address,address)", "(address,address)")
_ZERO = "0x" + "00" * 20
_FUNCTIONS = {
    "0x" + keccak(text=signature)[:4].hex(): signature
    for signature in (
        "admin()",
        "imageUrl()",
        "metadata()",
        "isVerified()",
        "tokenRewards(address)",
        "tokenRewards(uint256)",
        "feePreferences(address,uint256)",
        "airdrops(address)",
    )
}


def call_state(blocks: tuple[Block, ...], *, to: str, data: str) -> bytes | None:
    """Return a view's value as of the last block's end; None where the contract has no such view."""
    function = _FUNCTIONS.get(data[:10])
    if function is None:
        return None
    tokens = {address.lower(): token for address, token in _truth(blocks).tokens.items()}
    if function in _OF_TOKEN:
        return _of_token(tokens.get(to.lower()), function)
    words = [data[place : place + 64] for place in range(10, len(data), 64)]
    token = tokens.get("0x" + words[0][24:])
    if function == "airdrops(address)":
        return _airdrop(token, contract=to)
    if function == "tokenRewards(uint256)":
        of_position = (token for token in tokens.values() if token.columns["position_id"] == str(int(words[0], 16)))
        return _v31_rewards(next(of_position, None), contract=to)
    if token is None or token.columns["generation"] != "v4" or token.columns["locker_address"].lower() != to.lower():
        return None
    return _rewards(token) if function == "tokenRewards(address)" else _preference(token, int(words[1], 16))


@lru_cache(maxsize=64)
def _truth(blocks: tuple[Block, ...]) -> Truth:
    return truth_of(blocks)


_OF_TOKEN = {"admin()": "address", "imageUrl()": "string", "metadata()": "string", "isVerified()": "bool"}


def _of_token(token: TokenTruth | None, function: str) -> bytes | None:
    if token is None or token.columns["generation"] in ("v0", LAUNCHPAD):
        return None
    columns = token.columns
    values: dict[str, Any] = {
        "admin()": columns["admin"],
        "imageUrl()": columns["img_url"],
        # Any text that is no JSON is a description.
        "metadata()": columns["description"],
        "isVerified()": columns["verified_on_chain"],
    }
    return encode_values((_OF_TOKEN[function],), (values[function],))


def _rewards(token: TokenTruth) -> bytes:
    shares = token.shares
    key = (token.address, token.columns["paired_token"], 0x800000, 200, _ZERO)
    admins, recipients = [share.admin for share in shares], [share.recipient for share in shares]
    info = (token.address, key, 1, 1, [share.bps for share in shares], admins, recipients)
    return encode_values(_REWARDS, (info,))


def _v31_rewards(token: TokenTruth | None, *, contract: str) -> bytes | None:
    """Return an LP NFT's entry, which is empty where v3.1's locker holds no such NFT."""
    if contract.lower() != addresses.LOCKER_V31.lower():
        return None
    if token is None or token.columns["generation"] != "v3.1":
        return encode_values(_V31_REWARDS, (0, 0, (_ZERO, _ZERO), (_ZERO, _ZERO)))
    creator, interface = ((share.admin, share.recipient) for share in token.shares)
    percent = token.shares[0].bps // 100
    return encode_values(_V31_REWARDS, (int(token.columns["position_id"]), percent, creator, interface))


def _preference(token: TokenTruth, index: int) -> bytes | None:
    if token.columns["locker_address"] not in addresses.LOCKERS_WITH_PREFERENCES or index >= len(token.shares):
        return None
    return encode_values(("uint8",), (_PREFERENCES.index(token.shares[index].wants),))


def _airdrop(token: TokenTruth | None, *, contract: str) -> bytes:
    """Return the newer contract's entry, which is empty for other tokens; the older one has none here."""
    airdrop = token and token.extensions["airdrop"]
    is_here = airdrop and airdrop["admin"] and contract == addresses.AIRDROPS[0]
    admin, root, amount = (airdrop["admin"], airdrop["merkleRoot"], airdrop["amount"]) if is_here else (_ZERO, "0x", 0)
    root_bytes = bytes.fromhex(root[2:]).rjust(32, b"\0")
    values = (admin, root_bytes, int(amount), 0, 0, 0, 0, False)
    return encode_values(("address", "bytes32", "uint256", "uint256", "uint256", "uint256", "uint256", "bool"), values)
