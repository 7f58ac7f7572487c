-- The event markets.changed, once for each chain of the updated rows. Only the stream sends it: launch_events.py.
CREATE OR REPLACE FUNCTION store_events_of_markets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events_outboxevent (type, version, chain_id, subject, audience, data)
        SELECT DISTINCT 'markets.changed', 1, chain_id, chain_id::text, 'stream', '{}'::jsonb
        FROM changed JOIN tokens_token AS token ON token.id = token_id;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER events_of_markets AFTER UPDATE ON tokens_market REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT WHEN (current_setting('launchboard.events', true) IS DISTINCT FROM 'off')
    EXECUTE FUNCTION store_events_of_markets();
