from django.db import migrations


# A trigger runs for each statement, however many rows it writes, and not in transactions that leave events out.
ENABLED = "current_setting('launchboard.events', true) IS DISTINCT FROM 'off'"
TIME = """'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'"""

# Launchers write texts of any length, and any text as the image's URL.
TOKENS = f"""
CREATE FUNCTION event_data_of_token(token tokens_token) RETURNS jsonb LANGUAGE sql STABLE AS $$
SELECT jsonb_build_object(
    'contract_address', token.contract_address,
    'chain_id', token.chain_id,
    'generation', token.generation,
    'name', "left"(token.name, 256),
    'symbol', "left"(token.symbol, 256),
    'img_url', CASE WHEN length(token.img_url) <= 2048
        THEN substring(token.img_url FROM '(?i)^(?:https?|ipfs)://[^\\s<>"\\\\]+$') END,
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
    'deployed_at', to_char(token.deployed_at AT TIME ZONE 'UTC', {TIME}),
    'tags', jsonb_build_object(
        'champagne', token.champagne,
        'verified', token.verified OR token.verified_on_chain,
        'knownInterfaceDeployer', token.known_interface_deployer,
        'blocked', token.blocked
    )
)
$$;

CREATE FUNCTION store_events_of_new_tokens() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER events_of_new_tokens AFTER INSERT ON tokens_token REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT WHEN ({ENABLED}) EXECUTE FUNCTION store_events_of_new_tokens();

-- A token that moves to another block goes from the one and comes in the other. That a known token goes, returns or is
-- confirmed is an event also in history, which may be read again.
CREATE FUNCTION store_events_of_changed_tokens() RETURNS trigger LANGUAGE plpgsql AS $$
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
                was_on_chain AND is_on_chain AND NOT has_moved AND changed IS NOT NULL AND {ENABLED}),
            (4, 'token.confirmed', after_data,
                is_on_chain AND is_confirmed AND NOT (was_on_chain AND was_confirmed AND NOT has_moved))
        ) AS event (place, type, data, applies)
        WHERE event.applies ORDER BY token.id, event.place;
    RETURN NULL;
END
$$;
CREATE TRIGGER events_of_changed_tokens AFTER UPDATE ON tokens_token
    REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION store_events_of_changed_tokens();
"""
NO_TOKENS = """
DROP TRIGGER events_of_changed_tokens ON tokens_token;
DROP TRIGGER events_of_new_tokens ON tokens_token;
DROP FUNCTION store_events_of_changed_tokens();
DROP FUNCTION store_events_of_new_tokens();
DROP FUNCTION event_data_of_token(tokens_token);
"""

# An operator's own deployments are for operators only.
DEPLOYMENTS = f"""
CREATE FUNCTION store_event_of_deployment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events_outboxevent (type, version, chain_id, subject, owner_id, data) VALUES (
        'deployment.' || CASE NEW.status WHEN 'indexed' THEN 'succeeded' ELSE NEW.status END, 1, NEW.chain_id,
        NEW.request_key, COALESCE(NEW.partner_key_id, 0),
        jsonb_build_object(
            'requestKey', NEW.request_key,
            'status', NEW.status,
            'txHash', NULLIF(NEW.tx_hash, ''),
            'address', NULLIF(NEW.expected_address, ''),
            'error', NULLIF("left"(NEW.error, 1000), ''),
            'attempts', NEW.attempts,
            'updatedAt', to_char(NEW.updated_at AT TIME ZONE 'UTC', {TIME})
        )
    );
    RETURN NULL;
END
$$;
CREATE TRIGGER event_of_deployment AFTER UPDATE OF status ON tokens_deployment FOR EACH ROW
    WHEN (OLD.status <> NEW.status AND NEW.status IN ('submitted', 'indexed', 'failed') AND {ENABLED})
    EXECUTE FUNCTION store_event_of_deployment();
"""
NO_DEPLOYMENTS = """
DROP TRIGGER event_of_deployment ON tokens_deployment;
DROP FUNCTION store_event_of_deployment();
"""

CLAIMS = f"""
CREATE FUNCTION store_events_of_claims() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events_outboxevent (type, version, chain_id, subject, data)
        SELECT TG_ARGV[0], 1, claim.chain_id, claim.recipient, jsonb_build_object(
            'recipient', claim.recipient,
            'currency', claim.currency,
            'amount', claim.amount::text,
            'token', token.contract_address,
            'txHash', event.tx_hash,
            'logIndex', event.log_index,
            'blockNumber', event.block_number,
            'blockHash', event.block_hash,
            'at', to_char(claim.at AT TIME ZONE 'UTC', {TIME})
        )
        FROM claims AS claim JOIN tokens_tokenevent AS event ON event.id = claim.event_id
        LEFT JOIN tokens_token AS token ON token.id = event.token_id
        ORDER BY claim.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER events_of_new_claims AFTER INSERT ON tokens_feeclaim REFERENCING NEW TABLE AS claims
    FOR EACH STATEMENT WHEN ({ENABLED}) EXECUTE FUNCTION store_events_of_claims('fees.claimed');
CREATE TRIGGER events_of_dropped_claims AFTER DELETE ON tokens_feeclaim REFERENCING OLD TABLE AS claims
    FOR EACH STATEMENT WHEN ({ENABLED}) EXECUTE FUNCTION store_events_of_claims('fees.reorged');
"""
NO_CLAIMS = """
DROP TRIGGER events_of_dropped_claims ON tokens_feeclaim;
DROP TRIGGER events_of_new_claims ON tokens_feeclaim;
DROP FUNCTION store_events_of_claims();
"""


class Migration(migrations.Migration):
    """Events of tokens, deployments and fee claims, stored by the statements that change them."""

    dependencies = [("tokens", "0029_confirmed_tokens"), ("events", "0001_events")]

    operations = [
        migrations.RunSQL(TOKENS, NO_TOKENS),
        migrations.RunSQL(DEPLOYMENTS, NO_DEPLOYMENTS),
        migrations.RunSQL(CLAIMS, NO_CLAIMS),
    ]
