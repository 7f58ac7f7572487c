"""Presets: named lists of the positions that launches are usually made with."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Position:
    """One range of a launch's liquidity, in ticks as if the launched token were token0; 10,000 bps are all of it."""

    tick_lower: int
    tick_upper: int
    bps: int


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A named list of positions that launches are usually made with."""

    name: str
    starting_tick: int
    positions: tuple[Position, ...]


def build_preset(name: str, fields: dict[str, Any]) -> Preset:
    """Return the preset of a validated table."""
    positions = tuple(Position(**position) for position in fields["positions"])
    return Preset(name=name, starting_tick=fields["starting_tick"], positions=positions)
