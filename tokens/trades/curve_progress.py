"""Progress of tokens on a bonding curve, in SQL: the quote reserve at the pool's price, of the reserve that ends it."""

from tokens.trades.opening_prices import integer_power

# Prices are stored with 24 digits, so that the square root of a stored price has an error below this share of it.
_ROOT_ERROR = "1e-23"
# Below a complete curve, whatever is rounded.
_MOST = "99.999999"

# The reserve is the sum of liquidity times the difference of square roots of prices, as `CurveConfig.reserve_at`
# computes it. The program stops purchases at the migration price, and sells nothing after it.
_ON_CURVE = f"""
    SELECT CASE WHEN root >= migration_sqrt_price * (1 - {_ROOT_ERROR}) THEN 100 ELSE least({_MOST}, trunc((
        SELECT sum(greatest(least(root, upper) - lower, 0) * liquidity) FROM (
            SELECT upper, liquidity, lag(upper, 1, start_sqrt_price) OVER (ORDER BY place) AS lower
            FROM unnest(sqrt_prices, liquidities) WITH ORDINALITY AS point (upper, liquidity, place)
        ) AS segment
    ) * 100 / power(2::numeric, 128) / migration_threshold, 6)) END
    FROM tokens_bondingcurve AS curve
    CROSS JOIN LATERAL (
        SELECT sqrt(price_quote * {integer_power("10", "(quote_decimals - decimals)")} * power(2::numeric, 128)) AS root
    ) AS square_root
    WHERE curve.chain_id = pool.chain_id AND curve.config = pool.curve_config AND root IS NOT NULL
"""
# `curve_progress` of `pool`; NULL without a curve whose terms are read, or without a price. `is_graduated` is what the
# pool's account has: rounding may leave the price of a complete curve just below that of its end.
CURVE_PROGRESS = f"SELECT CASE WHEN is_graduated THEN 100 ELSE ({_ON_CURVE}) END AS curve_progress"
