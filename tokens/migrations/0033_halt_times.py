from django.db import migrations, models


class Migration(migrations.Migration):
    """Beginning and end of a chain's last halt. The table has one row for each chain."""

    dependencies = [("tokens", "0032_volume_sort")]

    operations = [
        migrations.AddField("chainhead", "halted_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("chainhead", "resumed_at", models.DateTimeField(blank=True, null=True)),
    ]
