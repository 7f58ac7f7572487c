"""Generator for launches as the contracts on chain 8453 emit them, with the expected row, derived without decoding."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.nodes import contract_events as abi
from tests.nodes.launch_builder import USDC, WETH, ZERO
from tests.nodes.log_encoding import LogEntry, call, checksum, emit, encode_values
from tests.simulator import addresses
from tests.simulator.truth import Json, LiquidityTruth, Share

SUPPLY = 10**29
BPS = 10_000
DAY = 86_400

_DEPLOY = (
    "deployToken(((address,string,string,bytes32,string,string,string,uint256),(address,address,int24,int24,bytes),"
    "(address,address[],address[],uint16[],int24[],int24[],uint16[],bytes),(address,bytes),"
    "(address,uint256,uint16,bytes)[]))"
)
_DYNAMIC = "PoolInitialized(bytes32,uint24,uint24,uint256,uint256,int24,uint256,uint24)"
_PREFERENCES = ("Both", "Paired", "Clanker")
# A name in the call and the log, and in the row: no text at all, and a NUL, which PostgreSQL refuses.
_ODD_NAMES: Sequence[tuple[str | bytes, str]] = (
    ("", ""),
    ("Quote \" ' \\ \n tab\t", "Quote \" ' \\ \n tab\t"),
    ("\U0001f436 犬 $COIN", "\U0001f436 犬 $COIN"),
    (b"bad \xff\xfe bytes", "bad �� bytes"),
    (b"nul\x00inside", "nulinside"),
)


@dataclass(frozen=True, kw_only=True)
class Launched:
    """A token that a transaction launches: its logs, with TokenCreated last, and its expected row."""

    address: str
    logs: tuple[LogEntry, ...]
    # The row's columns, without the chain position.
    columns: Json
    shares: tuple[Share, ...]
    extensions: Json
    # Its contracts' return values: (address, function) -> value, types as in Solidity.
    views: dict[tuple[str, str], tuple[str, Any]] = field(default_factory=dict)
    # The launch calls the factory itself, by the sender; few tests need it.
    calldata: Callable[[], str] | None = None
    value: int = 0
    # Events from the launch's own logs: (log index, kind, arguments).
    collected: tuple[tuple[int, str, Json], ...] = ()
    # Liquidity from the launch's own logs.
    minted: tuple[tuple[int, LiquidityTruth], ...] = ()
    # Facts on which events after launch depend.
    vault: bool = False
    airdrop: str | None = None
    position_id: int | None = None
    # For a declared launchpad: the hook, which swaps in the pool itself.
    hook: str | None = None


def columns(**own: Any) -> Json:
    """Return a row's columns; what a launch does not say is empty."""
    texts = ("img_url", "description", "requestor_address", "cast_hash", "locker_address", "position_id", "presale_id")
    return {"supply": SUPPLY, "requestor_fid": None, "verified_on_chain": False} | dict.fromkeys(texts, "") | own


class LaunchMaker:
    """Generator for launches; the same seed makes the same ones."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self._made = 0

    def address(self) -> str:
        """Return a new address, EIP-55."""
        return checksum("0x" + self.rng.randbytes(20).hex())

    def name(self) -> tuple[str | bytes, str, str | bytes, str]:
        """Return name and symbol, each as it is written and as it is read."""
        self._made += 1
        if self.rng.random() < 0.06:
            odd = self.rng.choice(_ODD_NAMES)
            return *odd, f"ODD{self._made}", f"ODD{self._made}"
        name, symbol = f"Token {self._made} {self.rng.choice(_WORDS)}", f"T{self._made}"
        return name, name, symbol, symbol

    def v4(self, *, sender: str, caller: str | None, paired: tuple[str, str | None] | None = None) -> Launched:
        """Build a v4 launch; `caller` is the contract that calls the factory, the sender where None.

        `paired` is a token to pair with, and the symbol that it returns.
        """
        return _V4Launch(self, sender=sender, caller=caller, paired=paired).build()


_WORDS = ("moon", "dog", "inu", "coin", "犬", "pepe", "base", "cat")


class _V4Launch:
    """Builder for one v4 launch."""

    def __init__(
        self, maker: LaunchMaker, *, sender: str, caller: str | None, paired: tuple[str, str | None] | None
    ) -> None:
        self.maker, self.rng = maker, maker.rng
        self.sender, self.caller = sender, caller
        self.token, self.admin = maker.address(), maker.address()
        self.name, self.read_name, self.symbol, self.read_symbol = maker.name()
        self.views: dict[tuple[str, str], tuple[str, Any]] = {}
        self.paired, self.pair = self._pair(paired)
        self.dynamic = self.rng.random() < 0.3
        self.hook = self._hook()
        self.locker = self.rng.choice(addresses.LOCKERS) if self.rng.random() < 0.3 else addresses.LOCKERS[0]
        self.tick = -230_400
        self.pool_id = self.rng.randbytes(32)
        self.shares = self._shares()
        self.logs: list[LogEntry] = []
        self.extension_addresses: list[str] = []
        self.extension_calls: list[tuple[str, int, int, bytes]] = []
        self.extensions: Json = {"vault": None, "airdrop": None, "devBuy": None, "sniperTax": None}
        self.extensions_supply = self.value = 0
        self.airdrop: str | None = None
        self.collected: list[tuple[int, str, Json]] = []
        # Some carry a builder code behind the call.
        self.suffix = "" if self.rng.random() < 0.9 else "62617365"

    def build(self) -> Launched:
        rng = self.rng
        self.image = f"ipfs://{rng.randbytes(8).hex()}"
        self.description = f"About {self.read_symbol}"
        self.metadata = json.dumps({"description": self.description, "socialMediaUrls": [], "auditUrls": []})
        self.fid = rng.randrange(1, 10**6)
        self.cast = "0x" + rng.randbytes(20).hex()
        self.context = json.dumps(
            {"interface": "sim", "platform": "farcaster", "messageId": self.cast, "id": str(self.fid)}
        )
        presale_id = rng.randrange(10**6) if self.caller == addresses.PRESALE else None
        parts = [part for part in (self._vault, self._airdrop, self._dev_buy) if rng.random() < 0.15]
        extension_logs = [part() for part in parts]
        self._log(self.token, abi.TRANSFER, ZERO, addresses.FACTORY, SUPPLY)
        self._pool_logs()
        self._locker_logs()
        for make_logs in extension_logs:
            make_logs()
        self._sniper_logs()
        position = {"tickLower": self.tick, "tickUpper": self.tick + 110_400, "positionBps": BPS}
        self.extensions |= {"fees": self.fees | {"hook_address": self.hook}, "positions": [position]}
        if presale_id is not None:
            self._log(addresses.PRESALE, abi.PRESALE_DEPLOYED, presale_id, self.token)
        self._log(
            addresses.FACTORY, abi.V4_CREATED, self.caller or self.sender, self.token, self.admin, self.image,
            self.name, self.symbol, self.metadata, self.context, self.tick, self.hook, self.pool_id, self.paired,
            self.locker, self.mev_module, self.extensions_supply, self.extension_addresses,
        )  # fmt: skip
        return Launched(
            address=self.token,
            logs=tuple(self.logs),
            columns=self._columns(presale_id),
            shares=self.shares,
            extensions=self.extensions,
            views=self.views,
            calldata=self._calldata,
            value=self.value,
            collected=tuple(self.collected),
            vault=self.extensions["vault"] is not None,
            airdrop=self.airdrop,
        )

    def _log(self, by: str, declaration: str, *arguments: Any) -> None:
        self.logs.append(emit(by, declaration, *arguments))

    def _pair(self, paired: tuple[str, str | None] | None) -> tuple[str, str]:
        if paired:
            symbol = paired[1] or ""
        elif self.rng.random() < 0.85:
            return WETH, "WETH"
        elif self.rng.random() < 0.5:
            return USDC, "USDC"
        else:
            paired, symbol = (self.maker.address(), "STR"), "STR"
        # Not in the registry, so that the service calls it.
        if symbol:
            self.views[paired[0].lower(), "symbol()"] = ("string", symbol)
            self.views[paired[0].lower(), "decimals()"] = ("uint8", 18)
        return paired[0], symbol

    def _hook(self) -> str:
        if self.rng.random() < 0.05:
            return self.maker.address()
        return self.rng.choice(addresses.DYNAMIC_HOOKS if self.dynamic else addresses.STATIC_HOOKS)

    def _shares(self) -> tuple[Share, ...]:
        count = self.rng.choice((1, 1, 1, 2, 3))
        prefers = self.locker in addresses.LOCKERS_WITH_PREFERENCES
        return tuple(
            Share(
                admin=self.maker.address(),
                recipient=self.maker.address(),
                bps=BPS // count + (BPS % count if index == 0 else 0),
                wants=self.rng.choice(_PREFERENCES) if prefers else "Both",
            )
            for index in range(count)
        )

    def _pool_logs(self) -> None:
        rng = self.rng
        if self.dynamic:
            base, most = rng.randrange(2_500, 20_000, 100), rng.randrange(20_000, 100_000, 100)
            self._log(self.hook, _DYNAMIC, self.pool_id, base, most, 30, 120, 200, 500_000_000, 7_500)
            self.fees: Json = {"type": "dynamic", "clankerFee": None, "pairedFee": None}
            self.fees |= {"baseFee": base // 100, "maxFee": most // 100}
        else:
            launched, paired = rng.randrange(0, 20_000, 100), rng.randrange(0, 20_000, 100)
            self._log(self.hook, abi.STATIC_POOL, self.pool_id, launched, paired)
            self.fees = {"type": "static", "clankerFee": launched // 100, "pairedFee": paired // 100}
            self.fees |= {"baseFee": None, "maxFee": None}
        self.mev_module = addresses.MEV_MODULES[0] if rng.random() < 0.9 else rng.choice(addresses.MEV_MODULES)
        self._log(
            self.hook, "PoolCreatedFactory(address indexed,address indexed,bytes32,int24,int24,address,address)",
            self.paired, self.token, self.pool_id, self.tick, 200, self.locker, self.mev_module,
        )  # fmt: skip

    def _locker_logs(self) -> None:
        low, high = sorted((self.token, self.paired), key=str.lower)
        if self.locker in addresses.LOCKERS_WITH_PREFERENCES:
            preferences = [_PREFERENCES.index(share.wants) for share in self.shares]
            self._log(self.locker, abi.PREFERENCES_SET, self.token, preferences)
        self._log(
            self.locker, abi.V4_REWARD_ADDED, self.token, (low, high, 0x800000, 200, self.hook),
            SUPPLY - self.extensions_supply, self.rng.randrange(1, 10**9), 1, [share.bps for share in self.shares],
            [share.admin for share in self.shares], [share.recipient for share in self.shares], [self.tick],
            [self.tick + 110_400], [BPS],
        )  # fmt: skip

    def _sniper_logs(self) -> None:
        fees = (self.rng.randrange(50_000, 800_000), self.rng.randrange(50_000), self.rng.randrange(1, 120))
        self.mev_data = b""
        if self.mev_module == addresses.MEV_MODULES[0]:
            self.mev_data = encode_values(("uint24", "uint24", "uint256"), fees)
            self._log(self.mev_module, abi.SNIPER_FEES, self.pool_id, *fees)
        elif self.mev_module == addresses.MEV_MODULES[1]:
            # Emits nothing, so that the settings are only in the call, if the transaction itself called the factory.
            self.mev_data = encode_values(("uint24", "uint24", "uint256"), fees)
        if self.mev_data and (self.mev_module == addresses.MEV_MODULES[0] or self.caller is None):
            names = ("startingFee", "endingFee", "secondsToDecay")
            self.extensions["sniperTax"] = dict(zip(names, fees, strict=True))

    def _extend(self, address: str, *, bps: int, value: int = 0, data: bytes = b"") -> int:
        """Add an extension and return its supply part."""
        supply = SUPPLY * bps // BPS
        self.extension_addresses.append(address)
        self.extension_calls.append((address, value, bps, data))
        self.extensions_supply += supply
        self.value += value
        return supply

    def _triggered(self, address: str, supply: int, value: int = 0) -> None:
        self._log(addresses.FACTORY, "ExtensionTriggered(address,uint256,uint256)", address, supply, value)

    def _vault(self) -> Callable[[], None]:
        admin, lock, vest = self.admin, self.rng.randrange(7, 400) * DAY, self.rng.randrange(400) * DAY
        data = encode_values(("address", "uint256", "uint256"), (admin, lock, vest))
        supply = self._extend(addresses.VAULT, bps=self.rng.randrange(1, 3_000), data=data)
        self.extensions["vault"] = {"amount": str(supply), "lockup": {"lockDuration": lock, "vestDuration": vest}}

        def log() -> None:
            self._log(addresses.VAULT, abi.V4_VAULTED, self.token, admin, supply, lock, vest)
            self._triggered(addresses.VAULT, supply)

        return log

    def _airdrop(self) -> Callable[[], None]:
        contract = addresses.AIRDROPS[0] if self.rng.random() < 0.8 else addresses.AIRDROPS[1]
        newer = contract == addresses.AIRDROPS[0]
        root, lock, vest = self.rng.randbytes(32), DAY, self.rng.randrange(1, 90) * DAY
        supply = self._extend(contract, bps=self.rng.randrange(25, 2_000))
        lockup = {"lockDuration": lock, "vestDuration": vest}
        admin = self.admin if newer else None
        self.extensions["airdrop"] = {"amount": str(supply), "merkleRoot": "0x" + root.hex(), "admin": admin}
        self.extensions["airdrop"]["lockup"] = lockup
        self.airdrop = contract if newer else None

        def log() -> None:
            if newer:
                self._log(contract, abi.AIRDROPPED, self.token, self.admin, root, supply, lock, vest)
            else:
                self._log(contract, abi.FIRST_AIRDROPPED, self.token, root, supply, lock, vest)
            self._triggered(contract, supply)

        return log

    def _dev_buy(self) -> Callable[[], None]:
        value, bought, user = 10 ** self.rng.randrange(15, 19), self.rng.randrange(1, 10**28), self.admin
        self._extend(addresses.DEV_BUY, bps=0, value=value)
        self.extensions["devBuy"] = {"amount": str(bought), "amountEth": str(value), "recipient": user}

        def log() -> None:
            # The purchase has the locker collect fees; there are none yet.
            none = [0] * len(self.shares)
            arguments = {"token": self.token, "amount0": "0", "amount1": "0"}
            zeros = {"rewards0": ["0"] * len(none), "rewards1": ["0"] * len(none)}
            self.collected.append((len(self.logs), "fees_collected", arguments | zeros))
            self._log(self.locker, abi.COLLECTED, self.token, 0, 0, none, none)
            self._log(addresses.DEV_BUY, abi.DEV_BOUGHT, self.token, user, value, bought)
            self._triggered(addresses.DEV_BUY, 0, value)

        return log

    def _columns(self, presale_id: int | None) -> Json:
        return columns(
            generation="v4",
            name=self.read_name,
            symbol=self.read_symbol,
            img_url=self.image,
            description=self.description,
            admin=self.admin,
            msg_sender=self.caller or self.sender,
            requestor_fid=self.fid,
            cast_hash=self.cast,
            pool_address="0x" + self.pool_id.hex(),
            paired_token=self.paired,
            pair=self.pair,
            factory_address=addresses.FACTORY,
            locker_address=self.locker,
            presale_id="" if presale_id is None else str(presale_id),
        )

    def _calldata(self) -> str:
        pool_data = encode_values(("uint24", "uint24"), (1, 1))
        shares = self.shares
        config = (
            (self.admin, self.name, self.symbol, bytes(32), self.image, self.metadata, self.context, 8453),
            (self.hook, self.paired, self.tick, 200, pool_data),
            (
                self.locker, [share.admin for share in shares], [share.recipient for share in shares],
                [share.bps for share in shares], [self.tick], [self.tick + 110_400], [BPS], b"",
            ),
            (self.mev_module, self.mev_data),
            self.extension_calls,
        )  # fmt: skip
        return call(_DEPLOY, config) + self.suffix
