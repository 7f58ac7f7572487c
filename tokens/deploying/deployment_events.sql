-- Events of deployments: deployment.submitted, deployment.succeeded and deployment.failed. deployment_events.py has
-- their schemas. Only operators see an operator's own deployments, which have no partner key.
CREATE OR REPLACE FUNCTION store_event_of_deployment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events_outboxevent (type, version, chain_id, subject, audience, owner_id, data) VALUES (
        'deployment.' || CASE NEW.status WHEN 'indexed' THEN 'succeeded' ELSE NEW.status END, 1, NEW.chain_id,
        NEW.request_key, CASE WHEN NEW.partner_key_id IS NULL THEN 'operators' ELSE 'partner' END, NEW.partner_key_id,
        jsonb_build_object(
            'requestKey', NEW.request_key,
            'status', NEW.status,
            'txHash', NULLIF(NEW.tx_hash, ''),
            'address', NULLIF(NEW.expected_address, ''),
            'error', NULLIF("left"(NEW.error, 1000), ''),
            'attempts', NEW.attempts,
            'updatedAt', to_char(NEW.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        )
    );
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER event_of_deployment AFTER UPDATE OF status ON tokens_deployment FOR EACH ROW
    WHEN (OLD.status <> NEW.status AND NEW.status IN ('submitted', 'indexed', 'failed')
        AND current_setting('launchboard.events', true) IS DISTINCT FROM 'off')
    EXECUTE FUNCTION store_event_of_deployment();
