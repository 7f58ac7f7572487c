from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models
from django.db.models import Q

# Events with an owner are few, and published rows never change: no other process waits for these.
FILL = """
SET LOCAL statement_timeout = '30min';
UPDATE events_event SET audience = CASE owner_id WHEN 0 THEN 'operators' WHEN -1 THEN 'stream' ELSE 'partner' END
    WHERE owner_id IS NOT NULL AND audience = 'public';
"""
FILL_OUTBOX = """
UPDATE events_outboxevent SET audience = CASE owner_id WHEN 0 THEN 'operators' WHEN -1 THEN 'stream' ELSE 'partner' END
    WHERE owner_id IS NOT NULL;
"""
BRIDGE = """
CREATE TRIGGER audience_of_event BEFORE INSERT ON events_outboxevent FOR EACH ROW
    WHEN (NEW.owner_id IS NULL AND NEW.audience IN ('operators', 'stream')
        OR NEW.owner_id IS NOT NULL AND NEW.audience = 'public')
    EXECUTE FUNCTION bridge_event_audience();
"""


class Migration(migrations.Migration):
    """Audience of stored events, and in the outbox, where a constraint refuses one that contradicts the owner.

    The outbox is locked last, and holds the events of a second.
    """

    dependencies = [("events", "0002_audience_of_events")]

    operations = [
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.AddField(
            "outboxevent",
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
        migrations.RunSQL(FILL_OUTBOX, migrations.RunSQL.noop),
        migrations.RunSQL(BRIDGE, "DROP TRIGGER audience_of_event ON events_outboxevent"),
        AddConstraintNotValid(
            "outboxevent",
            models.CheckConstraint(
                condition=Q(audience="partner", owner_id__isnull=False, owner_id__gt=0)
                | Q(Q(owner_id__isnull=True) | Q(owner_id__lte=0), audience__in=["public", "operators", "stream"]),
                name="outbox_event_audience_known",
            ),
        ),
    ]
