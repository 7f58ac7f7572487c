"""Events after launch and look-alikes, as logs with the expected rows."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.nodes.launch_builder import V4_CREATED, WETH
from tests.nodes.log_encoding import LogEntry, emit
from tests.simulator import addresses, declared_launches
from tests.simulator.launches import Launched, LaunchMaker
from tests.simulator.truth import Happening

_COLLECTED = "ClaimedRewards(address,uint256,uint256,uint256[],uint256[])"
_V31_CLAIMED = (
    "ClaimedRewards(uint256,address,address,address,address,address,uint256,uint256,uint256,uint256,uint256,uint256)"
)
_V31_RECIPIENT = "CreatorRewardRecipientUpdated(uint256,address,address)"


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
            emit(stranger, "UpdateAdmin(address,address)", stranger, self.maker.address(), indexed=(0, 1)),
            emit(stranger, "UpdateImage(string)", "ipfs://strange"),
            emit(stranger, "Verified(address,address)", stranger, account, indexed=(0, 1)),
            emit(stranger, _COLLECTED, account, amount, amount, [amount], [amount], indexed=(0,)),
            emit(stranger, "ClaimTokens(address,address,uint256)", stranger, WETH, amount, indexed=(0, 1)),
            emit(stranger, "AllocationClaimed(address,uint256,uint256)", account, amount, 0, indexed=(0,)),
            emit(stranger, "Transfer(address,address,uint256)", stranger, account, amount, indexed=(0, 1)),
            self._made_up_launch(stranger),
            # Registered contracts, with tokens that were never launched.
            emit(addresses.VAULT, "AllocationClaimed(address,uint256,uint256)", stranger, amount, 0, indexed=(0,)),
            emit(addresses.LOCKERS[0], _COLLECTED, stranger, amount, 0, [amount], [0], indexed=(0,)),
            emit(addresses.LOCKER_V31, _V31_RECIPIENT, amount + 2**64, stranger, stranger, indexed=(0, 1)),
            emit(stranger, _V31_RECIPIENT, (token and token.position_id) or 1, stranger, stranger, indexed=(0, 1)),
            emit(
                addresses.FEE_LOCKER, "StoreTokens(address,address,address,uint256,uint256)", stranger, stranger, WETH,
                amount, amount, indexed=(0, 1, 2),
            ),
        ]  # fmt: skip
        if token and token.columns["locker_address"] != addresses.LOCKERS[1]:
            # A registry locker, but not the token's.
            looks.append(emit(addresses.LOCKERS[1], _COLLECTED, account, amount, 0, [amount], [0], indexed=(0,)))
        return Emitted(self.rng.choice(looks), None)

    def currency_claim(self) -> Emitted:
        """Return a fee claim in a currency that is no launched token."""
        return self._fee_claim(WETH, token=None)

    def _made_up_launch(self, stranger: str) -> LogEntry:
        token = self.maker.address()
        return emit(
            stranger, V4_CREATED, stranger, token, stranger, "", "Made up", "FAKE", "", "", -230_400, stranger,
            self.rng.randbytes(32), WETH, addresses.LOCKERS[0], addresses.MEV_MODULES[0], 0, [], indexed=(1, 2),
        )  # fmt: skip

    def _event(
        self, kind: str, token: Launched, by: str, signature: str, *arguments: tuple[str, Any, bool], **meaning: Any
    ) -> Emitted:
        """Build an event; `arguments` are (name, value, whether it is indexed), in the event's sequence."""
        indexed = [place for place, (_, _, is_indexed) in enumerate(arguments) if is_indexed]
        log = emit(by, signature, *(value for _, value, _ in arguments), indexed=indexed)
        stored = {name: as_stored(value) for name, value, _ in arguments}
        return Emitted(log, Happening(kind=kind, emitter=by, token=token.address, arguments=stored, **meaning))

    def _admin(self, token: Launched) -> Emitted:
        new = self.maker.address()
        arguments = (("oldAdmin", token.columns["admin"], True), ("newAdmin", new, True))
        signature = "UpdateAdmin(address,address)"
        return self._event("admin_updated", token, token.address, signature, *arguments, changes={"admin": new})

    def _image(self, token: Launched) -> Emitted:
        new = f"ipfs://new-{self.rng.randrange(10**9)}"
        argument = ("image", new, False)
        return self._event(
            "image_updated", token, token.address, "UpdateImage(string)", argument, changes={"img_url": new}
        )

    def _metadata(self, token: Launched) -> Emitted:
        new = f"Nothing but words {self.rng.randrange(10**9)}"
        argument = ("metadata", new, False)
        changes = {"description": new}
        return self._event(
            "metadata_updated", token, token.address, "UpdateMetadata(string)", argument, changes=changes
        )

    def _verified(self, token: Launched) -> Emitted:
        arguments = (("admin", token.columns["admin"], True), ("token", token.address, True))
        changes = {"verified_on_chain": True}
        return self._event("verified", token, token.address, "Verified(address,address)", *arguments, changes=changes)

    def _recipient(self, token: Launched) -> Emitted:
        index, new = self._share_of(token), self.maker.address()
        return self._event(
            "reward_recipient_updated", token, token.columns["locker_address"],
            "RewardRecipientUpdated(address,uint256,address,address)", ("token", token.address, True),
            ("rewardIndex", index, True), ("oldRecipient", token.shares[index].recipient, False),
            ("newRecipient", new, False), changes={"recipient": (index, new)},
        )  # fmt: skip

    def _share_admin(self, token: Launched) -> Emitted:
        index, new = self._share_of(token), self.maker.address()
        return self._event(
            "reward_admin_updated", token, token.columns["locker_address"],
            "RewardAdminUpdated(address,uint256,address,address)", ("token", token.address, True),
            ("rewardIndex", index, True), ("oldAdmin", token.shares[index].admin, False), ("newAdmin", new, False),
            changes={"share_admin": (index, new)},
        )  # fmt: skip

    def _v31_recipient(self, token: Launched) -> Emitted:
        index, new = self._share_of(token), self.maker.address()
        return self._v31_share_event(
            "reward_recipient_updated", token, index, "RewardRecipientUpdated",
            ("oldRecipient", token.shares[index].recipient, True), ("newRecipient", new, False),
            changes={"recipient": (index, new)},
        )  # fmt: skip

    def _v31_share_admin(self, token: Launched) -> Emitted:
        index, new = self._share_of(token), self.maker.address()
        return self._v31_share_event(
            "reward_admin_updated", token, index, "RewardRecipientAdminUpdated",
            ("oldAdmin", token.shares[index].admin, True), ("newAdmin", new, False),
            changes={"share_admin": (index, new)},
        )  # fmt: skip

    def _v31_share_event(
        self, kind: str, token: Launched, index: int, name: str, *arguments: tuple[str, Any, bool], **meaning: Any
    ) -> Emitted:
        """Build an event that names the LP NFT; its name has the share, which is stored as an argument."""
        signature = f"{('Creator', 'Interface')[index]}{name}(uint256,address,address)"
        position = ("lpTokenId", token.position_id, True)
        made = self._event(kind, token, addresses.LOCKER_V31, signature, position, *arguments, **meaning)
        if made.happening:
            made.happening.arguments["rewardIndex"] = str(index)
        return made

    def _preference(self, token: Launched) -> Emitted:
        index, new = self._share_of(token), self.rng.randrange(3)
        if token.columns["locker_address"] not in addresses.LOCKERS_WITH_PREFERENCES:
            return self._collection(token, [0] * len(token.shares))
        return self._event(
            "fee_preference_updated", token, token.columns["locker_address"],
            "FeePreferenceUpdated(address,uint256,uint8,uint8)", ("token", token.address, True),
            ("rewardIndex", index, True), ("oldFeePreference", 0, False), ("newFeePreference", new, True),
            changes={"wants": (index, ("Both", "Paired", "Clanker")[new])},
        )  # fmt: skip

    def _collected(self, token: Launched) -> Emitted:
        return self._collection(token, [self.rng.randrange(10**20) for _ in token.shares])

    def _collection(self, token: Launched, amounts: list[int]) -> Emitted:
        return self._event(
            "fees_collected", token, token.columns["locker_address"], _COLLECTED, ("token", token.address, True),
            ("amount0", sum(amounts), False), ("amount1", 0, False), ("rewards0", amounts, False),
            ("rewards1", [0] * len(amounts), False),
        )  # fmt: skip

    def _team_fees(self, token: Launched) -> Emitted:
        recipient, amount = self.maker.address(), self.rng.randrange(3) and self.rng.randrange(10**20)
        return self._event(
            "team_fees_claimed", token, addresses.FACTORY, "ClaimTeamFees(address,address,uint256)",
            ("token", token.address, True), ("recipient", recipient, True), ("amount", amount, False),
            claims=((recipient, token.address, amount),) if amount else (),
        )  # fmt: skip

    def _vault_claimed(self, token: Launched) -> Emitted:
        amount = self.rng.randrange(10**28)
        signature = "AllocationClaimed(address,uint256,uint256)"
        arguments = (("token", token.address, True), ("amount", amount, False), ("remainingAmount", 5, False))
        return self._event("vault_claimed", token, addresses.VAULT, signature, *arguments)

    def _vault_admin(self, token: Launched) -> Emitted:
        return self._event(
            "vault_admin_updated", token, addresses.VAULT, "AllocationAdminUpdated(address,address,address)",
            ("token", token.address, True), ("oldAdmin", token.columns["admin"], True),
            ("newAdmin", self.maker.address(), True),
        )  # fmt: skip

    def _airdrop_claimed(self, token: Launched) -> Emitted:
        return self._event(
            "airdrop_claimed", token, token.airdrop or "", "AirdropClaimed(address,address,uint256,uint256)",
            ("token", token.address, True), ("user", self.maker.address(), True),
            ("totalUserAmountClaimed", self.rng.randrange(10**28), False), ("userAmountStillLocked", 0, False),
        )  # fmt: skip

    def _airdrop_root(self, token: Launched) -> Emitted:
        root = self.rng.randbytes(32)
        return self._event(
            "airdrop_root_updated", token, token.airdrop or "", "AirdropMerkleRootUpdated(address,bytes32,bytes32)",
            ("token", token.address, True), ("oldMerkleRoot", bytes(32), False), ("newMerkleRoot", root, False),
            changes={"airdrop": {"merkleRoot": "0x" + root.hex()}},
        )  # fmt: skip

    def _airdrop_admin(self, token: Launched) -> Emitted:
        new = self.maker.address()
        return self._event(
            "airdrop_admin_updated", token, token.airdrop or "", "AirdropAdminUpdated(address,address,address)",
            ("token", token.address, True), ("oldAdmin", token.columns["admin"], True), ("newAdmin", new, True),
            changes={"airdrop": {"admin": new}},
        )  # fmt: skip

    def _claim(self, token: Launched) -> Emitted:
        match token.columns["generation"]:
            case "v4" | declared_launches.LAUNCHPAD:
                return self._fee_claim(token.address, token=token)
            case "v3.1":
                return self._v31_claim(token)
        return self._v0_claim(token)

    def _fee_claim(self, currency: str, *, token: Launched | None) -> Emitted:
        owner, amount = self.maker.address(), self.rng.randrange(4) and self.rng.randrange(10**20)
        log = emit(
            addresses.FEE_LOCKER, "ClaimTokens(address,address,uint256)", owner, currency, amount, indexed=(0, 1)
        )
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
        creator, interface, team = (self.maker.address() for _ in range(3))
        amounts = [self.rng.randrange(1, 10**20) for _ in range(6)]
        named = list(
            zip(
                (f"{role}Reward{place}" for role in ("creator", "interface", "team") for place in (0, 1)),
                amounts,
                (False,) * 6,
                strict=True,
            )
        )
        paid = [(recipient, currency) for recipient in (creator, interface, team) for currency in (low, high)]
        return self._event(
            "fees_claimed", token, addresses.LOCKER_V31, _V31_CLAIMED, ("lpTokenId", token.position_id, True),
            ("creatorRecipient", creator, True), ("interfaceRecipient", interface, True),
            ("teamRecipient", team, False), ("token0", low, False), ("token1", high, False), *named,
            claims=tuple((*pair, amount) for pair, amount in zip(paid, amounts, strict=True)),
        )  # fmt: skip

    def _v0_claim(self, token: Launched) -> Emitted:
        """Return a claim from a locker whose fee is 0; it names no currency."""
        pair = sorted((token.address, token.columns["paired_token"]), key=str.lower)
        claimer, amounts = self.maker.address(), [self.rng.randrange(1, 10**20) for _ in range(2)]
        zero = "0x" + "00" * 20
        return self._event(
            "fees_claimed", token, token.columns["locker_address"],
            "ClaimedFees(address,address,address,uint256,uint256,uint256,uint256)", ("claimer", claimer, True),
            ("token0", zero, True), ("token1", zero, True), ("amount0", amounts[0], False),
            ("amount1", amounts[1], False), ("total0", amounts[0], False), ("total1", amounts[1], False),
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
