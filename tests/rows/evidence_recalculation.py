"""Measurements of detectors, recalculated only from their evidence, as docs/leaderboard.md describes."""


def listed(found: dict, of: str = "interactions") -> float:
    """Return the sum of an evidence list, others included."""
    shown = found["accounts"] if "accounts" in found else found["listed"]
    return sum(one[of] for one in shown) + found["others"][of]


def measured_again(flag: str, sign: str, found: dict) -> float:
    """Return a sign's value, only from the lists of its evidence."""
    whole = found.get("interactions", 0)
    if sign == "shortfall":
        everyone = found["audience"]
        squares = sum(one["interactions"] ** 2 for one in everyone["accounts"]) + everyone["others"]["squares"]
        weekly = whole / found["weeks"]
        short = 1 - whole**2 / squares / weekly ** found["usualPower"]
        return max(short, 0) * weekly / (weekly + found["doubt"]["shortfall"])
    if sign == "devoted":
        return listed(found["devoted"]) / (whole + found["doubt"]["devoted"])
    if sign == "feeders":
        return listed(found["feeders"]) / (whole + found["doubt"])
    if sign == "members":
        return (listed(found["members"]["into"]) + found["own"]) / (whole + found["own"] + found["doubt"])
    if sign == "clockwork":
        counts = [one["interactions"] for one in found["clockwork"]["accounts"]]
        return max(listed(found["clockwork"]) - found["spared"] * max(counts, default=0), 0) / whole
    if sign == "bursts":
        return listed(found["bursts"]) / (found["bursts"]["counted"] + found["bursts"]["doubt"])
    if sign == "low":
        return listed(found["low"]) / (found["knownInteractions"] + found["doubt"])
    if sign in ("newborn", "batch"):
        return listed(found[sign]) / (whole + found["doubt"])
    if sign == "copied":
        copies = [max(one["accounts"] - 1 - found["custom"] * one["expected"], 0) for one in found["listed"]]
        return (sum(copies) + found["others"]["copies"]) / (found["texts"] + found["doubt"])
    if sign == "bothSides":
        return 2 * min(found["ownBuys"], found["ownSells"]) / (found["trades"] + found["doubt"])
    name = "circles" if sign == "strangers" else sign
    number = len(found[name]["listed"]) + found[name]["others"]
    if sign == "circles":
        number = number - found["spared"] if found["circlingOwn"] else 0
    if sign == "strangers":
        number -= found["circlingOwn"]
    return number / (found["trades"] + found["doubt"])


def strength_again(flag: str, found: dict) -> float:
    """Return a detector's strength, only from the lists of its evidence."""
    strengths = []
    for name, sign in found["signs"].items():
        part = (measured_again(flag, name, found) - sign["low"]) / (sign["high"] - sign["low"])
        strengths.append(sign["top"] * min(max(part, 0), 1))
    return max(strengths)


def flags_again(evidence: dict, confidence: float) -> list[str]:
    """Return the flags of an agent, from its evidence and its wash confidence, in no order."""
    if confidence < 0.5:
        return []
    return [flag for flag, found in evidence.items() if found["weight"] * strength_again(flag, found) >= 0.1]
