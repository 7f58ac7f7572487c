"""Presets: named lists with the usual positions for launches."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Position:
    """One liquidity range at launch, in ticks as if the launched token were token0; 10,000 bps are all liquidity."""

    tick_lower: int
    tick_upper: int
    bps: int


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A named list with the usual positions for launches."""

    name: str
    starting_tick: int
    positions: tuple[Position, ...]


def build_preset(name: str, fields: dict[str, Any]) -> Preset:
    """Build the preset from a validated table."""
    positions = tuple(Position(**position) for position in fields["positions"])
    return Preset(name=name, starting_tick=fields["starting_tick"], positions=positions)
