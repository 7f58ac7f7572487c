from django.db import migrations, models


class Migration(migrations.Migration):
    """FIDs that agents have proven to be theirs; none is proven before."""

    dependencies = [("leaderboard", "0006_confirmed_interactions")]

    operations = [
        migrations.AddField("agent", "proven_fid", models.BigIntegerField(blank=True, editable=False, null=True)),
    ]
