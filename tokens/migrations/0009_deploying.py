"""Deployments for partners: orders, wallets, nonces, signed versions, quotas, and the trees of airdrops."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0004_roles'),
        ('tokens', '0008_roles_of_following'),
    ]

    operations = [
        migrations.CreateModel(
            name='DeploySwitch',
            fields=[
                ('chain_id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('paused', models.BooleanField(default=False, help_text='New deployments are refused, and none is signed.')),
                ('reason', models.CharField(blank=True, help_text="For your colleagues; partners don't see it.", max_length=200)),
            ],
            options={
                'verbose_name_plural': 'deploy switches',
            },
        ),
        migrations.CreateModel(
            name='Deployment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('request_key', models.CharField(max_length=32)),
                ('body_digest', models.CharField(max_length=64)),
                ('chain_id', models.BigIntegerField()),
                ('config', models.JSONField()),
                ('salt', models.CharField(max_length=66)),
                ('to_address', models.CharField(max_length=44)),
                ('calldata', models.BinaryField()),
                ('value', models.DecimalField(decimal_places=0, max_digits=78)),
                ('gas', models.BigIntegerField()),
                ('expected_address', models.CharField(blank=True, max_length=44)),
                ('presale_id', models.DecimalField(blank=True, decimal_places=0, max_digits=78, null=True)),
                ('status', models.CharField(choices=[('enqueued', 'Enqueued'), ('submitted', 'Submitted'), ('mined', 'Mined'), ('indexed', 'Indexed'), ('failed', 'Failed')], default='enqueued', max_length=16)),
                ('error', models.TextField(blank=True)),
                ('attempts', models.PositiveIntegerField(default=0)),
                ('tx_hash', models.CharField(blank=True, max_length=66)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('final_at', models.DateTimeField(blank=True, null=True)),
                ('partner_key', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, to='accounts.partnerkey')),
                ('token', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, to='tokens.token')),
            ],
        ),
        migrations.CreateModel(
            name='AirdropTree',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('root', models.CharField(max_length=66)),
                ('amount', models.DecimalField(decimal_places=0, max_digits=78)),
                ('nodes', models.BinaryField()),
                ('deployment', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='airdrop', to='tokens.deployment')),
            ],
        ),
        migrations.CreateModel(
            name='DeployQuota',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chain_id', models.BigIntegerField()),
                ('per_day', models.PositiveIntegerField()),
                ('partner_key', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='deploy_quotas', to='accounts.partnerkey')),
            ],
        ),
        migrations.CreateModel(
            name='DeployWallet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chain_id', models.BigIntegerField()),
                ('address', models.CharField(max_length=44)),
                ('next_nonce', models.BigIntegerField(default=0)),
                ('enabled', models.BooleanField(default=True)),
                ('signable', models.BooleanField(default=False)),
                ('balance', models.DecimalField(blank=True, decimal_places=0, max_digits=78, null=True)),
                ('balance_at', models.DateTimeField(blank=True, null=True)),
                ('trouble', models.TextField(blank=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('chain_id', 'address'), name='deploy_wallet_once')],
            },
        ),
        migrations.CreateModel(
            name='DeployAttempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('nonce', models.BigIntegerField()),
                ('state', models.CharField(choices=[('open', 'Open'), ('mined', 'Mined'), ('reverted', 'Reverted'), ('lost', 'Lost'), ('cancelled', 'Cancelled')], default='open', max_length=16)),
                ('reason', models.TextField(blank=True)),
                ('tx_hash', models.CharField(blank=True, max_length=66)),
                ('block_number', models.BigIntegerField(blank=True, null=True)),
                ('block_hash', models.CharField(blank=True, max_length=66)),
                ('gas_used', models.BigIntegerField(blank=True, null=True)),
                ('gas_price', models.BigIntegerField(blank=True, null=True)),
                ('missing_since', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('final_at', models.DateTimeField(blank=True, null=True)),
                ('deployment', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='tries', to='tokens.deployment')),
                ('wallet', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='tries', to='tokens.deploywallet')),
            ],
        ),
        migrations.CreateModel(
            name='SignedTransaction',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('purpose', models.CharField(choices=[('deploy', 'Deploy'), ('cancel', 'Cancel')], default='deploy', max_length=16)),
                ('tx_hash', models.CharField(max_length=66)),
                ('raw', models.BinaryField()),
                ('max_fee', models.BigIntegerField()),
                ('priority_fee', models.BigIntegerField()),
                ('signed_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('sent_at', models.DateTimeField(blank=True, null=True)),
                ('answer', models.TextField(blank=True)),
                ('attempt', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='tokens.deployattempt')),
            ],
        ),
        migrations.CreateModel(
            name='AirdropEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('account', models.CharField(max_length=44)),
                ('amount', models.DecimalField(decimal_places=0, max_digits=78)),
                ('position', models.PositiveIntegerField()),
                ('tree', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='tokens.airdroptree')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tree', 'account'), name='airdrop_entry_once')],
            },
        ),
        migrations.AddIndex(
            model_name='deployment',
            index=models.Index(condition=models.Q(('status', 'enqueued')), fields=['chain_id', 'id'], name='deployment_enqueued'),
        ),
        migrations.AddIndex(
            model_name='deployment',
            index=models.Index(condition=models.Q(('final_at__isnull', True), models.Q(('status', 'enqueued'), _negated=True)), fields=['chain_id', 'status'], name='deployment_in_flight'),
        ),
        migrations.AddIndex(
            model_name='deployment',
            index=models.Index(fields=['partner_key', 'chain_id', 'created_at'], name='deployment_quota'),
        ),
        migrations.AddIndex(
            model_name='deployment',
            index=models.Index(fields=['expected_address'], name='deployment_address'),
        ),
        migrations.AddIndex(
            model_name='deployment',
            index=models.Index(condition=models.Q(('presale_id__isnull', False)), fields=['presale_id'], name='deployment_presale'),
        ),
        migrations.AddConstraint(
            model_name='deployment',
            constraint=models.UniqueConstraint(fields=('partner_key', 'request_key'), name='deployment_once', nulls_distinct=False),
        ),
        migrations.AddConstraint(
            model_name='deployment',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['enqueued', 'submitted', 'mined', 'indexed', 'failed'])), name='deployment_status_known'),
        ),
        migrations.AddConstraint(
            model_name='deployquota',
            constraint=models.UniqueConstraint(fields=('partner_key', 'chain_id'), name='deploy_quota_once'),
        ),
        migrations.AddIndex(
            model_name='deployattempt',
            index=models.Index(condition=models.Q(('final_at__isnull', True)), fields=['wallet', 'nonce'], name='deploy_attempt_in_flight'),
        ),
        migrations.AddConstraint(
            model_name='deployattempt',
            constraint=models.UniqueConstraint(fields=('wallet', 'nonce'), name='deploy_attempt_nonce_once'),
        ),
        migrations.AddConstraint(
            model_name='deployattempt',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['open', 'mined', 'reverted', 'lost', 'cancelled'])), name='deploy_attempt_state_known'),
        ),
        migrations.AddConstraint(
            model_name='signedtransaction',
            constraint=models.UniqueConstraint(fields=('tx_hash',), name='signed_transaction_once'),
        ),
        migrations.AddIndex(
            model_name='deployment',
            index=models.Index(condition=models.Q(('status', 'failed')), fields=['updated_at'], name='deployment_failed'),
        ),
        # A proof is a few nodes out of megabytes: a compressed value would be read and unpacked whole for each of them.
        migrations.RunSQL(
            "ALTER TABLE tokens_airdroptree ALTER COLUMN nodes SET STORAGE EXTERNAL", migrations.RunSQL.noop
        ),
    ]
