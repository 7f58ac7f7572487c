import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

from accounts.operators import roles

PERMISSIONS = {
    roles.OPERATOR: ("tokens.view_upload", "tokens.change_upload"),
    roles.SUPPORT: ("tokens.view_upload",),
}


class Migration(migrations.Migration):
    """Uploads of partners, of which there are none yet, and the pages of operators about them."""

    dependencies = [("tokens", "0041_saved_allowlists"), ("accounts", "0004_roles")]

    operations = [
        migrations.CreateModel(
            name="Upload",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64)),
                ("kind", models.CharField(choices=[("picture", "Picture"), ("metadata", "Metadata")], max_length=8)),
                (
                    "storage",
                    models.CharField(
                        choices=[("directory", "Directory"), ("s3", "S3"), ("pinning", "Pinning")], max_length=9
                    ),
                ),
                ("size", models.PositiveIntegerField()),
                ("url", models.CharField(max_length=2048)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("blocked_at", models.DateTimeField(null=True)),
                (
                    "partner_key",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="uploads",
                        to="accounts.partnerkey",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["partner_key", "created_at"], name="upload_quota")],
                "constraints": [
                    models.UniqueConstraint(fields=("digest",), name="upload_once"),
                    models.CheckConstraint(
                        condition=models.Q(("digest__regex", "^[0-9a-f]{64}$")), name="upload_digest_form"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["picture", "metadata"])), name="upload_kind_known"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("storage__in", ["directory", "s3", "pinning"])),
                        name="upload_storage_known",
                    ),
                ],
            },
        ),
        roles.grant(PERMISSIONS),
    ]
