"""Random launches that this service and the launchpad's SDK can both express, and the SDK's recorded calls.

Run as a program, it writes the recording anew. It needs a directory with the SDK, which is no dependency:

    npm install --prefix /tmp/sdk clanker-sdk@4.2.18 viem@2.57.20
    python -m tests.tokens.transactions.sdk_launches /tmp/sdk
"""

import json
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from config.environment.variables import BASE_DIR
from tests.clients.typescript_package import find_node

SEED, LAUNCHES = 44, 500
RECORDING = BASE_DIR / "tests" / "data" / "sdk_launches.json"
_PROGRAM = Path(__file__).with_name("sdk_calls.mjs")
# Chain id -> paired tokens besides the wrapped native coin, with their decimals.
PAIRS = {
    8453: {"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913": 6, "0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf": 8},
    84532: {"0x036CbD53842c5426634e7929541eC2318f3dCF7e": 6},
    1: {"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48": 6},
    42161: {"0xaf88d065e77c8cC2239327C5EDb3A432268e5831": 6},
    130: {"0x078D782b760474a361dDA0AF3839290b0EF57AD6": 6},
    143: {"0x754704Bc059F8C67012fEd69BC8A327a5aafb603": 6},
    56: {"0x55d398326f99059fF775485246999027B3197955": 18},
    4663: {"0x5fc5360D0400a0Fd4f2af552ADD042D716F1d168": 6},
}
_WITHOUT_DYNAMIC_FEES, _WITH_PRESALES = (1, 143), (8453, 1)
_TEXTS = ("Dog", "犬の散歩", "🐈🌕", 'Quote "Unquote"', "back\\slash", "Тройка", "قهوة", "a/b<c>&d", "Ø", "x" * 40)
_SUPPLY = 10**11


def random_bodies(seed: int = SEED, count: int = LAUNCHES) -> list[dict[str, Any]]:
    """Return bodies for `POST /api/transactions/launch`, always the same for a seed.

    Both sides have the values: the SDK writes `interface` where none is given and computes with floating-point
    numbers, so that every body has one, and coins and shares of the supply are exact in binary.
    """
    random = Random(seed)
    return [_random_body(random) for _ in range(count)]


def digest(to: str, value: int, data: str) -> str:
    """Return the first 16 hex digits of a call's SHA-256."""
    return sha256(f"{to.lower()} {value} {data}".encode()).hexdigest()[:16]


def record_calls(bodies: list[dict[str, Any]], directory: Path) -> list[str]:
    """Return the digests of the SDK's calls, by the packages in a directory. Raises CalledProcessError."""
    program = Path(shutil.copy(_PROGRAM, directory))
    decimals = {pair: value for pairs in PAIRS.values() for pair, value in pairs.items()}
    lines = "".join(json.dumps({"body": body, "decimals": decimals}) + "\n" for body in bodies)
    done = subprocess.run([find_node(), program.name], cwd=directory, input=lines, text=True, capture_output=True)
    done.check_returncode()
    calls = [json.loads(line) for line in done.stdout.splitlines()]
    return [digest(to, int(value), data) for to, value, data in calls]


def _random_body(random: Random) -> dict[str, Any]:
    def rarely(value: dict[str, Any], *, one_in: int = 3) -> dict[str, Any]:
        return {} if random.randrange(one_in) else value

    chain_id = random.choice(list(PAIRS))
    paired = random.choice([*PAIRS[chain_id], "WETH", "WETH"])
    shares = [random.randrange(1, 160) / 4 for _ in range(2)]
    links = [{"platform": "x", "url": f"https://x.com/{random.randrange(10**6)}"}]
    body = {
        "chainId": chain_id,
        "token": {
            "name": _text(random),
            "symbol": _text(random)[:20],
            "tokenAdmin": _account(random),
            "requestKey": f"{random.getrandbits(128):032x}",
        }
        | rarely({"image": f"ipfs://{random.getrandbits(128):032x}"}, one_in=2)
        | rarely({"description": _text(random) + "\n" + _text(random)}, one_in=2)
        | rarely({"socialMediaUrls": links * random.randrange(3)})
        | rarely({"auditUrls": ["https://audit.example/1"] * random.randrange(2)}),
        "pool": {
            "pairedToken": paired,
            "type": random.choice(["standard", "project"]),
            "initialMarketCap": random.randrange(100, 10**8) / 100,
        },
        "context": {"interface": _text(random)}
        | rarely({"platform": "farcaster", "messageId": f"0x{random.getrandbits(160):040x}", "id": "1"}),
    }
    body |= rarely({"fees": _fees(random, is_dynamic=chain_id not in _WITHOUT_DYNAMIC_FEES)}, one_in=2)
    body |= rarely({"rewards": _rewards(random)}, one_in=2)
    body |= rarely({"vault": _times(random, 7) | {"percentage": shares[0]} | rarely({"recipient": _account(random)})})
    body |= rarely({"airdrop": _times(random, 1) | {"entries": _entries(random, percent=shares[1])}})
    if chain_id in _WITH_PRESALES:
        body |= rarely({"presale": _presale(random)})
    if paired == "WETH" and "presale" not in body:
        buy = {"ethAmount": random.randrange(1, 2**11) / 2**12}
        body |= rarely({"devBuy": buy | rarely({"recipient": _account(random)})})
    return body


def _text(random: Random) -> str:
    return " ".join(random.choices(_TEXTS, k=random.randrange(1, 3)))


def _account(random: Random) -> str:
    return f"0x{random.getrandbits(160):040x}"


def _times(random: Random, least: int) -> dict[str, Any]:
    return {"lockupDuration": random.randrange(least, 400), "vestingDuration": random.randrange(3) * 30}


def _fees(random: Random, *, is_dynamic: bool) -> dict[str, Any]:
    if not is_dynamic or random.randrange(2):
        return {"type": "static"} | {name: random.randrange(501) / 100 for name in ("clankerFee", "pairedFee")}
    base = random.randrange(25, 501)
    return {
        "type": "dynamic",
        "baseFee": base / 100,
        "maxLpFee": random.randrange(base, 501) / 100,
        "referenceTickFilterPeriod": random.randrange(86_400),
        "resetPeriod": random.randrange(86_400),
        "resetTickFilter": random.randrange(887_272),
        "feeControlNumerator": random.randrange(10**15),
        "decayFilterBps": random.randrange(10_001),
    }


def _rewards(random: Random) -> list[dict[str, Any]]:
    cuts = sorted(random.sample(range(1, 10_000), random.randrange(7)))
    return [
        {
            "admin": _account(random),
            "recipient": _account(random),
            "allocation": (end - start) / 100,
            "rewardsToken": random.choice(["Both", "Paired", "Clanker"]),
        }
        for start, end in zip([0, *cuts], [*cuts, 10_000], strict=True)
    ]


def _entries(random: Random, *, percent: float) -> list[dict[str, Any]]:
    """Return entries that sum to a share of the supply, in whole tokens."""
    count = random.randrange(1, 6)
    amounts = [random.randrange(1, _SUPPLY // 10**4) for _ in range(count - 1)]
    amounts.append(int(_SUPPLY * percent / 100) - sum(amounts))
    return [{"account": _account(random), "amount": amount} for amount in amounts]


def _presale(random: Random) -> dict[str, Any]:
    goal = random.randrange(1, 2**9) / 64
    presale = _times(random, 7) | {
        "minEthGoal": goal,
        "maxEthGoal": goal * random.randrange(1, 5),
        "presaleDuration": random.randrange(60, 600_000),
        "presaleSupplyBps": random.randrange(1, 1_000),
        "recipient": _account(random),
    }
    if random.randrange(2):
        presale["allowlist"] = [_account(random) for _ in range(random.randrange(1, 6))]
    return presale


if __name__ == "__main__":
    directory = Path(sys.argv[1])
    package = json.loads((directory / "node_modules" / "clanker-sdk" / "package.json").read_text())
    digests = record_calls(random_bodies(), directory)
    recording = {"sdk": f"clanker-sdk {package['version']}", "seed": SEED, "digests": digests}
    RECORDING.write_text(json.dumps(recording, indent=0) + "\n")
