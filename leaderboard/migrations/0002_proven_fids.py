from django.db import migrations, models


class Migration(migrations.Migration):
    """FIDs that agents have proven to be theirs; none is proven before."""

    replaces = [("leaderboard", "0007_proven_fids")]
    dependencies = [("leaderboard", "0001_version_0_2_0")]

    operations = [
        migrations.AddField("agent", "proven_fid", models.BigIntegerField(blank=True, editable=False, null=True)),
    ]
