-- Rows of a large installation, in the tables that migrations change: PostgreSQL generates them, with the tables' own
-- triggers and indexes. Events of new tokens are off, as in a backfill.
SET launchboard.events = 'off';
SET synchronous_commit = off;
DO $$
DECLARE
    name text;
    week timestamptz := date_trunc('week', now(), 'UTC');
BEGIN
    FOREACH name IN ARRAY ARRAY['tokens_trade', 'events_event'] LOOP
        FOR age IN 0..4 LOOP
            EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)', name || '_' || age, name,
                week - age * interval '7 days', week - (age - 1) * interval '7 days');
        END LOOP;
    END LOOP;
END
$$;
INSERT INTO accounts_partnerkey (name, scopes, created_at)
    SELECT 'key ' || n, '{read}', now() FROM generate_series(1, 1000) AS n;
INSERT INTO accounts_webhookendpoint (url, description, types, chain_ids, email, salt, created_at, disabled_at,
    disabled_reason, partner_key_id)
    SELECT 'https://example.com/' || n, '', '{}', '{}', '', '', now(), CASE WHEN n % 2 = 0 THEN now() END,
        CASE WHEN n % 2 = 0 THEN 'disabled by an operator' ELSE '' END, id
    FROM (SELECT id, row_number() OVER () AS n FROM accounts_partnerkey) AS key;
INSERT INTO accounts_socialprofile (fid, username, display_name, pfp_url, bio, verified_addresses)
    SELECT n, 'user' || n, 'User ' || n, '', '', '{}' FROM generate_series(1, 200000) AS n;
-- A twentieth of the names has other letters in folded case than in lower case.
INSERT INTO tokens_token (chain_id, contract_address, generation, unindexed, tx_hash, log_index, block_number,
    block_hash, created_at, last_indexed, deployed_at, name, symbol, description, img_url, admin, msg_sender,
    requestor_address, cast_hash, pool_address, paired_token, pair, factory_address, locker_address, position_id,
    presale_id, metadata, social_context, deploy_config, pool_config, extensions, launch_warnings, copy_key, champagne,
    verified, known_interface_deployer, blocked, starting_market_cap)
    SELECT 8453, '0x' || lpad(to_hex(n), 40, '0'), 'v4', false, '0x' || md5(n::text) || md5('t' || n), 1, n,
        '0x' || md5('b' || n) || md5('h' || n), now(), now(), now() - n * interval '1 minute',
        CASE WHEN n % 20 = 0 THEN 'Straße ' ELSE 'Token ' END || md5(n::text), 'T' || n, '', '',
        '0x' || lpad(to_hex(n % 5000), 40, '0'), '0x' || lpad(to_hex(n % 5000), 40, '0'), '', '',
        '0x' || md5('p' || n) || md5('q' || n), '0x4200000000000000000000000000000000000006', 'WETH', '', '', '', '',
        '{}', '{"interface": "site"}', '{}', '{}', '{}', '{}', '', false, false, false, false,
        CASE WHEN n % 100 > 0 THEN 30000 END
    FROM generate_series(1, 200000) AS n;
INSERT INTO tokens_launchfacts (token_id, facts)
    SELECT id, '{"pool": {"pair_decimals": 18, "tick_spacing": 200}, "curve_config": null}' FROM tokens_token;
INSERT INTO tokens_trade (token_id, at, "position", tx_hash, is_buy, is_conversion, amount_token, amount_quote, price)
    SELECT n % 200000 + 1, now() - n * interval '1 second', n, decode(md5(n::text) || md5('x' || n), 'hex'), true,
        false, 1000000, 1000, 0.001
    FROM generate_series(1, 2200000) AS n;
INSERT INTO tokens_candle (token_id, seconds, at, first_position, last_position, open, high, low, close, volume_quote,
    volume_usd, buys, sells)
    SELECT n % 200000 + 1, 3600, now() - n * interval '1 minute', n, n, 1, 2, 1, 2, 5, 5, 1, 1
    FROM generate_series(1, 1000000) AS n;
INSERT INTO tokens_rollingsum (token_id, seconds, volume_quote, volume_usd, buys, sells, traders)
    SELECT id, seconds, 1, 1, 1, 1, 1 FROM tokens_token, unnest(ARRAY[300, 3600, 21600, 86400]) AS seconds;
INSERT INTO tokens_poolliquiditychange (token_id, "position", at, tick_lower, tick_upper, liquidity)
    SELECT n % 200000 + 1, n, now(), -200, 200, 1000 FROM generate_series(1, 1000000) AS n;
INSERT INTO tokens_referenceprice (chain_id, pool, block_number, "position", at, currency, usd)
    SELECT 8453, '0xpool' || n % 4, n, n, now() - n * interval '2 seconds', 'WETH', 3000
    FROM generate_series(1, 1000000) AS n;
INSERT INTO tokens_tokenevent (chain_id, tx_hash, log_index, block_number, block_hash, at, kind, emitter, arguments,
    token_id)
    SELECT 8453, '0x' || md5(n::text) || md5('e' || n), 1, n, '0x' || md5('b' || n), now(),
        (ARRAY['admin_updated', 'image_updated', 'fees_claimed', 'vault_claimed'])[n % 4 + 1], '', '{}', n % 200000 + 1
    FROM generate_series(1, 1000000) AS n;
-- An outage of nodes stopped a fiftieth of the index requests.
INSERT INTO tokens_indexrequest (chain_id, tx_hash, status, last_error, block_hash, created_at, updated_at)
    SELECT 8453, '0x' || md5(n::text) || md5('r' || n),
        (ARRAY['confirmed', 'indexed', 'failed'])[n % 3 + 1], '', '', now(), now()
    FROM generate_series(1, 980000) AS n
    UNION ALL SELECT 8453, '0x' || md5('w' || n) || md5('r' || n), 'pending', 'chain 8453: all nodes failed', '', now(),
        now() FROM generate_series(1, 20000) AS n;
INSERT INTO tokens_coverage (chain_id, addresses, address_set, first_block, last_block, followed_to, verified_to,
    created_at, updated_at)
    SELECT 8453, '{}', md5(n::text), n, n + 9, n + 9, n + 9, now(), now() FROM generate_series(1, 10000) AS n;
INSERT INTO tokens_coveragealarm (chain_id, first_block, last_block, missing, invented, tx_hashes, raised_at, repaired)
    SELECT 8453, n, n, 1, 0, '{}', now(), true FROM generate_series(1, 10000) AS n;
INSERT INTO tokens_deploywallet (chain_id, address, next_nonce, enabled, signable, trouble)
    SELECT 8453, '0x' || lpad(to_hex(n), 40, '0'), 10000, true, true, CASE WHEN n = 1 THEN 'balance: is low' ELSE '' END
    FROM generate_series(1, 50) AS n;
INSERT INTO tokens_deployattempt (nonce, state, reason, tx_hash, block_hash, created_at, updated_at, final_at,
    wallet_id)
    SELECT n, 'mined', '', '', '', now(), now(), now(), id FROM tokens_deploywallet, generate_series(1, 10000) AS n;
-- Half of the broadcasts were answered with an error, since another node had accepted the transaction.
INSERT INTO tokens_signedtransaction (purpose, tx_hash, raw, max_fee, priority_fee, signed_at, sent_at, answer,
    attempt_id)
    SELECT 'launch', '0x' || md5(id::text || n) || md5('s' || id), decode(repeat(md5(id::text), 40), 'hex'), 1, 1,
        now(), now(), CASE n WHEN 1 THEN 'nonce spent: nonce too low' ELSE '' END, id
    FROM tokens_deployattempt, generate_series(1, 2) AS n;
INSERT INTO events_event (id, type, version, chain_id, subject, owner_id, data, created_at, published_at)
    SELECT n, 'token.updated', 1, 8453, md5(n::text), CASE WHEN n % 10 = 0 THEN n % 50 - 1 END,
        '{"address": "0x4200000000000000000000000000000000000006"}', now(), now() - n * interval '2 seconds'
    FROM generate_series(1, 1000000) AS n;
INSERT INTO events_outboxevent (type, version, chain_id, subject, owner_id, data)
    SELECT 'token.updated', 1, 8453, md5(n::text), CASE WHEN n % 10 = 0 THEN 1 END, '{}'
    FROM generate_series(1, 1000) AS n;
INSERT INTO leaderboard_agent (agent_id, name, token_address, is_hidden, created_at)
    SELECT 'agent-' || n, 'Agent ' || n, '', false, now() FROM generate_series(1, 10000) AS n;
INSERT INTO leaderboard_snapshot ("interval", computed_at, scoring_version, took_seconds, ranked, is_current,
    replaced_at)
    SELECT '24h', now(), 1, 1, 100, false, now() FROM generate_series(1, 50000) AS n;
INSERT INTO leaderboard_interaction (key, at, kind, actor_fid, cast_key, message_key, text_key, agent_id)
    SELECT md5(n::text)::uuid, now() - n * interval '2.5 seconds', 1, n % 50000 + 1, n, n, n, n % 10000 + 1
    FROM generate_series(1, 1000000) AS n;
