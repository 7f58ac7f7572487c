from django.db import migrations, models

# The former version stores "status: text"; it goes on reading the text.
FILL = """
SET LOCAL statement_timeout = '30min';
UPDATE tokens_signedtransaction SET error_code = CASE split_part(answer, ': ', 1)
    WHEN 'nonce spent' THEN 'nonce_spent'
    WHEN 'underpriced' THEN 'underpriced'
    WHEN 'fee too low' THEN 'fee_too_low'
    WHEN 'too poor' THEN 'insufficient_funds'
    WHEN 'refused' THEN 'rejected'
    ELSE 'unknown'
END
WHERE answer <> '';
"""


class Migration(migrations.Migration):
    """Error codes of broadcasts as a column. Rows of nonces in flight are written again within seconds.

    Texts of errors keep their columns under another name of the field.
    """

    dependencies = [("tokens", "0065_wallet_alerts")]

    operations = [
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
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
