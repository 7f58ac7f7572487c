from django.db import migrations

# -1 is the owner of events that only the stream sends. A trigger runs for each statement, however many rows it writes,
# and not in transactions that leave events out.
EVENTS = """
CREATE FUNCTION store_events_of_markets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events_outboxevent (type, version, chain_id, subject, owner_id, data)
        SELECT DISTINCT 'markets.changed', 1, chain_id, chain_id::text, -1, '{}'::jsonb
        FROM changed JOIN tokens_token AS token ON token.id = token_id;
    RETURN NULL;
END
$$;
CREATE TRIGGER events_of_markets AFTER UPDATE ON tokens_market REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT WHEN (current_setting('launchboard.events', true) IS DISTINCT FROM 'off')
    EXECUTE FUNCTION store_events_of_markets();
"""
NO_EVENTS = """
DROP TRIGGER events_of_markets ON tokens_market;
DROP FUNCTION store_events_of_markets();
"""


class Migration(migrations.Migration):
    """Events of markets that change, stored by the statements that change them."""

    dependencies = [("tokens", "0035_graduating_tokens"), ("events", "0001_events")]

    operations = [migrations.RunSQL(EVENTS, NO_EVENTS)]
