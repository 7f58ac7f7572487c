from django.db import migrations, models


class Migration(migrations.Migration):
    """Error codes of broadcasts as a column, which 0017 fills.

    Texts of errors keep their columns under another name of the field.
    """

    replaces = [("tokens", "0066_broadcast_errors")]
    dependencies = [("tokens", "0013_wallet_alerts")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameField("signedtransaction", "answer", "error"),
                migrations.AlterField(
                    "signedtransaction", "error", models.TextField(blank=True, db_column="answer")
                ),
                migrations.RenameField("chainhead", "trouble", "error"),
                migrations.AlterField("chainhead", "error", models.TextField(blank=True, db_column="trouble")),
            ]
        ),
        # Last: the table is locked until the transaction ends.
        migrations.AddField(
            "signedtransaction",
            "error_code",
            models.CharField(
                blank=True,
                choices=[
                    ("nonce_spent", "Nonce Spent"),
                    ("underpriced", "Underpriced"),
                    ("fee_too_low", "Fee Too Low"),
                    ("insufficient_funds", "Insufficient Funds"),
                    ("rejected", "Rejected"),
                    ("unknown", "Unknown"),
                ],
                db_default="",
                default="",
                max_length=18,
            ),
        ),
    ]
