import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

from accounts.operators import roles

PERMISSIONS = {
    roles.OPERATOR: tuple(f"tokens.{action}_spendinglimit" for action in ("view", "add", "change", "delete")),
    roles.SUPPORT: ("tokens.view_spendinglimit",),
}


class Migration(migrations.Migration):
    """Spending limits, of which there are none: no key buys within a launch until an operator allows it."""

    dependencies = [("tokens", "0020_tokens_by_position"), ("accounts", "0004_roles")]

    operations = [
        migrations.CreateModel(
            name="SpendingLimit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("chain_id", models.BigIntegerField()),
                (
                    "eth_per_day",
                    models.DecimalField(
                        decimal_places=18,
                        max_digits=30,
                        validators=[django.core.validators.MinValueValidator(0)],
                    ),
                ),
                (
                    "partner_key",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="spending_limits",
                        to="accounts.partnerkey",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("partner_key", "chain_id"), name="spending_limit_once", nulls_distinct=False
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("eth_per_day__gte", 0)), name="spending_limit_positive"
                    ),
                ],
            },
        ),
        roles.grant(PERMISSIONS),
    ]
