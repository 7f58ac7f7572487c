"""Bonding curve on a token's page: how far the token is from graduation, or when it graduated."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from tokens.installation.installed_registry import registry
from tokens.models import BondingCurve, Token


@dataclass(frozen=True, kw_only=True)
class CurveState:
    """Progress on a curve; unknown facts are None. Amounts are in whole units of the quote currency."""

    # As `Market.curve_progress`; only the end is known for a declared curve.
    progress: Decimal | None
    is_declared: bool
    graduated_at: datetime | None
    # Amount that completes the curve, and the amount that is still missing.
    threshold: Decimal | None
    missing: Decimal | None


def read_curve(token: Token) -> CurveState | None:
    """Return the curve on which the token was launched; None without one. One query on Solana."""
    is_declared = token.chain_id != registry().solana.chain_id
    if is_declared and not _facts(token).get("curve_config"):
        return None
    progress = token.market.curve_progress
    threshold = None if is_declared else _threshold(token)
    return CurveState(
        progress=progress,
        is_declared=is_declared,
        graduated_at=token.market.graduated_at,
        threshold=threshold,
        missing=None if threshold is None or progress is None else threshold * (100 - progress) / 100,
    )


def _facts(token: Token) -> dict[str, Any]:
    return token.launch.facts if hasattr(token, "launch") else {}


def _threshold(token: Token) -> Decimal | None:
    facts = _facts(token)
    decimals = (facts.get("pool") or {}).get("pair_decimals")
    curves = BondingCurve.objects.filter(chain_id=token.chain_id, config=facts.get("curve_config") or "")
    threshold = curves.values_list("migration_threshold", flat=True).first()
    return None if threshold is None or decimals is None else threshold.scaleb(-int(decimals))
