from django.db import migrations, models


class Migration(migrations.Migration):
    """Index requests that failed because a trusted program has an unknown layout, of which an alert tells operators."""

    dependencies = [("tokens", "0051_undecoded_pools")]

    operations = [
        migrations.AddField("indexrequest", "undecodable", models.BooleanField(db_default=False, default=False)),
    ]
