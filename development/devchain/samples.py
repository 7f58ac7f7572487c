"""Sample launches as varied as real ones: scripts, emoji, pairs, fees, and parts of the supply."""

import json
import secrets
from collections.abc import Sequence
from dataclasses import replace

from development.devchain.deploy_contracts import DevelopmentContracts
from development.devchain.launch_transactions import (
    BPS,
    TOKEN_SUPPLY,
    DevAirdropShare,
    DevLaunchConfig,
    DevVaultShare,
    DynamicFees,
    LaunchPurchase,
    Recipient,
    StaticFees,
)

# (name, symbol, description)
_THEMES = (
    ("Pepe Revival", "PEPE", "The frog is back."),
    ("Dogs of the Harbour", "HARBR", "Good dogs, salty air."),
    ("犬の散歩", "SANPO", "毎日散歩。"),
    ("Moon Cat 🐈🌕", "MCAT", "A cat on its way to the moon."),
    ("Grün & Gold", "GRÜN", "Für Gärtner."),
    ("牛市", "BULL", "牛年大吉。"),
    ("Higher ↑", "HIGHER", "Aim higher."),
    ("Тройка", "TROIKA", "Три коня."),
    ("Coffee Before Code ☕", "CBC", "One cup, one commit."),
    ("Agent Ledger", "LEDGR", "An agent that keeps books."),
    ("Llama Farm 🦙", "LLAMA", "Wool on chain."),
    ("قهوة", "QAHWA", "قهوة الصباح"),
    ("Quote \"Unquote\"", "QUOT", "Names may hold anything."),
    ("Slow Internet", "SLOW", "No hurry."),
    ("Tiny Whale 🐋", "WHALE", "Small, but a whale."),
)  # fmt: skip
_INTERFACES = ("web", "bot", "SDK", "devchain")
# Starting ticks: about 10 ether for the whole supply, and about 37,000 dollars if the pair has 6 decimals.
_NATIVE_TICK, _DOLLAR_TICK = -230_400, -424_400
_NATIVE_TICKS = (_NATIVE_TICK, -223_400, -216_000)
_GWEI = 10**9


def random_launch(deployment: DevelopmentContracts, *, sender: str, accounts: Sequence[str]) -> DevLaunchConfig:
    """Return a random launch by the sender; `accounts` may get parts of it. The salt is random."""
    config = _describe()
    if _one_in(4):
        config = replace(config, paired_token=deployment.usd, tick=_DOLLAR_TICK)
    else:
        config = replace(config, tick=secrets.choice(_NATIVE_TICKS))
    fees = DynamicFees() if _one_in(4) else StaticFees(launched=_fee(), paired=_fee())
    return replace(
        config,
        fees=fees,
        recipients=_recipients(sender, accounts) if _one_in(3) else (),
        vault=DevVaultShare(admin=sender, bps=100 * (5 + secrets.randbelow(26))) if _one_in(3) else None,
        airdrop=_airdrop(sender, accounts) if _one_in(4) else None,
        own_buy=LaunchPurchase(recipient=sender, value=_GWEI * (1 + secrets.randbelow(10**7))) if _one_in(3) else None,
    )


def _describe() -> DevLaunchConfig:
    name, symbol, description = secrets.choice(_THEMES)
    links = [{"platform": "x", "url": f"https://x.com/{symbol.lower()}"}] if _one_in(2) else []
    context = {
        "interface": secrets.choice(_INTERFACES),
        "platform": "farcaster",
        "messageId": "0x" + secrets.token_hex(20),
        "id": str(1 + secrets.randbelow(900_000)),
    }
    metadata = {"description": description, "socialMediaUrls": links, "auditUrls": []}
    return DevLaunchConfig(
        name=name, symbol=symbol, salt=secrets.token_bytes(32), metadata=_compact(metadata), context=_compact(context)
    )


def _recipients(sender: str, accounts: Sequence[str]) -> tuple[Recipient, ...]:
    interface = secrets.choice(accounts)
    share = 500 * (1 + secrets.randbelow(8))
    return (
        Recipient(admin=sender, recipient=sender, bps=BPS - share, wants=secrets.choice(("Both", "Paired"))),
        Recipient(admin=interface, recipient=interface, bps=share, wants="Paired"),
    )


def _airdrop(sender: str, accounts: Sequence[str]) -> DevAirdropShare:
    # Equal parts, rounded down, so that the shares never exceed the airdrop.
    bps = 25 * (1 + secrets.randbelow(20))
    part = TOKEN_SUPPLY * bps // BPS // len(accounts)
    return DevAirdropShare(admin=sender, entries=tuple((account, part) for account in accounts), bps=bps)


def _fee() -> int:
    return 2_500 * (1 + secrets.randbelow(8))


def _one_in(count: int) -> bool:
    return secrets.randbelow(count) == 0


def _compact(value: object) -> str:
    # As the SDK writes it: no spaces, and letters of every script unescaped.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
