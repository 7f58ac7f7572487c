"""Events after launch and look-alikes, as logs with the expected rows."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.nodes import contract_events as abi
from tests.nodes.launch_builder import WETH, ZERO
from tests.nodes.log_encoding import LogEntry, emit, event_type
from tests.simulator import addresses, declared_launches
from tests.simulator.launches import Launched, LaunchMaker
from tests.simulator.truth import Happening

# By the share: Creator or Interface.
_V31_RECIPIENT = (
    "%sRewardRecipientUpdated(uint256 indexed lpTokenId, address indexed oldRecipient, address newRecipient)"
)
_V31_ADMIN = "%sRewardRecipientAdminUpdated(uint256 indexed lpTokenId, address indexed oldAdmin, address newAdmin)"


@dataclass(frozen=True)
class Emitted:
    """A log and its expected event; None where it only looks like an event."""

    log: LogEntry
    happening: Happening | None


class HappeningMaker:
    """Generator for events after launch; the same seed makes the same ones."""

    def __init__(self, rng: random.Random, maker: LaunchMaker) -> None:
        self.rng, self.maker = rng, maker

    def of(self, token: Launched) -> Emitted:
        """Return an event that can happen to this token."""
        generation = token.columns["generation"]
        choices: list[Callable[[Launched], Emitted]] = [self._claim]
        if generation not in ("v0", declared_launches.LAUNCHPAD):
            choices += [self._admin, self._image, self._metadata, self._verified]
        if generation == "v4":
            choices += [self._recipient, self._share_admin, self._preference, self._collected, self._team_fees]
        if generation == "v3.1":
            choices += [self._v31_recipient, self._v31_share_admin]
        if token.vault:
            choices += [self._vault_claimed, self._vault_admin]
        if token.airdrop:
            choices += [self._airdrop_claimed, self._airdrop_root, self._airdrop_admin]
        return self.rng.choice(choices)(token)

    def noise(self, token: Launched | None) -> Emitted:
        """Return a log without meaning: by an unregistered contract, or by one that does not emit that event."""
        stranger, account = self.maker.address(), token.address if token else self.maker.address()
        amount = self.rng.randrange(10**20)
        looks = [
            emit(stranger, abi.UPDATE_ADMIN, stranger, self.maker.address()),
            emit(stranger, abi.UPDATE_IMAGE, "ipfs://strange"),
            emit(stranger, abi.VERIFIED, stranger, account),
            emit(stranger, abi.COLLECTED, account, amount, amount, [amount], [amount]),
            emit(stranger, abi.CLAIM_TOKENS, stranger, WETH, amount),
            emit(stranger, abi.VAULT_CLAIMED, account, amount, 0),
            emit(stranger, abi.TRANSFER, stranger, account, amount),
            self._made_up_launch(stranger),
            # Registered contracts, with tokens that were never launched.
            emit(addresses.VAULT, abi.VAULT_CLAIMED, stranger, amount, 0),
            emit(addresses.LOCKERS[0], abi.COLLECTED, stranger, amount, 0, [amount], [0]),
            emit(addresses.LOCKER_V31, _V31_RECIPIENT % "Creator", amount + 2**64, stranger, stranger),
            emit(stranger, _V31_RECIPIENT % "Creator", (token and token.position_id) or 1, stranger, stranger),
            emit(
                addresses.FEE_LOCKER, abi.STORE_TOKENS, stranger, stranger, WETH,
                amount, amount
            ),
        ]  # fmt: skip
        if token and token.columns["locker_address"] != addresses.LOCKERS[1]:
            # A registry locker, but not the token's.
            looks.append(emit(addresses.LOCKERS[1], abi.COLLECTED, account, amount, 0, [amount], [0]))
        return Emitted(self.rng.choice(looks), None)

    def currency_claim(self) -> Emitted:
        """Return a fee claim in a currency that is no launched token."""
        return self._fee_claim(WETH, token=None)

    def _made_up_launch(self, stranger: str) -> LogEntry:
        token = self.maker.address()
        return emit(
            stranger, abi.V4_CREATED, stranger, token, stranger, "", "Made up", "FAKE", "", "", -230_400, stranger,
            self.rng.randbytes(32), WETH, addresses.LOCKERS[0], addresses.MEV_MODULES[0], 0, [],
        )  # fmt: skip

    def _event(self, kind: str, token: Launched, by: str, declaration: str, *arguments: Any, **meaning: Any) -> Emitted:
        """Build an event; its arguments are stored by the declaration's names."""
        stored = dict(zip(event_type(declaration).names, map(as_stored, arguments), strict=True))
        happening = Happening(kind=kind, emitter=by, token=token.address, arguments=stored, **meaning)
        return Emitted(emit(by, declaration, *arguments), happening)

    def _own(self, kind: str, token: Launched, declaration: str, *arguments: Any, **changes: Any) -> Emitted:
        """Build an event that the token itself emits."""
        return self._event(kind, token, token.address, declaration, *arguments, changes=changes)

    def _admin(self, token: Launched) -> Emitted:
        new = self.maker.address()
        return self._own("admin_updated", token, abi.UPDATE_ADMIN, token.columns["admin"], new, admin=new)

    def _image(self, token: Launched) -> Emitted:
        new = f"ipfs://new-{self.rng.randrange(10**9)}"
        return self._own("image_updated", token, abi.UPDATE_IMAGE, new, img_url=new)

    def _metadata(self, token: Launched) -> Emitted:
        new = f"Nothing but words {self.rng.randrange(10**9)}"
        return self._own("metadata_updated", token, abi.UPDATE_METADATA, new, description=new)

    def _verified(self, token: Launched) -> Emitted:
        return self._own("verified", token, abi.VERIFIED, token.columns["admin"], token.address, verified_on_chain=True)

    def _recipient(self, token: Launched) -> Emitted:
        index, new = self._share_of(token), self.maker.address()
        return self._event(
            "reward_recipient_updated", token, token.columns["locker_address"], abi.RECIPIENT_UPDATED, token.address,
            index, token.shares[index].recipient, new, changes={"recipient": (index, new)},
        )  # fmt: skip

    def _share_admin(self, token: Launched) -> Emitted:
        index, new = self._share_of(token), self.maker.address()
        return self._event(
            "reward_admin_updated", token, token.columns["locker_address"], abi.REWARD_ADMIN_UPDATED, token.address,
            index, token.shares[index].admin, new, changes={"share_admin": (index, new)},
        )  # fmt: skip

    def _v31_recipient(self, token: Launched) -> Emitted:
        index, new = self._share_of(token), self.maker.address()
        return self._v31_share_event(
            "reward_recipient_updated", token, index, _V31_RECIPIENT, token.shares[index].recipient, new,
            changes={"recipient": (index, new)},
        )  # fmt: skip

    def _v31_share_admin(self, token: Launched) -> Emitted:
        index, new = self._share_of(token), self.maker.address()
        return self._v31_share_event(
            "reward_admin_updated", token, index, _V31_ADMIN, token.shares[index].admin, new,
            changes={"share_admin": (index, new)},
        )  # fmt: skip

    def _v31_share_event(
        self, kind: str, token: Launched, index: int, declaration: str, *arguments: Any, **meaning: Any
    ) -> Emitted:
        """Build an event that names the LP NFT; its name has the share, which is stored as an argument."""
        named = declaration % ("Creator", "Interface")[index]
        made = self._event(kind, token, addresses.LOCKER_V31, named, token.position_id, *arguments, **meaning)
        if made.happening:
            made.happening.arguments["rewardIndex"] = str(index)
        return made

    def _preference(self, token: Launched) -> Emitted:
        index, new = self._share_of(token), self.rng.randrange(3)
        if token.columns["locker_address"] not in addresses.LOCKERS_WITH_PREFERENCES:
            return self._collection(token, [0] * len(token.shares))
        return self._event(
            "fee_preference_updated", token, token.columns["locker_address"], abi.PREFERENCE_UPDATED, token.address,
            index, 0, new, changes={"wants": (index, ("Both", "Paired", "Clanker")[new])},
        )  # fmt: skip

    def _collected(self, token: Launched) -> Emitted:
        return self._collection(token, [self.rng.randrange(10**20) for _ in token.shares])

    def _collection(self, token: Launched, amounts: list[int]) -> Emitted:
        return self._event(
            "fees_collected", token, token.columns["locker_address"], abi.COLLECTED, token.address, sum(amounts), 0,
            amounts, [0] * len(amounts),
        )  # fmt: skip

    def _team_fees(self, token: Launched) -> Emitted:
        recipient, amount = self.maker.address(), self.rng.randrange(3) and self.rng.randrange(10**20)
        return self._event(
            "team_fees_claimed", token, addresses.FACTORY, abi.CLAIM_TEAM_FEES, token.address, recipient, amount,
            claims=((recipient, token.address, amount),) if amount else (),
        )  # fmt: skip

    def _vault_claimed(self, token: Launched) -> Emitted:
        amount = self.rng.randrange(10**28)
        return self._event("vault_claimed", token, addresses.VAULT, abi.VAULT_CLAIMED, token.address, amount, 5)

    def _vault_admin(self, token: Launched) -> Emitted:
        admins = token.columns["admin"], self.maker.address()
        return self._event(
            "vault_admin_updated", token, addresses.VAULT, abi.VAULT_ADMIN_UPDATED, token.address, *admins
        )

    def _of_airdrop(self, kind: str, token: Launched, declaration: str, *arguments: Any, **changes: Any) -> Emitted:
        """Build an event by the token's airdrop contract."""
        meaning = {"changes": {"airdrop": changes}} if changes else {}
        return self._event(kind, token, token.airdrop or "", declaration, token.address, *arguments, **meaning)

    def _airdrop_claimed(self, token: Launched) -> Emitted:
        user, amount = self.maker.address(), self.rng.randrange(10**28)
        return self._of_airdrop("airdrop_claimed", token, abi.AIRDROP_CLAIMED, user, amount, 0)

    def _airdrop_root(self, token: Launched) -> Emitted:
        root = self.rng.randbytes(32)
        changes = {"merkleRoot": "0x" + root.hex()}
        return self._of_airdrop("airdrop_root_updated", token, abi.AIRDROP_ROOT_UPDATED, bytes(32), root, **changes)

    def _airdrop_admin(self, token: Launched) -> Emitted:
        old, new = token.columns["admin"], self.maker.address()
        return self._of_airdrop("airdrop_admin_updated", token, abi.AIRDROP_ADMIN_UPDATED, old, new, admin=new)

    def _claim(self, token: Launched) -> Emitted:
        match token.columns["generation"]:
            case "v4" | declared_launches.LAUNCHPAD:
                return self._fee_claim(token.address, token=token)
            case "v3.1":
                return self._v31_claim(token)
        return self._v0_claim(token)

    def _fee_claim(self, currency: str, *, token: Launched | None) -> Emitted:
        owner, amount = self.maker.address(), self.rng.randrange(4) and self.rng.randrange(10**20)
        log = emit(addresses.FEE_LOCKER, abi.CLAIM_TOKENS, owner, currency, amount)
        happening = Happening(
            kind="fees_claimed",
            emitter=addresses.FEE_LOCKER,
            token=token and token.address,
            arguments={"feeOwner": owner, "token": currency, "amountClaimed": str(amount)},
            claims=((owner, currency, amount),) if amount else (),
        )
        return Emitted(log, happening)

    def _v31_claim(self, token: Launched) -> Emitted:
        low, high = sorted((token.address, token.columns["paired_token"]), key=str.lower)
        recipients = [self.maker.address() for _ in range(3)]
        amounts = [self.rng.randrange(1, 10**20) for _ in range(6)]
        paid = [(recipient, currency) for recipient in recipients for currency in (low, high)]
        return self._event(
            "fees_claimed", token, addresses.LOCKER_V31, abi.V31_CLAIMED, token.position_id, *recipients, low, high,
            *amounts, claims=tuple((*pair, amount) for pair, amount in zip(paid, amounts, strict=True)),
        )  # fmt: skip

    def _v0_claim(self, token: Launched) -> Emitted:
        """Return a claim from a locker whose fee is 0; it names no currency."""
        pair = sorted((token.address, token.columns["paired_token"]), key=str.lower)
        claimer, amounts = self.maker.address(), [self.rng.randrange(1, 10**20) for _ in range(2)]
        return self._event(
            "fees_claimed", token, token.columns["locker_address"], abi.FIRST_CLAIMED % "ClaimedFees", claimer, ZERO,
            ZERO, *amounts, *amounts,
            claims=tuple((claimer, currency, amount) for currency, amount in zip(pair, amounts, strict=True)),
        )  # fmt: skip

    def _share_of(self, token: Launched) -> int:
        return self.rng.randrange(len(token.shares))


def as_stored(value: Any) -> Any:
    """Return an event value as it is stored in rows."""
    if isinstance(value, bytes):
        return "0x" + value.hex()
    if isinstance(value, list):
        return [as_stored(part) for part in value]
    return str(value)
