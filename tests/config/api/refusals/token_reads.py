"""Refusals of the endpoints that read tokens."""

from tests.config.api.refusals.refusal_rows import (
    ADDRESS,
    ANY_ADDRESS,
    BASE58_ON_SOLANA,
    CHAIN,
    CURSOR,
    EVM_ADDRESS,
    FLAG,
    HEX_ELSEWHERE,
    MINT,
    POOL,
    UNIX_SECONDS,
    number,
    of_evm,
    required,
    unknown,
    wrong,
)
from tests.rows.token_lists import SORTS, cursor_of
from tokens.chains.registry.entry_rules import ROLES, SOLANA_ROLES
from tokens.market.trending_sorts import TRENDING_SORTS

_BEYOND_64_BITS, _HUGE = 2**63, "9" * 5_000
_ID = number(1, 2**63 - 1)
_FIDS = "must be 1 to 100 whole numbers, separated by commas"
_USD = number(0, 10**15)
_NO_ADDRESSES = ("0x12", "WETH", "vitalik.eth", ADDRESS + "0", "0x" + "g" * 40, ADDRESS + "\0", ADDRESS[2:])
_INCLUDED = tuple(row for name in ("includeUser", "includeMarket") for row in wrong(name, FLAG, "yes", "2", "null"))
_CURSORS = ("x", "%%%", "é", "bnVsbA==", "W10=", "a" * 600)
_MOMENT = "2026-02-07T03:50:49.000Z"
_LAUNCHPADS = (
    "must be 1 to 20 launchpads of this service, separated by commas: bankr, clanker, doppler, flaunch, fourmeme, "
    "liquid, virtuals, zora"
)
_NO_NUMBERS = ("-1", "abc", "1.0", "1e1", "٣", _BEYOND_64_BITS, _HUGE, "1\0a")
_LIST = (
    *wrong("offset", number(0, 10_000), "-1", "10001", "abc", "1.0", "٣", _BEYOND_64_BITS, _HUGE),
    *wrong("sortBy", f"must be one of {', '.join(SORTS)}", "price", "Market-Cap", "market_cap", "deployed-at desc"),
    *wrong("sort", "must be desc or asc", "up", "DESC"),
    *wrong("fid", _ID, "0", "-1", "abc", "1.5", "٣", _BEYOND_64_BITS, _HUGE),
    *wrong("chainId", _ID, "0", "-1", "abc", "1.5", "٣", _BEYOND_64_BITS, _HUGE),
    *wrong("chainId", CHAIN, 2**63 - 1),
    *wrong("fids", _FIDS, ",", "1,", "1,,2", "a", "1,0", "1;2", f"1,{2**63}", "1, 2", ",".join("1" * 101)),
    *wrong("startDate", UNIX_SECONDS, "-1", "1.5", "abc", "2026-02-07", "253402300800", "9" * 30),
    *wrong("champagne", FLAG, "yes", "on", "2", "t", "null"),
    *wrong("verified", FLAG, "yes", "2", "null"),
    *wrong("warnings", "must be none or any", "None", "UNUSUAL_TICK", "1"),
    *wrong("minMarketCap", _USD, "-1", "1.5", "1e3", "abc", 10**15 + 1, _HUGE),
    *wrong("minVolume24h", _USD, "-1", "1.5", "1e3", "abc", 10**15 + 1, _HUGE),
    *wrong("q", "must have at most 100 characters", "🐶" * 101),
    *wrong("q", "Null characters are not allowed.", "1\0a"),
    *wrong("pair", "must have at most 100 characters", "🐶" * 101),
    *wrong("pair", "must not be blank", "\u3000 "),
    *wrong("socialInterface", "must have at most 100 characters", "🐶" * 101),
    *wrong("socialInterface", "must not be blank", "\u3000 "),
    *wrong("pairAddress", POOL, *_NO_ADDRESSES, "0x" + "g" * 64, "0x" + "a" * 66),
    *wrong("msgSender", ANY_ADDRESS, *_NO_ADDRESSES),
    *wrong("launchpad", _LAUNCHPADS, "Zora", "zora,", "zora, doppler", "gone", "zora\0", ",".join(["zora"] * 30)),
    *_INCLUDED,
    *wrong("cursor", CURSOR, *_CURSORS, cursor_of({"id": "yesterday"})),
    *wrong("cursor", CURSOR, cursor_of({"id": 5, "k": 1, "s": "deployed-at"})),
    *wrong("cursor", CURSOR, *(cursor_of({"id": _MOMENT, "k": key, "s": "deployed-at"}) for key in (2**63, "1; DROP"))),
    *wrong(
        "cursor",
        CURSOR,
        *(cursor_of({"id": count, "k": 1, "s": "tx-h24"}) for count in (5.5, "5.5", 1e30, True, "x")),
        sortBy="tx-h24",
    ),
)
_NO_POOLS = ("0x", "0x12", ADDRESS[:-1], ADDRESS + "0", "0x" + "a" * 66, "ab" * 32, "0x" + "g" * 40)
# Chain and address of the token, in the path.
_PATH = (
    *wrong("chainId", _ID, "0", "-1", "base", "1.0", _BEYOND_64_BITS, "9" * 40, "٣"),
    *wrong("address", EVM_ADDRESS, *_NO_ADDRESSES[:5]),
    *wrong("address", HEX_ELSEWHERE, MINT),
    *wrong("address", BASE58_ON_SOLANA, ADDRESS, chainId=101),
    *unknown("Token not found", address=ADDRESS),
    *unknown("Token not found", chainId=1),
)
_V4_RULE = "must be a pool of generation v0 to v3.1; for a v4 pool id use /api/get-uncollected-fees/{address}"
_CREATOR = "must be an address, or a FID: a whole number from 1 without leading zeros"
_LOCKER = of_evm("on Solana there is no locker that pays fees")
_POSITION = of_evm("on Solana there is no LP position that a locker holds")
REFUSALS = {
    "listTokens": (*_LIST, *wrong("limit", number(0, 20), "21", *_NO_NUMBERS)),
    "listTokensAuthenticated": (*_LIST, *wrong("limit", number(0, 200), "201", *_NO_NUMBERS)),
    "fetchDeployedByFid": (*required("fid"), *wrong("fid", _ID, 0, "x"), *wrong("cursor", CURSOR, *_CURSORS)),
    "fetchDeployedByAddress": (
        *required("address"),
        *wrong("address", ANY_ADDRESS, *_NO_ADDRESSES),
        *wrong("cursor", CURSOR, *_CURSORS),
    ),
    "getTokensByFid": (*required("fid"), *wrong("fid", _ID, 0, "x"), *wrong("cursor", CURSOR, *_CURSORS)),
    "searchTokens": (
        *wrong("q", "must have at most 100 characters", "a" * 101),
        *wrong("fids", _FIDS, "x", "1,"),
        *wrong("cursor", CURSOR, *_CURSORS),
    ),
    "fetchTokensByAdmin": (
        *required("admin"),
        *wrong("admin", ANY_ADDRESS, *_NO_ADDRESSES),
        *wrong("chainId", CHAIN, 424242),
        *wrong("limit", number(1, 200), "-1", "x", "201"),
        *wrong("cursor", CURSOR, *_CURSORS),
        *_INCLUDED,
    ),
    "fetchByPoolAddress": (*required("poolAddress"), *wrong("poolAddress", POOL, *_NO_POOLS)),
    "estimateRewardsByPoolAddress": (
        *required("poolAddress"),
        *wrong("poolAddress", POOL, *_NO_POOLS),
        *wrong("poolAddress", _V4_RULE, "0x" + "ab" * 32, "0x" + "AB" * 32),
        *wrong("poolAddress", _LOCKER[0], MINT),
        *unknown("Token not found", poolAddress=ADDRESS),
    ),
    "getTokenByAddress": (
        *required("address"),
        *wrong("address", ANY_ADDRESS, *_NO_ADDRESSES),
        *wrong("chainId", CHAIN, 424242),
        *unknown("Token not found", address=ADDRESS),
        *unknown("Token not found", chainId=1),
    ),
    "isTokenBlocked": (
        *required("address"),
        *wrong("address", ANY_ADDRESS, *_NO_ADDRESSES),
        *wrong("chainId", CHAIN, 424242),
    ),
    "getToken": (*_PATH, *_INCLUDED),
    "listTrades": (
        *_PATH,
        *wrong("limit", number(1, 100), "0", "101", "-1", "x", "1.0"),
        *wrong("cursor", CURSOR, "x", "W10=", "a" * 600, cursor_of({"id": 5, "k": 1, "s": "at"})),
        *wrong("cursor", CURSOR, cursor_of({"id": _MOMENT, "k": 2**63, "s": "at"})),
    ),
    "listCandles": (
        *_PATH,
        *wrong("interval", "must be one of 1m, 5m, 15m, 1h, 4h, 1d", "2m", "1M", "60", "1h "),
        *wrong("from", UNIX_SECONDS, "-1", "1.5", "now", 253_402_300_800),
        *wrong("to", UNIX_SECONDS, "-1", "1.5", "now", 253_402_300_800),
        *wrong("from", "must be at most to", 600, to=599),
        *wrong("limit", number(1, 1_000), "0", "1001", "x"),
        *wrong("currency", "must be usd or quote", "eth"),
        *wrong("fill", FLAG, "yes"),
    ),
    "getTokenIntegrity": (*_PATH, *wrong("seconds", "must be one of 10, 30, 60, 300, 600", 61, "x")),
    "getLpInfo": (
        *wrong("address", EVM_ADDRESS, "0x12", ADDRESS[:-1], ADDRESS + "0", "0x" + "ab" * 32, "me.eth", "\0"),
        *wrong("address", _POSITION[0], MINT),
        *wrong("chainId", CHAIN, 424242),
        *wrong("chainId", _POSITION[1], 101),
        *wrong(
            "address", "must be a launched token; WETH is a quote token", "0x4200000000000000000000000000000000000006"
        ),
        *unknown("Token not found", address=ADDRESS),
        *unknown("Token not found", address=ADDRESS, chainId=8453),
        *unknown("Token not found", address=ADDRESS, chainId=10143),
    ),
    "getClaimInfo": (
        *required("address"),
        *wrong("address", EVM_ADDRESS, "0x12", ADDRESS + "0", "\0"),
        *wrong("address", _LOCKER[0], MINT),
        *wrong("chainId", CHAIN, 424242),
        *wrong("chainId", _LOCKER[1], 101),
        *unknown("Token not found", address=ADDRESS),
    ),
    "getClaimedFees": (
        *wrong("tokenAddress", ANY_ADDRESS, *_NO_ADDRESSES, "x", MINT[1:], "0x" + "ab" * 32, "0x" + "１" * 40),
        *wrong("feeRecipient", EVM_ADDRESS, *_NO_ADDRESSES, "x", MINT[1:], "0x" + "ab" * 32, "0x" + "１" * 40),
        *wrong("feeRecipient", BASE58_ON_SOLANA, ADDRESS, tokenAddress=MINT),
        *wrong("feeRecipient", HEX_ELSEWHERE, MINT),
        *wrong("tokenAddress", HEX_ELSEWHERE, MINT, chainId=8453),
        *wrong("tokenAddress", BASE58_ON_SOLANA, ADDRESS, chainId=101),
        *wrong("chainId", CHAIN, 424242),
        *wrong("limit", number(1, 100), "-1", "x", "101"),
        *wrong("offset", number(0, 1_000_000), "-1", "1000001", "x"),
    ),
    "getUncollectedFees": (
        *wrong("address", ANY_ADDRESS, "0x12", "nonsense", MINT[:-1], "0x" + "ab" * 32, ADDRESS[:-1] + "g"),
        *wrong("address", HEX_ELSEWHERE, MINT, chainId=8453),
        *wrong("address", BASE58_ON_SOLANA, ADDRESS, chainId=101),
        *wrong("recipient", ANY_ADDRESS, "0x12"),
        *wrong("recipient", BASE58_ON_SOLANA, ADDRESS, address=MINT),
        *wrong("recipient", HEX_ELSEWHERE, MINT),
        *wrong("chainId", CHAIN, 424242),
        *unknown("Token not found", address=ADDRESS, chainId=8453),
        *unknown("Token not found", chainId=1),
    ),
    "getCreator": (
        *wrong("creator", _CREATOR, "0", "007", "-1", _BEYOND_64_BITS, "9" * 400, "\u0661", "0x12", "alice"),
        *wrong("creator", _CREATOR, "0x" + "g" * 40, "1" * 31 + "0"),
        *wrong("limit", number(0, 10), "-1", "11", "x"),
        *wrong("days", number(0, 90), "-1", "91", "x"),
        *wrong("includeWaiting", FLAG, "yes"),
        *wrong("cursor", CURSOR, "x", "W10="),
        *wrong("recipientCursor", CURSOR, "x", "W10="),
    ),
    "searchCreator": (
        *required("q"),
        *wrong("q", "must not be blank", "  "),
        *wrong("q", "must have at most 100 characters", "a" * 101),
        *wrong("limit", number(1, 50), "0", "51", "x"),
        *wrong("cursor", CURSOR, "x", "W10=", cursor_of({"id": None, "k": 404, "s": "name"})),
    ),
    "listTrending": (
        *wrong("chainId", CHAIN, 424242),
        *wrong("chainId", _ID, "-1"),
        *wrong("page", number(1, 10), "0", "11", "1.5", "x"),
        *wrong("page", "must be given once", ["1", "2"]),
        *wrong("order", f"must be one of {', '.join(TRENDING_SORTS)}", "volume"),
        *wrong("limit", number(1, 20), "0", "21"),
    ),
    "getMarketCap": (
        *required("tokenAddress"),
        *wrong("tokenAddress", ANY_ADDRESS, "0x12"),
        *wrong("poolAddress", POOL, "0x12"),
        *wrong("chainId", CHAIN, 424242),
        *unknown("Token not found", tokenAddress=ADDRESS),
        *unknown("Token not found", poolAddress=ADDRESS),
        *unknown("Token not found", chainId=1),
    ),
    "listMarketCaps": (
        *required("addresses"),
        *wrong("addresses", "must be 1 to 100 addresses, separated by commas", ",".join([ADDRESS] * 101)),
        *wrong("addresses", ANY_ADDRESS, f"{ADDRESS},", "x"),
        *wrong("chainId", CHAIN, 424242),
    ),
    "listFactories": wrong("chainId", CHAIN, 424242),
    "listContracts": (
        *wrong("chainId", CHAIN, 424242),
        *wrong("role", f"must be one of {', '.join((*ROLES, *SOLANA_ROLES))}", "nonsense"),
    ),
    "streamTokens": (
        *wrong("creator", "must be an address or a FID", "nonsense"),
        *wrong(
            "type",
            "must be 1 to 5 of markets.changed, token.confirmed, token.indexed, token.reorged, token.updated, "
            "separated by commas",
            "nonsense",
        ),
        *wrong("chainId", _ID, "0"),
        *wrong("lastEventId", number(0, 2**63 - 1), "x"),
    ),
}
