from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0013_roles_of_webhooks"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="webhookdelivery",
            index=models.Index(fields=["endpoint", "status", "-id"], name="webhook_delivery_newest_by"),
        ),
        migrations.AddIndex(
            model_name="webhookdelivery",
            index=models.Index(
                condition=models.Q(("status__in", ["failed", "cancelled"])),
                fields=["status", "-id"],
                name="webhook_delivery_by_status",
            ),
        ),
        migrations.AddIndex(
            model_name="webhookdelivery",
            index=models.Index(
                condition=models.Q(("reason__in", ["replay", "test"])),
                fields=["reason", "-id"],
                name="webhook_delivery_by_reason",
            ),
        ),
    ]
