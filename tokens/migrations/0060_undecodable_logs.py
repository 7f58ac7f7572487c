from django.db import migrations, models


class Migration(migrations.Migration):
    """Contract and launchpad of undecodable logs."""

    dependencies = [("tokens", "0059_validated_kinds")]

    operations = [
        migrations.AddField(
            "indexrequest", "contract", models.CharField(blank=True, db_default="", default="", max_length=44)
        ),
        migrations.AddField(
            "indexrequest", "launchpad", models.CharField(blank=True, db_default="", default="", max_length=32)
        ),
    ]
