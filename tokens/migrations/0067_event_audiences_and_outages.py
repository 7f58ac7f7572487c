from django.db import migrations, models

TIME = """'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'"""


def deployments(columns, values):
    """Return the function of 0030 with these columns of the event's readers."""
    return f"""
CREATE OR REPLACE FUNCTION store_event_of_deployment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events_outboxevent (type, version, chain_id, subject, {columns}, data) VALUES (
        'deployment.' || CASE NEW.status WHEN 'indexed' THEN 'succeeded' ELSE NEW.status END, 1, NEW.chain_id,
        NEW.request_key, {values},
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
"""


def markets(column, value):
    """Return the function of 0036 with this column of the event's readers."""
    return f"""
CREATE OR REPLACE FUNCTION store_events_of_markets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events_outboxevent (type, version, chain_id, subject, {column}, data)
        SELECT DISTINCT 'markets.changed', 1, chain_id, chain_id::text, {value}, '{{}}'::jsonb
        FROM changed JOIN tokens_token AS token ON token.id = token_id;
    RETURN NULL;
END
$$;
"""


# An operator's own deployments are for operators only.
DEPLOYMENTS = deployments(
    "audience, owner_id",
    "CASE WHEN NEW.partner_key_id IS NULL THEN 'operators' ELSE 'partner' END, NEW.partner_key_id",
)


class Migration(migrations.Migration):
    """Audiences of events that triggers store, and requests in an outage of nodes, as columns. 0069 fills the latter."""

    dependencies = [("tokens", "0066_broadcast_errors"), ("events", "0003_audience_of_outbox")]

    operations = [
        migrations.RunSQL(DEPLOYMENTS, deployments("owner_id", "COALESCE(NEW.partner_key_id, 0)")),
        migrations.RunSQL(markets("audience", "'stream'"), markets("owner_id", "-1")),
        migrations.AddField("indexrequest", "node_outage", models.BooleanField(db_default=False, default=False)),
    ]
