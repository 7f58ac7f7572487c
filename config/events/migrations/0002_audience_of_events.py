from django.db import migrations, models

# The former version writes and reads 0 for operators and -1 for the stream as owners. The version after this one drops
# the triggers, and sets such owners to NULL.
BRIDGE = """
CREATE FUNCTION bridge_event_audience() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.owner_id IS NULL THEN
        NEW.owner_id := CASE NEW.audience WHEN 'operators' THEN 0 ELSE -1 END;
    ELSE
        NEW.audience := CASE NEW.owner_id WHEN 0 THEN 'operators' WHEN -1 THEN 'stream' ELSE 'partner' END;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER audience_of_event BEFORE INSERT ON events_event FOR EACH ROW
    WHEN (NEW.owner_id IS NULL AND NEW.audience IN ('operators', 'stream')
        OR NEW.owner_id IS NOT NULL AND NEW.audience = 'public')
    EXECUTE FUNCTION bridge_event_audience();
"""
NO_BRIDGE = """
DROP TRIGGER audience_of_event ON events_event;
DROP FUNCTION bridge_event_audience();
"""


class Migration(migrations.Migration):
    """Audience of published events as a column. Stored events count as public until 0003 fills it."""

    dependencies = [("events", "0001_events")]

    operations = [
        migrations.AddField(
            "event",
            "audience",
            models.CharField(
                choices=[
                    ("public", "all subscribers"),
                    ("partner", "Partner"),
                    ("operators", "Operators"),
                    ("stream", "clients of the stream"),
                ],
                db_default="public",
                default="public",
                max_length=9,
            ),
        ),
        migrations.RunSQL(BRIDGE, NO_BRIDGE),
    ]
