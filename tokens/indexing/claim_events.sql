-- Events of fee claims: fees.claimed and fees.reorged, by the trigger's argument. launch_events.py has their schemas.
CREATE OR REPLACE FUNCTION store_events_of_claims() RETURNS trigger LANGUAGE plpgsql AS $$
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
            'at', to_char(claim.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        )
        FROM claims AS claim JOIN tokens_tokenevent AS event ON event.id = claim.event_id
        LEFT JOIN tokens_token AS token ON token.id = event.token_id
        ORDER BY claim.id;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER events_of_new_claims AFTER INSERT ON tokens_feeclaim REFERENCING NEW TABLE AS claims
    FOR EACH STATEMENT WHEN (current_setting('launchboard.events', true) IS DISTINCT FROM 'off')
    EXECUTE FUNCTION store_events_of_claims('fees.claimed');

CREATE OR REPLACE TRIGGER events_of_dropped_claims AFTER DELETE ON tokens_feeclaim REFERENCING OLD TABLE AS claims
    FOR EACH STATEMENT WHEN (current_setting('launchboard.events', true) IS DISTINCT FROM 'off')
    EXECUTE FUNCTION store_events_of_claims('fees.reorged');
