import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

_ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


class Migration(migrations.Migration):
    """Airdrops that partners save without a deployment, of which there are none yet."""

    dependencies = [("tokens", "0039_places_of_liquidity_changes"), ("accounts", "0004_roles")]

    operations = [
        migrations.CreateModel(
            name="SavedAirdrop",
            fields=[
                ("id", _ID),
                ("root", models.CharField(max_length=66)),
                ("amount", models.DecimalField(decimal_places=0, max_digits=78)),
                ("entry_count", models.PositiveIntegerField()),
                ("nodes", models.BinaryField()),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "partner_key",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_airdrops",
                        to="accounts.partnerkey",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["root"], name="saved_airdrop_root")],
                "constraints": [models.UniqueConstraint(fields=("partner_key", "root"), name="saved_airdrop_once")],
            },
        ),
        migrations.CreateModel(
            name="SavedAirdropEntry",
            fields=[
                ("id", _ID),
                ("account", models.CharField(max_length=44)),
                ("amount", models.DecimalField(decimal_places=0, max_digits=78)),
                ("position", models.PositiveIntegerField()),
                (
                    "tree",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="entries",
                        to="tokens.savedairdrop",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("tree", "account"), name="saved_airdrop_entry_once")
                ],
            },
        ),
        # A proof is a few nodes out of megabytes: a compressed value would be read and unpacked whole for each of them.
        migrations.RunSQL(
            "ALTER TABLE tokens_savedairdrop ALTER COLUMN nodes SET STORAGE EXTERNAL", migrations.RunSQL.noop
        ),
    ]
