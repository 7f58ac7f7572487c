from django.db import migrations, models

from config.postgresql.sql_files import load_sql


class Migration(migrations.Migration):
    """Audience of published events as a column. Stored events count as public until 0003 fills it."""

    dependencies = [("events", "0001_version_0_2_0")]

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
        load_sql("config/events/event_audience.sql", "dcbab05adb7a", triggers_on="events_event"),
    ]
