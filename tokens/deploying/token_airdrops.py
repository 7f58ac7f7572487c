"""A token's airdrops: its deployment's tree, and saved trees with its airdrop's on-chain root."""

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Q, QuerySet, Value
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Length

from config.cursors import Cursor, CursorError, LegacyCursor, decode_cursor, encode_cursor
from tokens.chains.addresses import checksum_address
from tokens.chains.launching.merkle import NODE_BYTES
from tokens.deploying import responses
from tokens.models import AirdropEntry, AirdropTree, DeploymentStatus, SavedTree, SavedTreeEntry, Token

# Entries in either table; both have the same columns.
Stored = QuerySet[AirdropEntry] | QuerySet[SavedTreeEntry]
# The newest root: an airdrop's admin may replace it until the first claim.
ROOT_ON_CHAIN = KeyTextTransform("merkleRoot", KeyTransform("airdrop", "extensions"))
_SORT = "account"
# No id comes near it.
_BEFORE_SAVED = 2**62
_ADDRESS_BITS = 160


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenAirdrop:
    """A token's airdrop, from its deployment or saved; `amount` is the entries' total in wei."""

    tree_id: int
    root: str
    amount: int
    entries: int
    is_saved: bool

    @property
    def sort_key(self) -> int:
        """Return its position among all airdrops."""
        return _sort_key(self.tree_id, is_saved=self.is_saved)

    def stored_entries(self) -> Stored:
        """Return the rows of all entries."""
        model = SavedTreeEntry if self.is_saved else AirdropEntry
        return model._default_manager.filter(tree=self.tree_id)


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimableEntry:
    """An account's (EIP-55) airdrop entry in wei, and its leaf's index in the tree's nodes."""

    tree_id: int
    root: str
    is_saved: bool
    account: str
    amount: int
    position: int


def find_airdrops(token_address: str) -> list[TokenAirdrop]:
    """Return a token's airdrops with stored entries, each root once; the address is EIP-55.

    Empty for a token that is not on its chain. One query.
    """
    columns = ("pk", "root", "amount", Length("nodes"))
    of_deployment = AirdropTree.objects.filter(_launched("deployment"), deployment__expected_address=token_address)
    saved = SavedTree.objects.filter(root__in=_roots(token_address))
    rows = of_deployment.values_list(*columns, Value(False)).union(saved.values_list(*columns, Value(True)))
    airdrops = [
        TokenAirdrop(
            tree_id=tree_id,
            root=root,
            amount=int(amount),
            entries=(size // NODE_BYTES + 1) // 2,
            is_saved=is_saved,
        )
        for tree_id, root, amount, size, is_saved in rows
    ]
    # Several partners may have saved the same entries: the first one wins.
    by_root = {airdrop.root: airdrop for airdrop in sorted(airdrops, key=lambda each: each.sort_key, reverse=True)}
    return sorted(by_root.values(), key=lambda each: each.sort_key)


def find_claimable(token_address: str, *, account: str) -> list[ClaimableEntry]:
    """Return an account's (EIP-55) entries in the airdrops that `find_airdrops` returns. One query."""
    columns = ("tree_id", "tree__root", "account", "amount", "position")
    of_deployment = AirdropEntry.objects.filter(
        _launched("tree__deployment"), tree__deployment__expected_address=token_address, account=account
    )
    saved = SavedTreeEntry.objects.filter(tree__root__in=_roots(token_address), account=account)
    rows = of_deployment.values_list(Value(False), *columns).union(saved.values_list(Value(True), *columns))
    by_root = {
        root: ClaimableEntry(
            tree_id=tree_id, root=root, is_saved=is_saved, account=owner, amount=int(amount), position=position
        )
        for is_saved, tree_id, root, owner, amount, position in sorted(rows, reverse=True)
    }
    return sorted(by_root.values(), key=lambda each: _sort_key(each.tree_id, is_saved=each.is_saved))


def _launched(deployment: str) -> Q:
    """Return the condition that a deployment's token is in a block.

    It is mined, or indexed and not unwound by a reorg that its deployment has not recorded yet.
    """
    indexed = {f"{deployment}__status": DeploymentStatus.INDEXED, f"{deployment}__token__unindexed": False}
    return Q(**{f"{deployment}__status": DeploymentStatus.MINED}) | Q(**indexed)


def _roots(token_address: str) -> QuerySet[Token, tuple[str]]:
    """Return the on-chain airdrop roots for the tokens at an address."""
    return Token.objects.at_address(token_address, chain_id=None).values_list(ROOT_ON_CHAIN)


def _sort_key(tree_id: int, *, is_saved: bool) -> int:
    """Return a tree's position among all trees, deployments' trees first."""
    return tree_id if is_saved else tree_id - _BEFORE_SAVED


def fetch_allocations(token_address: str, *, limit: int, cursor: str | None) -> responses.Allocations:
    """Fetch a page with the entries in a token's airdrops, by tree and account. Raises CursorError.

    One query for the airdrops, and one for each airdrop until the page is full.
    """
    key_before, account_before = _parse_cursor(cursor)
    allocations: list[tuple[int, str, int]] = []
    for airdrop in find_airdrops(token_address):
        if airdrop.sort_key < key_before or len(allocations) > limit:
            continue
        after = account_before if airdrop.sort_key == key_before else ""
        entries = airdrop.stored_entries().filter(account__gt=after).order_by("account")
        # One row more than the limit shows that there is another page.
        rows = entries.values_list("account", "amount")[: limit + 1 - len(allocations)]
        allocations += [(airdrop.sort_key, account, int(amount)) for account, amount in rows]
    shown: list[responses.AirdropEntryJson] = [
        {"account": account, "amount": str(amount)} for _, account, amount in allocations[:limit]
    ]
    if len(allocations) <= limit:
        return {"allocations": shown, "cursor": None}
    last_key, account, _ = allocations[limit - 1]
    position = Cursor(Decimal(int(account, 16)), last_key)
    return {"allocations": shown, "cursor": encode_cursor(position, sort_by=_SORT, descending=False)}


def _parse_cursor(text: str | None) -> tuple[int, str]:
    """Return airdrop position and account of the former page's last entry. Raises CursorError."""
    cursor = decode_cursor(text, sort_by=_SORT, descending=False, numeric=True) if text else None
    if cursor is None or isinstance(cursor, LegacyCursor):
        return -_BEFORE_SAVED, ""
    number = cursor.value
    if not isinstance(number, Decimal | int) or number != int(number) or not 0 <= number < 2**_ADDRESS_BITS:
        raise CursorError("must be the cursor of an earlier answer of this list")
    return cursor.row_id, checksum_address(f"{int(number):040x}")
