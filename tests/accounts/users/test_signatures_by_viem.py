"""Sign-ins decided by this service and by the library `viem`, on the development chain."""

import json
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from config.environment.issuers import read_issuers
from tests.accounts.users import wallets
from tests.accounts.users.wallets import KEY, OTHER_KEY, SITE, Account, message, new_nonce, post_sign_in, sign, wrapped
from tests.clients.typescript_package import SOURCE, find_node

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

# Decides each JSON line from standard input, and prints true, false or the error's name.
_VIEM = """
import { createInterface } from "node:readline";
import { createPublicClient, http } from "viem";
const client = createPublicClient({ transport: http(process.argv.at(-1), { retryCount: 0 }) });
for await (const line of createInterface({ input: process.stdin })) {
  console.log(await client.verifyMessage(JSON.parse(line)).catch((error) => error.name));
}
"""
# viem recovers the key from any s and parity. Ethereum's transactions have one form (EIP-2), and so have sign-ins.
_ONLY_VIEM_ACCEPTS = {"key: upper s", "key: v of 0 or 1"}
# The wallet of these tests takes any s; a contract decides for itself. Of a wrapper it gets the inner signature.
_ACCEPTED = {
    "key: its key",
    "contract: its key",
    "contract: upper s",
    "contract: wrapped, factory without code",
    "contract: wrapped, deployed again",
    "absent: wrapped",
}
# The owner of wallets that are not deployed.
_ABSENT = Account.from_key("0x" + "45" * 32)


def compact(signature: bytes) -> bytes:
    """Return the signature in 64 bytes (EIP-2098): the highest bit of s is the parity."""
    return signature[:32] + bytes([signature[32] | (signature[64] - 27) << 7]) + signature[33:64]


def cases(rpc_url: str, factory: Any) -> Iterator[tuple[str, str, Callable[[str], bytes]]]:
    """Yield each case's name, the wallet's address, and the function that signs a text."""
    other_text = message(nonce="1" * 32)
    forms: dict[str, Callable[[str], bytes]] = {
        "its key": sign,
        "another key": lambda text: sign(text, OTHER_KEY),
        "another text": lambda text: sign(other_text),
        "upper s": lambda text: wallets.upper_s(sign(text)),
        "64 bytes": lambda text: compact(sign(text)),
        "v of 0 or 1": lambda text: sign(text)[:64] + bytes([sign(text)[64] - 27]),
        "v of 29": lambda text: sign(text)[:64] + b"\x1d",
        "66 bytes": lambda text: sign(text) + b"\0",
        "zeros": lambda text: bytes(65),
        "nothing": lambda text: b"",
        "end of a wrapper": lambda text: wallets.WRAPPER_END,
        "wrapper of garbage": lambda text: b"\xff" * 96 + wallets.WRAPPER_END,
        "wrapped, factory without code": lambda text: wrapped(sign(text), factory=OTHER_KEY.address, call="0x"),
    }
    deployed = wallets.deploy_wallet(rpc_url, factory)
    for name, form in forms.items():
        yield f"key: {name}", KEY.address, form
        yield f"contract: {name}", deployed, form
    absent = wallets.wallet_address(factory, key=_ABSENT)
    own, others = (wallets.deployment_call(factory, key=key) for key in (_ABSENT, OTHER_KEY))

    def wrap(call: str, key: Any = _ABSENT, to: str = factory.address) -> Callable[[str], bytes]:
        return lambda text: wrapped(sign(text, key), factory=to, call=call)

    yield "absent: wrapped", absent, wrap(own)
    yield "absent: not wrapped", absent, lambda text: sign(text, _ABSENT)
    yield "absent: wrapped, another key", absent, wrap(own, OTHER_KEY)
    yield "absent: wrapped, another wallet's deployment", absent, wrap(others)
    yield "absent: wrapped, call reverts", absent, wrap("0xdeadbeef")
    yield "absent: wrapped, factory without code", absent, wrap(own, to=OTHER_KEY.address)
    yield "absent: wrapped twice", absent, lambda text: wrapped(wrap(own)(text), factory=factory.address, call=own)
    yield "contract: wrapped, deployed again", deployed, wrap(wallets.deployment_call(factory), KEY)
    for behavior in ("WRONG_VALUE", "REVERTS", "BURNS_GAS", "LONG_RESULT", "ECHO"):
        number = getattr(wallets, behavior)
        yield f"{behavior}: deployed", wallets.deploy_wallet(rpc_url, factory, number), sign
        call = wallets.deployment_call(factory, number, _ABSENT)
        yield f"{behavior}: absent", wallets.wallet_address(factory, number, _ABSENT), wrap(call)
    for number in (1, 2, 4):
        yield f"precompile {number}: nothing", f"0x{number:040x}", lambda text: b""
        yield f"precompile {number}: a key", f"0x{number:040x}", sign
    yield "factory: a key", factory.address, sign


def test_viem_decides_as_this_service_does(client: Any, launchpad: Any, settings: Any) -> None:
    settings.SITE_URL, settings.RATE_LIMIT_SIGN_IN = SITE, 1_000
    settings.IDENTITY_ISSUERS = read_issuers({"WALLET_SIGN_IN": "true"}, site_url=SITE)
    rpc_url = launchpad.deployment.rpc_url
    lines, statuses = list[str](), {}
    for name, address, make_signature in cases(rpc_url, wallets.deploy_factory(rpc_url)):
        text = message(nonce=new_nonce(client), address=address)
        signature = make_signature(text)
        lines.append(json.dumps({"address": address, "message": text, "signature": f"0x{signature.hex()}"}))
        statuses[name] = post_sign_in(client, text, signature).status_code
    done = subprocess.run(
        [find_node(), "--input-type=module", "--eval", _VIEM, "--", rpc_url],
        cwd=SOURCE,
        input="\n".join(lines),
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    by_viem = dict(zip(statuses, ({"true": 200, "false": 401}[line] for line in done.stdout.split()), strict=True))
    differences = {name: (status, by_viem[name]) for name, status in statuses.items() if status != by_viem[name]}
    assert differences == dict.fromkeys(_ONLY_VIEM_ACCEPTS, (401, 200))
    assert {name for name, status in statuses.items() if status == 200} == _ACCEPTED
