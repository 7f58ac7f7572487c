"""Labels for the keys of evidence; docs/leaderboard.md has the full explanations."""

import re

# Meaning of each flag.
FLAGS = {
    "CONCENTRATED": "Few accounts make most of the interactions, or accounts that interact only with this agent do.",
    "RECIPROCAL_RING": "Agents or their creators interact with each other in a circle, or the same accounts come back "
    "to a group of agents and to hardly any other.",
    "BURST_TIMING": "Interactions have the timing of programs: sooner after the cast than people's, always at the same "
    "delay, or many at once and few before and after.",
    "LOW_SCORE_AUDIENCE": "The accounts have low social scores, are new, or were registered one after another.",
    "DUPLICATE_TEXT": "Different accounts send the same text to this agent, but not to others.",
    "EARLIER": "The week's ranking found more than the day's: its wash confidence and flags apply. Their evidence is "
    "in the week's ranking.",
    "INSUFFICIENT_DATA": "Too little data: most interactions are from accounts of unknown score.",
    "SELF_TRADE": "The agent's own wallets, or others in league with them, buy and sell its token back and forth.",
}

# Formula of each sign, in terms of the figures and lists of its flag.
SIGNS = {
    "shortfall": "shortfall of effective accounts: 1 − (effective accounts: interactions² ÷ the sum of each account's "
    "interactions²) ÷ (interactions of a week, to the usual power); times interactions of a week ÷ (the same and the "
    "small-number allowance)",
    "devoted": "interactions of accounts that interact with hardly any other agent ÷ (all and the small-number "
    "allowance)",
    "members": "interactions of the ring's members, and its own with its casts ÷ (all, its own and the small-number "
    "allowance)",
    "feeders": "interactions of accounts that feed only the ring ÷ (all and the small-number allowance)",
    "clockwork": "interactions of accounts that are too quick or too regular, less those of the busiest of them, for "
    "one honest program ÷ all",
    "bursts": "interactions within bursts ÷ (all that are counted and the small-number allowance)",
    "low": "interactions of accounts with a low score ÷ (those whose score is known and the small-number allowance)",
    "newborn": "interactions of new accounts ÷ (all and the small-number allowance)",
    "batch": "interactions of accounts that were registered one after another ÷ (all and the small-number allowance)",
    "copied": "for each text, accounts that send it, less the first one and what custom allows; sum ÷ (all texts and "
    "the small-number allowance)",
    "bothSides": "twice the smaller of the own wallets' purchases and sales ÷ (all trades and the small-number "
    "allowance)",
    "matched": "trades of own wallets that another one undoes ÷ (all trades and the small-number allowance)",
    "circles": "trades in circles, less those of the busiest wallet that is not the agent's; 0 where none of its own "
    "is among them ÷ (all trades and the small-number allowance)",
    "strangers": "trades in circles by wallets that are not the agent's ÷ (all trades and the small-number allowance)",
    "roundTrips": "trades of days in which a wallet sold what it had bought ÷ (all trades and the small-number "
    "allowance)",
}

# Figures, lists and columns. `_OF_FLAG` overrides a label for one flag.
PLAIN = {
    "accounts": "accounts",
    "actors": "accounts that send it",
    "agent": "agent",
    "agents": "agents",
    "agentsInAll": "agents in the ring",
    "among": "interactions among the others",
    "amount": "amount, smallest unit",
    "at": "time, UTC",
    "audience": "accounts that interact",
    "batch": "accounts registered one after another",
    "bursts": "bursts",
    "cast": "cast",
    "casts": "casts with this reply",
    "circles": "trades in circles",
    "circlingOwn": "trades in circles by the agent's own wallets",
    "clockwork": "accounts that are too quick or too regular",
    "confidence": "wash confidence of the week",
    "copies": "copies",
    "counted": "interactions, at most one per account in five minutes",
    "custom": "multiple of the expected number that is custom",
    "devoted": "accounts that interact with hardly any other agent",
    "doubt": "small-number allowance",
    "edges": "pairs",
    "expected": "accounts expected to send it",
    "feeders": "accounts that feed only the ring",
    "fid": "FID",
    "flags": "flags of the week",
    "from": "from, UTC",
    "fromUnknownAccounts": "interactions of accounts of unknown score",
    "gaps": "gaps between interactions",
    "interactions": "interactions",
    "into": "interactions of members with this agent",
    "key": "text (its digest)",
    "knownInteractions": "interactions of accounts whose score is known",
    "listed": "the largest",
    "low": "accounts with a low score",
    "lowScore": "scores under this are low",
    "matched": "trades of own wallets that another one undoes",
    "members": "the ring",
    "most": "more than this share of interactions is too much",
    "newborn": "new accounts",
    "newbornSeconds": "accounts are new for this many seconds",
    "others": "the rest",
    "own": "trades of the agent's own wallets",
    "ownBuys": "purchases by own wallets",
    "ownSells": "sales by own wallets",
    "registeredAt": "registered, UTC",
    "roundTrips": "trades of days in which a wallet sold what it had bought",
    "said": "replies and quotes with this text",
    "score": "social score",
    "sharedWith": "agents with the same feeders",
    "shortfall": "shortfall of effective accounts",
    "side": "side",
    "spared": "multiple of the busiest account that is subtracted, for one honest program",
    "squares": "sum of each account's interactions²",
    "strength": "strength, that of the strongest sign, from 0 to 1",
    "texts": "texts",
    "to": "to, UTC",
    "trades": "trades",
    "transactions": "transactions",
    "typicalDelaySeconds": "usual seconds after the cast",
    "uses": "times sent",
    "usualDelaySeconds": "seconds after the cast that are usual",
    "usualPower": "usual power: the usual number of accounts is the interactions of a week to this power",
    "wallet": "wallet",
    "weeks": "weeks, at least 1",
    "weight": "wash confidence at full strength from this flag only",
}
_OF_FLAG = {
    ("RECIPROCAL_RING", "own"): "likes, recasts and quotes of its own casts",
    ("SELF_TRADE", "spared"): "trades in circles by the busiest wallet that is not the agent's",
}


def label_for(flag: str, name: str) -> str:
    """Return the label of a figure, list or column of a flag's evidence."""
    return _OF_FLAG.get((flag, name)) or PLAIN.get(name) or split_words(name)


def split_words(name: str) -> str:
    """Split a key into words: `typicalDelaySeconds` -> typical delay seconds; also names of flags and signs."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.replace("_", " ")).lower()
