"""Response of the endpoint for trending pools."""

from typing import Annotated, Any, TypedDict

from config.parsing.json_rules import Component, Schema
from config.parsing.response_types import open_object_schema
from tokens.catalogue.responses import TOKEN_RECORD
from tokens.market.pool_statistics import CHANGE_PERIODS, PERIODS, TRADE_COUNTS


def _digits(description: str) -> Schema:
    return {"type": ["string", "null"], "description": f"{description}, in decimal digits."}


_POOL = open_object_schema(
    {
        "name": {"type": "string"},
        "address": {"type": "string", "description": "In lower case, the 32-byte pool id for v4; base58 on Solana."},
        "base_token_price_usd": _digits("USD"),
        "quote_token_price_usd": _digits("USD"),
        "pool_created_at": {"type": ["string", "null"], "format": "date-time"},
        "fdv_usd": _digits("USD"),
        "market_cap_usd": _digits("USD; null also where the pool holds too little for it"),
        "reserve_in_usd": _digits("USD"),
        "price_change_percentage": open_object_schema(dict.fromkeys(CHANGE_PERIODS, _digits("Percent points"))),
        "volume_usd": open_object_schema(dict.fromkeys(PERIODS, _digits("USD, pool amounts"))),
        "transactions": open_object_schema(
            dict.fromkeys(PERIODS, open_object_schema(dict.fromkeys(TRADE_COUNTS, {"type": ["integer", "null"]})))
        ),
    }
)
TrendingToken = Annotated[
    dict[str, Any],
    Component(
        "TrendingToken",
        {
            "type": "object",
            "description": "Token record with its pool; only the pool if the token is not indexed.",
            "properties": {**TOKEN_RECORD.schema["properties"], "pool": _POOL},
            "required": ["pool"],
        },
    ),
]


class Trending(TypedDict):
    trending: Annotated[list[str], "Pool addresses, sorted."]
    tokens: dict[str, TrendingToken]
