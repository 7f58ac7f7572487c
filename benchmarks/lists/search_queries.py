"""The benchmark's 200 searches: everything that people and machines type, with all sorts and many filters."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

from psycopg import Connection

COUNT = 200

# What they find in a million tokens goes from nothing to a third.
TEXTS: Mapping[str, tuple[str, ...]] = {
    "one letter": ("d", "a", "e", "x", "q", "7", "D"),
    "two letters": ("ai", "in", "do", "Zz", "qx"),
    "frequent": ("dog", "inu", "coin", "doge", "PEPE", "elon", "moon", "baby", "cat", "the"),
    "two words": ("elon moon", "doge inu", "baby doge", "elon doge trump", "dark moon", "moon pepe", "e m"),
    "none": ("dogwif", "qqqzzz", "zzzzzzzz", "xqjk vvv", "no such token anywhere at all " * 3),
    "CJK": ("犬", "犬山", "月", "日本", "龙马金", "東京犬", "犬 "),
    "emoji": ("🐶", "🚀", "🚀🚀", "💎💎💎", "doge 🚀", "🦄"),
    "punctuation": ("%", "_", "\\", "'", '"', "100%", "a_d", "%%", "'s ", "$doge", "' OR 1=1 --", "(d", ".fun", "\\d"),
}
ORDERS = tuple(
    {"sortBy": sort_by, "sort": direction}
    for sort_by, direction in itertools.product(
        ("deployed-at", "market-cap", "tx-h24", "volume-h24", "price-percent-h24", "price-percent-h1"), ("desc", "asc")
    )
)


@dataclass(frozen=True)
class Query:
    """One search; `filters` are its parameters that select the tokens it finds."""

    kind: str
    filters: tuple[tuple[str, str], ...]
    others: tuple[tuple[str, str], ...]

    @property
    def parameters(self) -> dict[str, str]:
        """Return all searches."""
        return dict(self.filters) | dict(self.others)


def make_queries(database: "Connection[tuple[object, ...]]") -> list[Query]:
    """Return the searches for this database: rare words, addresses and hashes name its own tokens."""
    random = Random("searches")
    texts = [(kind, text) for kind, several in TEXTS.items() for text in several]
    texts += [(kind, text) for kind, several in _of_tokens(database).items() for text in several]
    orders, filters = itertools.cycle(ORDERS), _filters(database)
    queries = []
    # Every text by itself, and again; one in four with filters.
    for number, (kind, text) in enumerate(itertools.islice(itertools.cycle(texts), COUNT)):
        narrowed = random.choice(filters) if number % 4 == 3 else {}
        extras = {"includeMarket": "true"} if random.random() < 0.2 else {}
        pairs = tuple(sorted(({"q": text} | narrowed).items()))
        queries.append(Query(kind, pairs, tuple((next(orders) | extras).items())))
    return queries


def _of_tokens(database: "Connection[tuple[object, ...]]") -> dict[str, tuple[str, ...]]:
    rows = list(_sample(database))
    words = [max(name.split(), key=len) for name, *_ in rows if name.split()]
    _, address, tx_hash, pool = rows[0]
    return {
        "rare": tuple(words),
        "whole name": tuple(name for name, *_ in rows[:4]),
        "address": (address, address.lower(), "0x" + "12" * 20, rows[1][1]),
        "hash": (tx_hash, pool, "0x" + "ab" * 32, rows[1][2].upper().replace("0X", "0x")),
    }


def _sample(database: "Connection[tuple[object, ...]]") -> Iterator[tuple[str, str, str, str]]:
    """Return name, address, transaction and pool for tokens with a long name, spread over the table."""
    rows = database.execute(
        "SELECT name, contract_address, tx_hash, pool_address FROM tokens_token WHERE length(name) BETWEEN 9 AND 30 "
        "AND pool_address <> '' AND id % (SELECT greatest(1, count(*) / 60) FROM tokens_token) = 1 ORDER BY id LIMIT 14"
    )
    for row in rows:
        name, address, tx_hash, pool = map(str, row)
        yield name, address, tx_hash, pool


def _filters(database: "Connection[tuple[object, ...]]") -> list[dict[str, str]]:
    """Return filters that let most tokens through, and some that let few."""
    top = "SELECT {0} FROM tokens_token WHERE {0} IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC OFFSET %s LIMIT 1"

    def most(column: str, place: int) -> str:
        (value,) = database.execute(top.format(column), [place]).fetchone() or ("",)
        return str(value)

    return [
        {"chainId": "8453"},
        {"chainId": most("chain_id", 3)},
        {"champagne": "true"},
        {"pair": "WETH"},
        {"pair": "usdc", "chainId": "8453"},
        {"msgSender": most("msg_sender", 0)},
        {"msgSender": most("msg_sender", 500)},
        {"fid": most("requestor_fid", 0)},
        {"fids": ",".join(most("requestor_fid", place) for place in (1, 5, 50))},
        {"socialInterface": "bankr"},
        {"socialInterface": "cli", "pair": "weth"},
        {"startDate": "1790000000"},
        {"startDate": "1735000000", "chainId": "8453"},
    ]
