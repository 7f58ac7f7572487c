"""The tools: API operations with names, hints and parameters that suit language models.

Everything else about a tool comes from the operation's OpenAPI description. Few tools with few parameters: the model
reads each one in every conversation.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolEntry:
    """The tool for one operation."""

    name: str
    # operationId in the description.
    operation: str
    # When to call it, before the operation's own description.
    hint: str
    # The operation's query parameters, or its body's fields, that the tool has; all if empty.
    parameters: tuple[str, ...] = ()
    # Parameters that the operation does not require.
    required: tuple[str, ...] = ()
    # Other defaults than the operation's: an API page has more than a model should read.
    defaults: Mapping[str, Any] = field(default_factory=dict)
    # Whether a repeated call changes nothing more. Calls that only read are.
    is_idempotent: bool = False
    # Whether it only reads although its operation has a body. Calls by GET do.
    is_read: bool = False
    # Whether the list has the schema of its results: clients that pass a result on need none.
    describes_result: bool = True


_PAGE = ("limit", "cursor", "includeMarket")
_SHORT_PAGE = {"limit": 5, "includeMarket": True}

TOOLS = (
    ToolEntry(
        name="search_tokens",
        operation="listTokens",
        hint="Finds tokens by a part of their name or symbol, or by a whole address, pool or transaction hash. Names "
        "and symbols are not unique: anyone can launch a token with the name of another one, so compare the address.",
        parameters=("q", "chainId", "sortBy", "sort", *_PAGE),
        required=("q",),
        defaults=_SHORT_PAGE,
    ),
    ToolEntry(
        name="list_tokens",
        operation="listTokens",
        hint="Lists the newest tokens, or tokens by another sort and by filters.",
        parameters=(
            *("chainId", "launchpad", "fid", "msgSender", "pair", "startDate", "verified", "warnings"),
            *("minMarketCap", "minVolume24h", "sortBy", "sort", *_PAGE),
        ),
        defaults=_SHORT_PAGE,
    ),
    ToolEntry(
        name="get_token",
        operation="getToken",
        hint="Returns one token by chain id and address: its terms of launch, fees, warnings and market.",
        parameters=("includeUser", "includeMarket"),
        defaults={"includeMarket": True},
    ),
    ToolEntry(
        name="get_integrity",
        operation="getTokenIntegrity",
        hint="Returns facts about a token's launch: first buyers, bundled purchases, largest holders, and what the "
        "accounts behind the launch did. They are no verdict: name what `unknown` leaves open.",
    ),
    ToolEntry(
        name="search_creators",
        operation="searchCreator",
        hint="Finds creators by the beginning of a user name, a whole address or a FID.",
        defaults={"limit": 5},
    ),
    ToolEntry(
        name="get_creator",
        operation="getCreator",
        hint="Returns what became of a creator's launches, and the fees that they earned. The creator is an address or "
        "a FID, as `search_creators` returns it as `key`.",
        parameters=("limit", "cursor", "days", "includeWaiting"),
        defaults={"limit": 3, "days": 0},
    ),
    ToolEntry(
        name="list_trending",
        operation="listTrending",
        hint="Returns which tokens are traded most now.",
        defaults={"limit": 5},
    ),
    ToolEntry(
        name="list_trades",
        operation="listTrades",
        hint="Returns single buys and sells of a token, newest first.",
        defaults={"limit": 20},
    ),
    ToolEntry(
        name="list_candles",
        operation="listCandles",
        hint="Returns the course of a token's price and volume over time.",
        defaults={"limit": 100},
    ),
    ToolEntry(
        name="get_leaderboard",
        operation="listLeaderboard",
        hint="Ranks the automated agents that launched tokens, by their audiences.",
        defaults={"limit": 10},
    ),
    ToolEntry(
        name="get_status",
        operation="getStatus",
        hint="Returns which chains there are and how current their data is. Call it first for the ids of chains, and "
        "where something seems to be missing.",
    ),
    ToolEntry(
        name="get_uncollected_fees",
        operation="getUncollectedFees",
        hint="Returns the fees that a token's creator and other recipients can collect now.",
    ),
    ToolEntry(
        name="get_claimed_fees",
        operation="getClaimedFees",
        hint="Returns the fees that a recipient has claimed in one currency.",
    ),
    ToolEntry(
        name="index_transaction",
        operation="indexTransaction",
        hint="Adds the token that a transaction launched, or refreshes a token that is out of date. It takes seconds.",
        is_idempotent=True,
    ),
    ToolEntry(
        name="deploy_token",
        operation="deployToken",
        hint="Launches a token on a chain, which costs gas and can't be undone. Call it with `dryRun: true` first, and "
        "show the result to the user. A retry must have the same `requestKey`.",
        is_idempotent=True,
    ),
    ToolEntry(
        name="get_deploy_status",
        operation="getDeployStatus",
        hint="Returns the state of a deployment, and the token's address once it is launched.",
    ),
    ToolEntry(
        name="prepare_launch",
        operation="prepareLaunch",
        parameters=("from", "chainId", "token", "rewards", "devBuy"),
        hint="Returns the unsigned calls for a launch that the user's own wallet signs. Nothing is sent: show `texts` "
        "and `simulation` to the user, and pass `data` to the wallet unchanged.",
        is_read=True,
        describes_result=False,
    ),
    ToolEntry(
        name="prepare_swap",
        operation="prepareSwap",
        hint="Returns a quote, and the unsigned calls that buy or sell a token in its own pool. Nothing is sent: show "
        "`swap` with its fees and price impact to the user, whose own wallet signs `data`.",
        is_read=True,
        describes_result=False,
    ),
    ToolEntry(
        name="prepare_claim_fees",
        operation="prepareClaimFees",
        hint="Returns the unsigned calls that pay a v4 creator's or recipient's fees. Nothing is sent: the user's own "
        "wallet signs `data`. The currencies are launched and paired tokens.",
        is_read=True,
        describes_result=False,
    ),
    ToolEntry(
        name="prepare_collect_rewards",
        operation="prepareCollectRewards",
        hint="Returns the unsigned calls that collect tokens' pool fees. Nothing is sent: the user's own wallet signs "
        "`data`.",
        is_read=True,
        describes_result=False,
    ),
    ToolEntry(
        name="prepare_claim_airdrop",
        operation="prepareClaimAirdrop",
        hint="Returns the unsigned call, with its proof, that pays an airdrop entry. Nothing is sent: the user's own "
        "wallet signs `data`.",
        is_read=True,
        describes_result=False,
    ),
    ToolEntry(
        name="prepare_claim_vault",
        operation="prepareClaimVault",
        hint="Returns the unsigned call that pays a vault's unlocked part. Nothing is sent: the user's own wallet "
        "signs `data`.",
        is_read=True,
        describes_result=False,
    ),
    ToolEntry(
        name="prepare_presale_buy",
        operation="preparePresaleBuy",
        hint="Returns the unsigned call that buys into a presale. Nothing is sent: the user's own wallet signs `data`.",
        is_read=True,
        describes_result=False,
    ),
    ToolEntry(
        name="create_pretoken",
        operation="createPretoken",
        hint="Stores a token configuration of the user, to be launched later under its keyword.",
    ),
    ToolEntry(
        name="list_pretokens",
        operation="listPendingPretokens",
        hint="Returns the user's own token configurations that are not launched yet.",
    ),
)
