"""Attacks on the endpoints for wallets, which call a node for anyone: unsigned transactions and sign-ins."""

import json
from datetime import UTC, datetime

from eth_abi.abi import encode

from benchmarks.attacks.target import WALLET, Target
from development.devchain.anvil import CHAIN_ID

_AT_ONCE = 16
# As many as a body of 64 KiB may have.
_ENTRIES = 850
# MAX_TOKENS in tokens/transactions/action_fields.py.
_LONGEST = 10
# Hex digits of the longest signature that is taken.
_SIGNATURE_DIGITS = 10_000
_WRAPPER_END = "6492" * 16
# The precompiled contract for Blake2, which takes one unit of gas per round, and this many of the call's two million.
_BLAKE2, _ROUNDS = f"0x{9:040x}", 1_500_000


def simulate_from_many_addresses(target: Target) -> None:
    """Prepare transactions without a key, each from another address, 64 a second."""
    target.repeat(lambda number: target.collect_rewards(source=_address(number)), at_once=_AT_ONCE)


def simulate_by_one_key(target: Target) -> None:
    """Prepare transactions with the partner key, from one address, 64 a second."""
    target.repeat(lambda _: target.collect_rewards(key=target.key), at_once=_AT_ONCE)


def simulate_by_one_key_from_many_addresses(target: Target) -> None:
    """Prepare transactions with the partner key, each from another address, 64 a second."""
    target.repeat(lambda number: target.collect_rewards(key=target.key, source=_address(number)), at_once=_AT_ONCE)


def simulate_longest_lists(target: Target) -> None:
    """Prepare claims with the longest lists, and swaps with four node calls, each from another address."""
    wallet = {"from": WALLET, "chainId": CHAIN_ID}
    claim = wallet | {"tokenAddresses": target.tokens[:_LONGEST], "currencies": target.tokens[:_LONGEST]}
    swap = wallet | {"tokenAddress": target.tokens[0], "side": "buy", "exact": "out", "amount": str(10**18)}
    acts = (
        lambda source: target.post_json("/api/transactions/claim-fees", claim, source=source),
        lambda source: target.collect_rewards(tokens=_LONGEST, source=source),
        lambda source: target.post_json("/api/transactions/swap", swap, source=source),
    )
    target.repeat(lambda number: acts[number % len(acts)](_address(number)), at_once=_AT_ONCE)


def prepare_longest_launches(target: Target) -> None:
    """Prepare launches with 850 airdrop entries, half of them with the partner key, each from another address."""
    entries = [{"account": f"0x{number + 1:040x}", "amount": 100_000} for number in range(_ENTRIES)]
    token = {"name": "Big", "symbol": "BIG", "tokenAdmin": WALLET, "requestKey": "a" * 32}
    airdrop = {"entries": entries, "lockupDuration": 86_400}
    body = {"from": WALLET, "chainId": CHAIN_ID, "token": token, "airdrop": airdrop}
    encoded = json.dumps(body, separators=(",", ":")).encode()
    keys = ("", target.key)
    target.repeat(
        lambda number: target.post_json(
            "/api/transactions/launch", encoded, key=keys[number % 2], source=_address(number)
        ),
        at_once=8,
    )


def sign_in_from_many_addresses(target: Target) -> None:
    """Use up nonces with the longest signatures of contracts that are not deployed, each from another address."""
    call = _ROUNDS.to_bytes(4) + bytes(208) + b"\1"
    frame = len(encode(["address", "bytes", "bytes"], [_BLAKE2, call, b""])) + len(_WRAPPER_END) // 2
    inner = bytes((_SIGNATURE_DIGITS // 2 - frame) // 32 * 32)
    signature = f"0x{encode(['address', 'bytes', 'bytes'], [_BLAKE2, call, inner]).hex()}{_WRAPPER_END}"

    def sign_in(number: int) -> None:
        source = _address(number)
        answer = target.request("POST", "/api/sign-in/nonce", source=source)
        nonce = json.loads(answer.partition(b"\r\n\r\n")[2])["nonce"]
        target.post_json("/api/sign-in", {"message": _message(target, nonce), "signature": signature}, source=source)

    target.repeat(sign_in, at_once=_AT_ONCE)


def request_nonces(target: Target) -> None:
    """Request nonces, each from another address, 64 a second."""
    target.repeat(
        lambda number: target.request("POST", "/api/sign-in/nonce", source=_address(number)), at_once=_AT_ONCE
    )


def _address(number: int) -> str:
    """Return one of 250,000 loopback addresses that are neither the attacker's nor the bystander's."""
    return f"127.{3 + number // 50_000 % 5}.{number // 250 % 200}.{number % 250 + 1}"


def _message(target: Target, nonce: str) -> str:
    site = f"{target.host}:{target.port}"
    return "\n".join(
        [
            f"{site} wants you to sign in with your Ethereum account:",
            f"0x{'11' * 20}",
            "",
            "",
            f"URI: http://{site}",
            "Version: 1",
            f"Chain ID: {CHAIN_ID}",
            f"Nonce: {nonce}",
            f"Issued At: {datetime.now(UTC).isoformat(timespec='seconds').replace('+00:00', 'Z')}",
        ]
    )
