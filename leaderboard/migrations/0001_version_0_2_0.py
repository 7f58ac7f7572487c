import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    """Agents, their facts and their rankings of version 0.2.0."""

    initial = True
    replaces = [
        ("leaderboard", name)
        for name in """
        0001_leaderboard 0002_roles 0003_one_agent_each 0004_leased_hub_cursors 0005_leased_hub_casts
        0006_confirmed_interactions
        """.split()
    ]
    dependencies = [("accounts", "0001_version_0_2_0")]

    operations = [
        migrations.CreateModel(
            name='Agent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('agent_id', models.CharField(help_text='What the partner calls it; it never changes.', max_length=100)),
                ('name', models.CharField(blank=True, max_length=200)),
                ('fid', models.BigIntegerField(blank=True, help_text='Its number in the social protocol.', null=True)),
                ('token_chain_id', models.BigIntegerField(blank=True, null=True)),
                ('token_address', models.CharField(blank=True, max_length=44)),
                ('creator_fid', models.BigIntegerField(blank=True, help_text='Who made it.', null=True)),
                ('is_hidden', models.BooleanField(default=False, help_text='Shows it in no ranking any more, those that are there included. Events about it are still taken.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('described_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('partner_key', models.ForeignKey(blank=True, help_text="Who describes it and reports about it. Without one no key may, but operators' files and the hub.", null=True, on_delete=django.db.models.deletion.PROTECT, related_name='agents', to='accounts.partnerkey')),
                ('name_told_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('fid_told_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('token_told_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('creator_told_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('wallets_told_at', models.DateTimeField(blank=True, editable=False, null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('agent_id',), name='agent_id_unique'), models.UniqueConstraint(fields=('fid',), name='agent_fid_unique', violation_error_message='Another agent has this FID already: take it from that one first.'), models.CheckConstraint(condition=models.Q(('agent_id__regex', '\\S')), name='agent_id_not_blank'), models.CheckConstraint(condition=models.Q(models.Q(('fid__isnull', True), ('fid__gt', 0), _connector='OR'), models.Q(('creator_fid__isnull', True), ('creator_fid__gt', 0), _connector='OR')), name='agent_fids_positive'), models.CheckConstraint(condition=models.Q(models.Q(('token_address', ''), ('token_chain_id__isnull', True)), models.Q(('token_chain_id__isnull', False), models.Q(('token_address', ''), _negated=True)), _connector='OR'), name='agent_token_whole'), models.UniqueConstraint(fields=('token_address', 'token_chain_id'), name='agent_token_unique', violation_error_message='Another agent has this token already: take it from that one first.')],
            },
        ),
        migrations.CreateModel(
            name='Action',
            fields=[
                ('key', models.UUIDField(primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
                ('kind', models.PositiveSmallIntegerField(choices=[(1, 'Post'), (2, 'Reply'), (3, 'Quote')])),
                ('cast_hash', models.CharField(max_length=42)),
                ('cast_key', models.BigIntegerField()),
                ('text_key', models.BigIntegerField(default=0)),
                ('agent', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='actions', to='leaderboard.agent')),
            ],
            options={
                'indexes': [models.Index(fields=['at'], name='action_time'), models.Index(fields=['agent', '-at'], name='action_of_agent')],
                'constraints': [models.UniqueConstraint(fields=('cast_key', 'agent'), name='action_cast_once'), models.CheckConstraint(condition=models.Q(('kind__in', [1, 2, 3])), name='action_kind_known'), models.CheckConstraint(condition=models.Q(('cast_hash__regex', '^0x[0-9a-f]{40}$')), name='action_cast_hash_form')],
            },
        ),
        migrations.CreateModel(
            name='AgentWallet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('address', models.CharField(max_length=44)),
                ('agent', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='wallets', to='leaderboard.agent')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('agent', 'address'), name='agent_wallet_once'), models.CheckConstraint(condition=models.Q(('address', ''), _negated=True), name='agent_wallet_not_empty')],
            },
        ),
        migrations.CreateModel(
            name='EventImport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64)),
                ('name', models.TextField()),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('finished_at', models.DateTimeField(null=True)),
                ('bytes_read', models.BigIntegerField(default=0)),
                ('lines_read', models.BigIntegerField(default=0)),
                ('added', models.BigIntegerField(default=0)),
                ('known', models.BigIntegerField(default=0)),
                ('skipped', models.BigIntegerField(default=0)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('digest',), name='event_import_once')],
            },
        ),
        migrations.CreateModel(
            name='Interaction',
            fields=[
                ('key', models.UUIDField(primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
                ('kind', models.PositiveSmallIntegerField(choices=[(1, 'Like'), (2, 'Recast'), (3, 'Reply'), (4, 'Quote')])),
                ('actor_fid', models.BigIntegerField()),
                ('cast_key', models.BigIntegerField()),
                ('message_key', models.BigIntegerField(default=0)),
                ('text_key', models.BigIntegerField(default=0)),
                ('agent', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='interactions', to='leaderboard.agent')),
                ('is_confirmed', models.BooleanField(db_default=False)),
            ],
            options={
                'indexes': [models.Index(fields=['at'], name='interaction_time'), models.Index(fields=['agent', '-at'], name='interaction_of_agent')],
                'constraints': [models.UniqueConstraint(fields=('cast_key', 'actor_fid', 'kind', 'message_key', 'agent'), name='interaction_once'), models.CheckConstraint(condition=models.Q(('kind__in', [1, 2, 3, 4])), name='interaction_kind_known'), models.CheckConstraint(condition=models.Q(('actor_fid__gt', 0)), name='interaction_fid_positive')],
            },
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('key', models.UUIDField(primary_key=True, serialize=False)),
                ('kind', models.CharField(blank=True, max_length=50)),
                ('started_at', models.DateTimeField()),
                ('finished_at', models.DateTimeField()),
                ('succeeded', models.BooleanField()),
                ('agent', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='leaderboard.agent')),
                ('run_key', models.BigIntegerField(null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['finished_at'], name='run_time'), models.Index(fields=['agent', '-finished_at'], name='run_of_agent')],
                'constraints': [models.CheckConstraint(condition=models.Q(('finished_at__gte', models.F('started_at'))), name='run_ends_after_start'), models.UniqueConstraint(fields=('agent', 'run_key', 'started_at'), name='run_once')],
            },
        ),
        migrations.CreateModel(
            name='Snapshot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('interval', models.CharField(choices=[('24h', 'Day'), ('7d', 'Week'), ('30d', 'Month')], max_length=3)),
                ('computed_at', models.DateTimeField()),
                ('scoring_version', models.PositiveIntegerField()),
                ('took_seconds', models.FloatField()),
                ('ranked', models.PositiveIntegerField()),
                ('is_current', models.BooleanField(default=False)),
                ('replaced_at', models.DateTimeField(null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('is_current', True)), fields=('interval',), name='snapshot_one_current'), models.CheckConstraint(condition=models.Q(('interval__in', ['24h', '7d', '30d'])), name='snapshot_interval_known'), models.CheckConstraint(condition=models.Q(models.Q(('is_current', True), ('replaced_at__isnull', True)), ('is_current', False), _connector='OR'), name='snapshot_replaced_or_current')],
            },
        ),
        migrations.CreateModel(
            name='SocialAccount',
            fields=[
                ('fid', models.BigIntegerField(primary_key=True, serialize=False)),
                ('registered_at', models.DateTimeField()),
                ('told_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('fid__gt', 0)), name='social_account_fid_positive')],
            },
        ),
        migrations.CreateModel(
            name='SocialScore',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('fid', models.BigIntegerField()),
                ('at', models.DateTimeField()),
                ('score', models.FloatField()),
            ],
            options={
                'indexes': [models.Index(fields=['at'], name='social_score_time')],
                'constraints': [models.UniqueConstraint(fields=('fid', 'at'), name='social_score_once'), models.CheckConstraint(condition=models.Q(('fid__gt', 0)), name='social_score_of_fid'), models.CheckConstraint(condition=models.Q(('score__range', (0, 1))), name='social_score_in_range')],
            },
        ),
        migrations.CreateModel(
            name='Standing',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rank', models.PositiveIntegerField(null=True)),
                ('agent_name', models.CharField(blank=True, max_length=200)),
                ('public_id', models.CharField(max_length=100)),
                ('fid', models.BigIntegerField(null=True)),
                ('token_chain_id', models.BigIntegerField(null=True)),
                ('token_address', models.CharField(blank=True, max_length=44)),
                ('token_name', models.TextField(blank=True)),
                ('token_symbol', models.TextField(blank=True)),
                ('runs_succeeded', models.PositiveIntegerField()),
                ('runs_failed', models.PositiveIntegerField()),
                ('posts', models.PositiveIntegerField()),
                ('replies', models.PositiveIntegerField()),
                ('quotes', models.PositiveIntegerField()),
                ('interactions', models.PositiveIntegerField()),
                ('creator_fid', models.BigIntegerField(null=True)),
                ('creator_score', models.FloatField(null=True)),
                ('last_active_at', models.DateTimeField(null=True)),
                ('composite', models.FloatField()),
                ('components', models.JSONField()),
                ('wash_confidence', models.FloatField()),
                ('wash_flags', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=32), size=None)),
                ('evidence', models.JSONField()),
                ('agent', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='standings', to='leaderboard.agent')),
                ('snapshot', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='standings', to='leaderboard.snapshot')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('snapshot', 'rank'), name='standing_rank_once'), models.UniqueConstraint(fields=('agent', 'snapshot'), name='standing_agent_once'), models.CheckConstraint(condition=models.Q(('rank__isnull', True), ('rank__gt', 0), _connector='OR'), name='standing_rank_from_one'), models.CheckConstraint(condition=models.Q(('composite__range', (0, 100))), name='standing_composite_in_range'), models.CheckConstraint(condition=models.Q(('wash_confidence__range', (0, 1))), name='standing_wash_in_range')],
            },
        ),
        migrations.CreateModel(
            name='Trade',
            fields=[
                ('key', models.UUIDField(primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
                ('tx_hash', models.CharField(max_length=100)),
                ('log_index', models.IntegerField()),
                ('wallet', models.CharField(max_length=44)),
                ('is_buy', models.BooleanField()),
                ('amount', models.DecimalField(decimal_places=0, max_digits=78)),
                ('agent', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='trades', to='leaderboard.agent')),
            ],
            options={
                'indexes': [models.Index(fields=['at'], name='trade_time'), models.Index(fields=['agent', '-at'], name='trade_of_agent')],
                'constraints': [models.UniqueConstraint(fields=('agent', 'tx_hash', 'log_index'), name='trade_once'), models.CheckConstraint(condition=models.Q(('amount__gt', 0)), name='trade_amount_positive')],
            },
        ),
        migrations.CreateModel(
            name='HubCast',
            fields=[
                ('action', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='hub_cast', serialize=False, to='leaderboard.action')),
                ('fid', models.BigIntegerField()),
                ('read_until', models.BigIntegerField(default=0)),
                ('due_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=django.utils.timezone.now)),
                ('attempts', models.PositiveIntegerField(db_column='failures', db_default=0, default=0)),
                ('leased_until', models.DateTimeField(blank=True, null=True)),
                ('unfinished', models.IntegerField(db_default=0, default=0)),
                ('last_error', models.TextField(blank=True, db_default='', default='')),
            ],
            options={
                'indexes': [models.Index(fields=['due_at'], name='hub_cast_due')],
                'constraints': [models.CheckConstraint(condition=models.Q(('read_until__gte', 0)), name='hub_cast_since')],
            },
        ),
        migrations.CreateModel(
            name='HubCursor',
            fields=[
                ('agent', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='hub_cursor', serialize=False, to='leaderboard.agent')),
                ('fid', models.BigIntegerField()),
                ('casts_until', models.BigIntegerField(default=0)),
                ('due_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=django.utils.timezone.now)),
                ('attempts', models.PositiveIntegerField(db_column='failures', db_default=0, default=0)),
                ('last_error', models.TextField(blank=True, db_column='trouble', db_default='', default='')),
                ('leased_until', models.DateTimeField(blank=True, null=True)),
                ('unfinished', models.IntegerField(db_default=0, default=0)),
            ],
            options={
                'indexes': [models.Index(fields=['due_at'], name='hub_cursor_due')],
                'constraints': [models.CheckConstraint(condition=models.Q(('casts_until__gte', 0)), name='hub_cursor_since')],
            },
        ),
    ]
