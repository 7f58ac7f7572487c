"""Sample launches as varied as real ones: scripts, emoji, pairs, fees, and supply shares."""

import base64
import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import SystemRandom
from urllib.parse import quote
from xml.sax.saxutils import escape

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
from development.sample_data.token_names import draw_name

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
# The highest start, at three times the market cap, which is known without a trade, and the tick spacing.
_HIGHEST_TICK, _TICK_SPACING = -219_400, 200
_GWEI = 10**9


def random_launch(deployment: DevelopmentContracts, *, sender: str, accounts: Sequence[str]) -> DevLaunchConfig:
    """Return a random launch by the sender; `accounts` may get shares in it. The salt is random."""
    config = _describe()
    if _one_in(4):
        config = replace(config, paired_token=deployment.usd, tick=_DOLLAR_TICK)
    else:
        config = replace(config, tick=secrets.choice(range(_NATIVE_TICK, _HIGHEST_TICK + 1, _TICK_SPACING)))
    fees = DynamicFees() if _one_in(4) else StaticFees(launched=_fee(), paired=_fee())
    return replace(
        config,
        fees=fees,
        recipients=_recipients(sender, accounts) if _one_in(3) else (),
        vault=DevVaultShare(admin=sender, bps=100 * (5 + secrets.randbelow(26))) if _one_in(3) else None,
        airdrop=_airdrop(sender, accounts) if _one_in(4) else None,
        own_buy=LaunchPurchase(recipient=sender, value=_GWEI * (1 + secrets.randbelow(10**7))) if _one_in(3) else None,
    )


def random_terms() -> tuple[str, str, str]:
    """Return a random token's name, symbol and metadata URI, for launchpads that store its document elsewhere."""
    name, symbol, description = next(_new_identities)
    document = {"name": name, "symbol": symbol, "description": description, "image": _draw_picture(symbol)}
    encoded = base64.b64encode(_compact(document).encode()).decode()
    return name, symbol, f"data:application/json;base64,{encoded}"


def _identities() -> Iterator[tuple[str, str, str]]:
    """Yield names, symbols and descriptions: the themes in any sequence, then drawn ones; no name twice."""
    random, names = SystemRandom(), {name for name, _, _ in _THEMES}
    yield from random.sample(_THEMES, len(_THEMES))
    while True:
        name, symbol = draw_name(random)
        if name not in names:
            names.add(name)
            yield name, symbol, f"{name}, a sample of the development chain."


_new_identities = _identities()


def _draw_picture(symbol: str) -> str:
    """Return a picture with the symbol as a data URL: it needs no server, and no two are alike."""
    hue, turn = secrets.randbelow(360), secrets.randbelow(360)
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">'
        f'<rect width="64" height="64" fill="hsl({hue} 60% 40%)"/>'
        f'<path d="M0 64L64 0V64z" fill="hsl({(hue + 40) % 360} 60% 50%)" transform="rotate({turn} 32 32)"/>'
        '<text x="32" y="40" text-anchor="middle" font-family="sans-serif" font-size="22" fill="#fff">'
        f"{escape(symbol[:3])}</text></svg>"
    )
    return f"data:image/svg+xml,{quote(svg)}"


def _describe() -> DevLaunchConfig:
    name, symbol, description = next(_new_identities)
    links = [{"platform": "x", "url": f"https://x.com/{symbol.lower()}"}] if _one_in(2) else []
    context = {
        "interface": secrets.choice(_INTERFACES),
        "platform": "farcaster",
        "messageId": "0x" + secrets.token_hex(20),
        "id": str(1 + secrets.randbelow(900_000)),
    }
    metadata = {"description": description, "socialMediaUrls": links, "auditUrls": []}
    return DevLaunchConfig(
        name=name,
        symbol=symbol,
        image=_draw_picture(symbol),
        salt=secrets.token_bytes(32),
        metadata=_compact(metadata),
        context=_compact(context),
    )


def _recipients(sender: str, accounts: Sequence[str]) -> tuple[Recipient, ...]:
    interface = secrets.choice(accounts)
    share = 500 * (1 + secrets.randbelow(8))
    return (
        Recipient(admin=sender, recipient=sender, bps=BPS - share, wants=secrets.choice(("Both", "Paired"))),
        Recipient(admin=interface, recipient=interface, bps=share, wants="Paired"),
    )


def _airdrop(sender: str, accounts: Sequence[str]) -> DevAirdropShare:
    # Equal amounts, rounded down, so that their sum never exceeds the airdrop.
    bps = 25 * (1 + secrets.randbelow(20))
    amount = TOKEN_SUPPLY * bps // BPS // len(accounts)
    return DevAirdropShare(admin=sender, entries=tuple((account, amount) for account in accounts), bps=bps)


def _fee() -> int:
    return 2_500 * (1 + secrets.randbelow(8))


def _one_in(count: int) -> bool:
    return secrets.randbelow(count) == 0


def _compact(value: object) -> str:
    # As the SDK writes it: no spaces, and non-ASCII letters unescaped.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
