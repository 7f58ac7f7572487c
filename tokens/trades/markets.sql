-- Market rows, one per token: launch and trades give the price, liquidity decides whether the price counts, and rolling
-- sums give the last day. tokens/trades/market_rows.py stores `market`, and reads quote reserves from `supported`.
--
-- Parameters:
--   token_ids, is_solana
--   quotes, rates, depths: quote tokens, USD per whole quote token, and the most USD for which it can be sold
--   since: the day from which trades are read
--   read_from: the block since which all trades and liquidity changes are stored
--
-- `STEPS` in market_rows.py has each `LATERAL (...) AS name` by its name. Statements about other rows use these steps,
-- so that each formula has one definition: starting prices in opening_prices.py and candle_pages.py, reserves and
-- support on each day in launch_outcomes.py. A test compares seconds, logarithms and the cap with Python's constants.
--
-- OFFSET 0 keeps the planner from merging a step into the next one, which would compute each value several times.

WITH pool_prices AS (
    -- The newest daily candle has the price after the last trade, and remains when trades are dropped. Before the first
    -- trade, the launch's tick gives the price.
    SELECT token.id AS token_id, token.chain_id, contract_address, block_number, supply, token.decimals,
        launch.quote_decimals, launch.curve_config, launch.tick AS starting_tick,
        10::float8 ^ token.decimals AS token_unit, 10::float8 ^ launch.quote_decimals AS quote_unit,
        rate.usd AS quote_usd, rate.depth AS quote_depth,
        coalesce(candle.close, starting.price) AS price_quote, candle.close IS NOT NULL AS is_traded,
        candle.last_position AS last_trade_position, coalesce(last_trade.at, last_traded_day.at) AS last_trade_at,
        %(is_solana)s OR side.is_currency0 AS is_currency0,
        EXISTS (SELECT FROM tokens_market WHERE token_id = token.id AND graduated_at IS NOT NULL) AS is_graduated,
        token.block_number >= %(read_from)s AS is_history_read, 'infinity'::timestamptz AS until
    FROM tokens_token AS token
    LEFT JOIN unnest(%(quotes)s::text[], %(rates)s::float8[], %(depths)s::float8[]) AS rate (quote, usd, depth)
        ON quote = paired_token
    LEFT JOIN LATERAL (
        SELECT (facts #>> '{pool,tick}')::integer AS tick,
            (facts #>> '{pool,pair_decimals}')::integer AS quote_decimals, facts ->> 'curve_config' AS curve_config
        FROM tokens_launchfacts WHERE token_id = token.id OFFSET 0
    ) AS launch ON true
    -- The price at the launch's tick, in whole quote tokens; NULL if the launch has no tick. Before version 16,
    -- PostgreSQL rounds `power` to 16 decimals, so that small results are 0. A quotient keeps at least 16 digits.
    -- Without OFFSET 0, only pools without a candle compute the powers.
    CROSS JOIN LATERAL (
        SELECT CASE WHEN launch.tick < 0 THEN 1 / power(1.0001::numeric, abs(launch.tick))
                ELSE power(1.0001::numeric, abs(launch.tick)) END
            * CASE WHEN token.decimals < launch.quote_decimals
                THEN 1 / power(10::numeric, abs(token.decimals - launch.quote_decimals))
                ELSE power(10::numeric, abs(token.decimals - launch.quote_decimals)) END AS price
    ) AS starting
    LEFT JOIN LATERAL (
        SELECT close, last_position FROM tokens_candle AS candle
        WHERE candle.token_id = token.id AND seconds = 86400 ORDER BY at DESC LIMIT 1
    ) AS candle ON true
    -- Candles count conversions as prices, but not as buys or sells.
    LEFT JOIN LATERAL (
        SELECT at FROM tokens_candle AS candle
        WHERE candle.token_id = token.id AND seconds = 86400 AND buys + sells > 0 ORDER BY at DESC LIMIT 1
    ) AS last_traded_day ON true
    -- If the trade was dropped, the candle's day replaces its time. `since` lets the planner skip partitions.
    LEFT JOIN LATERAL (
        SELECT at FROM tokens_trade AS trade
        WHERE trade.token_id = token.id AND trade.at >= last_traded_day.at AND trade.at >= %(since)s
            AND NOT is_conversion
        ORDER BY at DESC LIMIT 1
    ) AS last_trade ON true
    -- Whether the token is currency 0 in its present pool.
    CROSS JOIN LATERAL (
        SELECT coalesce(
            (SELECT present.is_currency0 FROM tokens_tokenpool AS present
                WHERE present.token_id = token.id AND present.pool_address = token.pool_address),
            lower(contract_address) COLLATE "C" < lower(paired_token) COLLATE "C"
        ) AS is_currency0
    ) AS side
    WHERE token.id = ANY(%(token_ids)s::bigint[]) OFFSET 0
),
pool AS (SELECT *, price_quote::float8 AS price FROM pool_prices OFFSET 0),
supported AS (
    SELECT pool.*, reserves.*, full_value, is_reserve_known, has_support
    FROM pool
    -- The pool's reserves at its price, without uncollected fees, in whole quote tokens: both currencies (`in_quote`),
    -- and the quote token only. Without a known liquidity change, `in_quote` is NULL, and the quote reserve is what
    -- traders paid less what they got, up to the day `until`: a bonding curve holds this. Candles from versions before
    -- 0.3.0 have volumes only, which are not smaller.
    --
    -- In a range from a to b (square roots of prices, in smallest units of currency 1 per smallest unit of currency 0),
    -- liquidity L at the price p holds L (1/p - 1/b) of currency 0 and L (p - a) of currency 1, for p from a to b.
    -- Source: equations 6.29 and 6.30 in the Uniswap v3 whitepaper; SqrtPriceMath.getAmount0Delta and getAmount1Delta
    -- in v3 and v4.
    --
    -- The root at a tick is exp(tick * log1p(0.0001) / 2): log(1.0001) has an error of 1e-13, visible at large ticks.
    -- Within 2e-14 of a range's end, the price is at the end: the last bits of `exp` are noise, and times a large
    -- liquidity they would be a reserve that no trade paid. Removed liquidity leaves exactly nothing. Sums have a fixed
    -- sequence, because another one changes their last bits, and with them a stored market.
    CROSS JOIN LATERAL (
        SELECT max(last_position) AS last_change_position,
            -- Whether the first change is the launch's own.
            min(first_position) < (pool.block_number + 1) << 20 AS is_launch_read,
            sum(liquidity * (token_amount / token_unit * price + quote_amount / quote_unit)
                ORDER BY tick_lower, tick_upper) AS in_quote,
            coalesce(sum(liquidity * quote_amount / quote_unit ORDER BY tick_lower, tick_upper), (
                SELECT sum(coalesce(net_quote, volume_quote))::float8 FROM tokens_candle AS paid
                WHERE paid.token_id = pool.token_id AND paid.seconds = 86400 AND paid.at <= pool.until
            ) / quote_unit, 0) AS quote_reserve
        FROM (
            SELECT tick_lower, tick_upper, sum(liquidity)::float8 AS liquidity, max(position) AS last_position,
                min(position) AS first_position
            FROM tokens_poolliquiditychange AS change WHERE change.token_id = pool.token_id
            GROUP BY tick_lower, tick_upper
        ) AS tick_range
        CROSS JOIN LATERAL (
            SELECT sqrt((price * quote_unit / token_unit) ^ (CASE WHEN is_currency0 THEN 1 ELSE -1 END)) AS root,
                exp(tick_lower * 4.999750016665417e-05::float8) AS a,
                exp(tick_upper * 4.999750016665417e-05::float8) AS b
        ) AS roots
        CROSS JOIN LATERAL (
            SELECT CASE WHEN root >= b * (1 - 2e-14) THEN 0 ELSE 1 / least(greatest(root, a), b) - 1 / b END AS amount0,
                CASE WHEN root <= a * (1 + 2e-14) THEN 0 ELSE least(greatest(root, a), b) - a END AS amount1 OFFSET 0
        ) AS amounts
        CROSS JOIN LATERAL (
            SELECT CASE WHEN is_currency0 THEN amount0 ELSE amount1 END AS token_amount,
                CASE WHEN is_currency0 THEN amount1 ELSE amount0 END AS quote_amount
        ) AS sides
    ) AS reserves
    -- The price in USD times the supply.
    CROSS JOIN LATERAL (
        SELECT price * quote_usd * (supply::float8 / token_unit) AS full_value
    ) AS worth
    -- Whether `full_value` counts as market cap; true if it is unknown. A launcher chooses starting price, liquidity
    -- and quote token, so that a price costs nothing (docs/market.md). Above 100,000 USD, or above twice the starting
    -- price, both the quote reserve and the quote token's depth must be at least 0.1 percent of it. The reserve is
    -- known if the launch's liquidity is stored, or all changes and trades since the launch; with an unknown
    -- reserve, a value above 100,000 USD counts only if the pool was traded. CASE, because products of small numbers would fail by underflow.
    CROSS JOIN LATERAL (
        SELECT is_reserve_known, CASE
            WHEN full_value IS NULL THEN true
            WHEN NOT is_reserve_known THEN full_value <= 100000 OR is_traded
            WHEN full_value <= 100000 AND coalesce(
                price <= 2 * exp(starting_tick * 9.999500033330834e-05::float8) * token_unit / quote_unit,
                is_launch_read IS NOT TRUE
            ) THEN true
            ELSE quote_reserve >= 0.001 * price * (supply::float8 / token_unit) AND quote_depth >= 0.001 * full_value
        END AS has_support
        FROM (SELECT is_launch_read IS TRUE OR is_history_read AS is_reserve_known) AS reserve
    ) AS support OFFSET 0
),
market AS (
    -- Without a price, only last position and progress are set; without a quote rate, no column in USD.
    SELECT pool.token_id, greatest(last_trade_position, last_change_position) AS last_position, priced.*, curve_progress
    FROM supported AS pool
    -- The quote reserve in percent of the reserve that completes the bonding curve; NULL without a curve, its stored
    -- terms or a price. A segment's reserve is its liquidity times the difference between square roots of prices, as in
    -- `CurveConfig.reserve_at`. The program stops purchases at the migration price, and sells nothing after it. Stored
    -- prices have 24 digits, so that a root's relative error is below 1e-23. Rounding may still leave the price of a
    -- complete curve just below the end: then `is_graduated`, from the pool's account, counts. An incomplete curve
    -- stays below 100.
    CROSS JOIN LATERAL (
        SELECT CASE WHEN is_graduated THEN 100 ELSE (
            SELECT CASE WHEN root >= migration_sqrt_price * (1 - 1e-23) THEN 100 ELSE least(99.999999, trunc((
                SELECT sum(greatest(least(root, upper) - lower, 0) * liquidity) FROM (
                    SELECT upper, liquidity, lag(upper, 1, start_sqrt_price) OVER (ORDER BY number) AS lower
                    FROM unnest(sqrt_prices, liquidities) WITH ORDINALITY AS point (upper, liquidity, number)
                ) AS segment
            ) * 100 / power(2::numeric, 128) / migration_threshold, 6)) END
            FROM tokens_bondingcurve AS curve
            CROSS JOIN LATERAL (
                SELECT sqrt(price_quote * CASE WHEN quote_decimals < decimals
                    THEN 1 / power(10::numeric, abs(quote_decimals - decimals))
                    ELSE power(10::numeric, abs(quote_decimals - decimals)) END * power(2::numeric, 128)) AS root
            ) AS square_root
            WHERE curve.chain_id = pool.chain_id AND curve.config = pool.curve_config AND root IS NOT NULL
        ) END AS curve_progress
    ) AS progress
    -- Sums over 1, 6 and 24 hours. A period without trades has no row, and its change is 0.
    LEFT JOIN LATERAL (
        SELECT price_quote, last_trade_at, price * quote_usd AS price_usd, quote_usd AS quote_price_usd,
            CASE WHEN has_support THEN full_value END AS market_cap,
            CASE WHEN in_quote IS NOT NULL
                THEN least(CASE WHEN has_support THEN in_quote ELSE quote_reserve END * quote_usd, quote_depth)
                END AS liquidity_usd,
            CASE WHEN quote_usd IS NOT NULL
                THEN coalesce(max(volume_usd) FILTER (WHERE seconds = 86400), 0)::float8 END AS volume_24h,
            coalesce(max(buys + sells) FILTER (WHERE seconds = 86400), 0) AS tx_count_24h,
            CASE WHEN quote_usd IS NOT NULL THEN max(trending) FILTER (WHERE seconds = 86400) END AS trending,
            CASE WHEN has_support THEN CASE WHEN bool_or(seconds = 3600)
                THEN max(change) FILTER (WHERE seconds = 3600) ELSE 0 END END AS price_change_1h,
            CASE WHEN has_support THEN CASE WHEN bool_or(seconds = 21600)
                THEN max(change) FILTER (WHERE seconds = 21600) ELSE 0 END END AS price_change_6h,
            CASE WHEN has_support THEN CASE WHEN bool_or(seconds = 86400)
                THEN max(change) FILTER (WHERE seconds = 86400) ELSE 0 END END AS price_change_24h
        FROM tokens_rollingsum AS sums
        -- Price change since the period began, in percentage points: in USD, else in the quote token. Rounded, because
        -- binary fractions would show a change by -2.2e-14 after the price returns.
        CROSS JOIN LATERAL (
            SELECT round(CASE
                WHEN price * quote_usd IS NOT NULL AND opening_usd <> 0
                    THEN (price * quote_usd / opening_usd - 1) * 100
                ELSE (price / nullif(opening_price, 0)::float8 - 1) * 100
            END::numeric, 6)::float8 AS change
        ) AS changes
        WHERE sums.token_id = pool.token_id
    ) AS priced ON price IS NOT NULL AND quote_unit IS NOT NULL
)
