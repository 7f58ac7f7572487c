-- Events of tokens: token.indexed, token.updated, token.reorged and token.confirmed. launch_events.py has the schemas.
--
-- Launchers write texts of any length, and any text as the image's URL.
CREATE OR REPLACE FUNCTION event_data_of_token(token tokens_token) RETURNS jsonb LANGUAGE sql STABLE AS $$
SELECT jsonb_build_object(
    'contract_address', token.contract_address,
    'chain_id', token.chain_id,
    'generation', token.generation,
    'name', "left"(token.name, 256),
    'symbol', "left"(token.symbol, 256),
    'img_url', CASE WHEN length(token.img_url) <= 2048
        THEN substring(token.img_url FROM '(?i)^(?:https?|ipfs)://[^\s<>"\\]+$') END,
    'decimals', token.decimals,
    'supply', token.supply::text,
    'admin', NULLIF(token.admin, ''),
    'msg_sender', NULLIF(token.msg_sender, ''),
    'requestor_fid', token.requestor_fid,
    'requestor_address', NULLIF(token.requestor_address, ''),
    'pool_address', NULLIF(token.pool_address, ''),
    'paired_token', NULLIF(token.paired_token, ''),
    'pair', NULLIF("left"(token.pair, 100), ''),
    'factory_address', token.factory_address,
    'tx_hash', token.tx_hash,
    'log_index', token.log_index,
    'block_number', token.block_number,
    'block_hash', token.block_hash,
    'deployed_at', to_char(token.deployed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'tags', jsonb_build_object(
        'champagne', token.champagne,
        'verified', token.verified OR token.verified_on_chain,
        'knownInterfaceDeployer', token.known_interface_deployer,
        'blocked', token.blocked
    )
)
$$;

CREATE OR REPLACE FUNCTION store_events_of_new_tokens() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events_outboxevent (type, version, chain_id, subject, data)
        SELECT event.type, 1, chain_id, contract_address, data FROM (
            SELECT id, chain_id, contract_address, confirmed, event_data_of_token(ROW(added.*)::tokens_token) AS data
            FROM added WHERE NOT unindexed OFFSET 0
        ) AS token
        CROSS JOIN LATERAL (VALUES (1, 'token.indexed', true), (2, 'token.confirmed', confirmed))
            AS event (place, type, applies)
        WHERE event.applies ORDER BY id, event.place;
    RETURN NULL;
END
$$;

-- `leave_out_events` of config/events/outbox.py turns `launchboard.events` off for a transaction.
CREATE OR REPLACE TRIGGER events_of_new_tokens AFTER INSERT ON tokens_token REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT WHEN (current_setting('launchboard.events', true) IS DISTINCT FROM 'off')
    EXECUTE FUNCTION store_events_of_new_tokens();

-- A token that moves to another block is token.reorged in the former block and token.indexed in the new one. A stored
-- token that goes, returns or is confirmed has an event also in transactions of history, which may be read again.
CREATE OR REPLACE FUNCTION store_events_of_changed_tokens() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events_outboxevent (type, version, chain_id, subject, data)
        SELECT event.type, 1, token.chain_id, token.contract_address, event.data FROM (
            SELECT after.id, after.chain_id, after.contract_address,
                event_data_of_token(ROW(before.*)::tokens_token) AS before_data,
                event_data_of_token(ROW(after.*)::tokens_token) AS after_data,
                NOT before.unindexed AS was_on_chain, NOT after.unindexed AS is_on_chain,
                before.block_hash <> after.block_hash AS has_moved,
                before.confirmed AS was_confirmed, after.confirmed AS is_confirmed,
                changed.fields AS changed
            FROM after JOIN before USING (id)
            CROSS JOIN LATERAL (
                SELECT jsonb_agg(key ORDER BY key) AS fields
                FROM jsonb_each(to_jsonb(after.*)) AS written JOIN jsonb_each(to_jsonb(before.*)) AS stored USING (key)
                WHERE written.value <> stored.value AND key NOT IN (
                    'last_indexed', 'unindexed', 'confirmed', 'copy_key', 'block_number', 'block_hash', 'log_index',
                    'tx_hash', 'deployed_at'
                )
            ) AS changed
        ) AS token
        CROSS JOIN LATERAL (VALUES
            (1, 'token.reorged', before_data, was_on_chain AND (has_moved OR NOT is_on_chain)),
            (2, 'token.indexed', after_data, is_on_chain AND (has_moved OR NOT was_on_chain)),
            (3, 'token.updated', after_data || jsonb_build_object('changed', changed),
                was_on_chain AND is_on_chain AND NOT has_moved AND changed IS NOT NULL
                AND current_setting('launchboard.events', true) IS DISTINCT FROM 'off'),
            (4, 'token.confirmed', after_data,
                is_on_chain AND is_confirmed AND NOT (was_on_chain AND was_confirmed AND NOT has_moved))
        ) AS event (place, type, data, applies)
        WHERE event.applies ORDER BY token.id, event.place;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER events_of_changed_tokens AFTER UPDATE ON tokens_token
    REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION store_events_of_changed_tokens();
