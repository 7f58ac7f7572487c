from django.db import migrations, models

# A change of the catalog only, for which a busy table is locked within this time, or not at all.
LIMIT = migrations.RunSQL("SET LOCAL lock_timeout = '5s'", "SET LOCAL lock_timeout = '5s'")


class Migration(migrations.Migration):
    """Interactions that a source besides the agent's partner key has; stored ones count as such until they expire."""

    dependencies = [("leaderboard", "0005_leased_hub_casts")]

    operations = [
        LIMIT,
        migrations.AddField("interaction", "is_confirmed", models.BooleanField(db_default=True)),
        migrations.AlterField("interaction", "is_confirmed", models.BooleanField(db_default=False)),
        LIMIT,
    ]
