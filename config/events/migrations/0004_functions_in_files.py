from django.db import migrations

from config.postgresql.sql_files import load_sql


class Migration(migrations.Migration):
    """Trigger function of audiences, from its file."""

    dependencies = [("events", "0003_audience_of_outbox")]

    operations = [load_sql("config/events/event_audience.sql", "dcbab05adb7a")]
