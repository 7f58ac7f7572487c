"""Bonding curve of a token's page: how far it is from graduation."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from tokens.installation.installed_registry import registry
from tokens.models import BondingCurve, Token


@dataclass(frozen=True, kw_only=True)
class CurveState:
    """Progress on a curve; unknown facts are None. Amounts are in whole units of the quote currency."""

    # As `Market.curve_progress`.
    progress: Decimal | None
    graduated_at: datetime | None
    # What completes the curve, and what is missing of that.
    threshold: Decimal | None
    missing: Decimal | None


def read_curve(token: Token) -> CurveState | None:
    """Return the token's curve; None on chains without curves. One query on Solana."""
    if token.chain_id != registry().solana.chain_id:
        return None
    progress = token.market.curve_progress
    threshold = _threshold(token)
    return CurveState(
        progress=progress,
        graduated_at=token.market.graduated_at,
        threshold=threshold,
        missing=None if threshold is None or progress is None else threshold * (100 - progress) / 100,
    )


def _threshold(token: Token) -> Decimal | None:
    facts = token.launch.facts if hasattr(token, "launch") else {}
    decimals = (facts.get("pool") or {}).get("pair_decimals")
    curves = BondingCurve.objects.filter(chain_id=token.chain_id, config=facts.get("curve_config") or "")
    threshold = curves.values_list("migration_threshold", flat=True).first()
    return None if threshold is None or decimals is None else threshold.scaleb(-int(decimals))
