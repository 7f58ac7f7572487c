from django.db import migrations, models


class Migration(migrations.Migration):
    """Interactions that a source besides the agent's partner key has; stored ones count as such until they expire."""

    dependencies = [("leaderboard", "0005_leased_hub_casts")]

    operations = [
        migrations.AddField("interaction", "is_confirmed", models.BooleanField(db_default=True)),
        migrations.AlterField("interaction", "is_confirmed", models.BooleanField(db_default=False)),
    ]
