import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.core.validators
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.fields.json
import django.db.models.functions.comparison
import django.db.models.functions.datetime
import django.db.models.functions.text
import django.utils.timezone
import tokens.models.expressions
import tokens.models.token
import tokens.models.trade
from django.contrib.postgres.operations import BtreeGinExtension, TrigramExtension
from django.db import migrations, models

from config.postgresql.sql_files import load_sql

STORAGE = """
-- Rows of up to 4,080 bytes, as almost all are, are stored uncompressed.
ALTER TABLE tokens_token SET (toast_tuple_target = 4080);
ALTER TABLE tokens_launchfacts SET (toast_tuple_target = 4080);
-- A proof is a few nodes out of megabytes: a compressed value would be read and unpacked whole for each of them.
ALTER TABLE tokens_airdroptree ALTER COLUMN nodes SET STORAGE EXTERNAL;
-- The planner needs a large sample of texts, and none of their grams: it would run the function on each row of it. It
-- keeps no statistics of expressions that only partial indexes have.
ALTER TABLE tokens_searchentry ALTER COLUMN text SET STATISTICS 1000;
ALTER INDEX search_by_everything ALTER COLUMN 2 SET STATISTICS 0;
CREATE STATISTICS token_pairs ON (lower(pair)) FROM tokens_token;
CREATE STATISTICS token_interfaces ON ("left"(lower(social_context ->> 'interface'), 101)) FROM tokens_token;
"""


class CreatePartitionedModel(migrations.CreateModel):
    """Operation that creates a table with partitions by time. Code that writes rows creates the partitions."""

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        schema_editor.sql_create_table = f"{type(schema_editor).sql_create_table} PARTITION BY RANGE (at)"
        super().database_forwards(app_label, schema_editor, from_state, to_state)
        del schema_editor.sql_create_table


class Migration(migrations.Migration):
    """Tables and indexes of version 0.2.0. Its functions and triggers come with their files, in 0016."""

    initial = True
    replaces = [
        ("tokens", name)
        for name in """
        0001_tokens_and_index_requests 0002_search_and_market 0003_want_deployers 0004_search_by_filters
        0005_events_after_launch 0006_roles 0007_following 0008_roles_of_following 0009_deploying
        0010_roles_of_deploying 0011_saved_tokens 0012_roles_of_saved_tokens 0013_solana 0014_roles_of_solana
        0015_leased_index_requests 0016_leased_documents 0017_leased_markets 0018_uncompressed_tokens
        0019_roles_of_markets 0020_tokens_by_position 0021_spending_limits 0022_deployment_spending
        0023_stored_states 0024_trades 0025_trending_markets 0026_coverage_of_trades 0027_rolling_sums
        0028_provider_refreshes 0029_confirmed_tokens 0030_events 0031_unconfirmed_tokens 0032_volume_sort
        0033_halt_times 0034_bonding_curves 0035_graduating_tokens 0036_market_events
        """.split()
    ]
    dependencies = [("accounts", "0001_version_0_2_0")]

    operations = [
        TrigramExtension(),
        BtreeGinExtension(),
        load_sql("tokens/models/short_grams.sql", "526d56990b0a", always=True),
        migrations.CreateModel(
            name='IndexRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chain_id', models.BigIntegerField()),
                ('tx_hash', models.CharField(max_length=100)),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('indexed', 'Indexed'), ('confirmed', 'Confirmed'), ('failed', 'Failed'), ('orphaned', 'Orphaned')], default='pending', max_length=16)),
                ('attempts', models.PositiveIntegerField(db_default=0, default=0)),
                ('unfinished', models.IntegerField(db_default=0, default=0)),
                ('last_error', models.TextField(blank=True, db_default='', default='')),
                ('block_number', models.BigIntegerField(blank=True, null=True)),
                ('block_hash', models.CharField(blank=True, max_length=66)),
                ('due_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=django.utils.timezone.now)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('from_page', models.BooleanField(db_default=False, default=False)),
                ('leased_until', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('status', 'pending')), fields=['due_at'], name='index_request_due'), models.Index(condition=models.Q(('status', 'indexed')), fields=['chain_id', 'block_number'], name='index_request_unconfirmed'), models.Index(condition=models.Q(('from_page', True), ('status', 'failed')), fields=['updated_at'], name='index_request_of_page')],
                'constraints': [models.UniqueConstraint(fields=('chain_id', 'tx_hash'), name='index_request_once'), models.CheckConstraint(condition=models.Q(('status__in', ['pending', 'indexed', 'confirmed', 'failed', 'orphaned'])), name='index_request_status_known')],
            },
        ),
        migrations.CreateModel(
            name='Token',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chain_id', models.BigIntegerField()),
                ('contract_address', models.CharField(max_length=44)),
                ('generation', models.CharField(max_length=32)),
                ('unindexed', models.BooleanField(default=False)),
                ('tx_hash', models.CharField(max_length=100)),
                ('log_index', models.IntegerField()),
                ('block_number', models.BigIntegerField()),
                ('block_hash', models.CharField(max_length=66)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('last_indexed', models.DateTimeField()),
                ('deployed_at', models.DateTimeField()),
                ('name', models.TextField(blank=True)),
                ('symbol', models.TextField(blank=True)),
                ('description', models.TextField(blank=True)),
                ('img_url', models.TextField(blank=True)),
                ('supply', models.DecimalField(blank=True, decimal_places=0, max_digits=78, null=True)),
                ('admin', models.CharField(blank=True, max_length=44)),
                ('msg_sender', models.CharField(blank=True, max_length=44)),
                ('requestor_fid', models.BigIntegerField(blank=True, null=True)),
                ('requestor_address', models.CharField(blank=True, max_length=44)),
                ('cast_hash', models.TextField(blank=True)),
                ('pool_address', models.CharField(blank=True, max_length=66)),
                ('paired_token', models.CharField(blank=True, max_length=44)),
                ('pair', models.TextField(blank=True)),
                ('factory_address', models.CharField(max_length=44)),
                ('locker_address', models.CharField(blank=True, max_length=44)),
                ('position_id', models.CharField(blank=True, max_length=78)),
                ('presale_id', models.CharField(blank=True, max_length=78)),
                ('metadata', models.JSONField()),
                ('social_context', models.JSONField()),
                ('deploy_config', models.JSONField()),
                ('pool_config', models.JSONField()),
                ('extensions', models.JSONField()),
                ('starting_market_cap', models.FloatField(blank=True, null=True)),
                ('launch_warnings', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=32), blank=True, default=tokens.models.token._no_list, size=None)),
                ('copy_key', models.CharField(max_length=64)),
                ('champagne', models.BooleanField(default=False)),
                ('verified', models.BooleanField(default=False)),
                ('known_interface_deployer', models.BooleanField(default=False)),
                ('blocked', models.BooleanField(default=False)),
                ('verified_on_chain', models.BooleanField(db_default=False, default=False)),
                ('decimals', models.SmallIntegerField(db_default=18, default=18)),
                ('confirmed', models.BooleanField(db_default=False, default=False)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('blocked', False), ('unindexed', False)), fields=['-deployed_at', '-id'], name='token_listed_newest'), models.Index(condition=models.Q(('blocked', False), ('unindexed', False)), fields=['chain_id', '-deployed_at', '-id'], name='token_by_chain_newest'), models.Index(condition=models.Q(('pool_address', ''), _negated=True), fields=['pool_address'], name='token_by_pool'), models.Index(fields=['contract_address'], name='token_by_address'), models.Index(condition=models.Q(('verified', True), ('champagne', True), _connector='OR'), fields=['copy_key', 'deployed_at'], name='token_copied'), models.Index(condition=models.Q(('requestor_address', ''), _negated=True), fields=['requestor_address', '-deployed_at', '-id'], name='token_by_requestor_newest'), models.Index(django.db.models.functions.text.Lower('pair'), models.OrderBy(models.F('deployed_at'), descending=True), models.OrderBy(models.F('id'), descending=True), condition=models.Q(('blocked', False), ('unindexed', False)), name='token_by_pair'), models.Index(condition=models.Q(('blocked', False), ('unindexed', False)), fields=['paired_token', '-deployed_at', '-id'], name='token_by_paired_token'), models.Index(django.db.models.functions.text.Left(django.db.models.functions.text.Lower(django.db.models.fields.json.KeyTextTransform('interface', 'social_context')), 101), models.OrderBy(models.F('deployed_at'), descending=True), models.OrderBy(models.F('id'), descending=True), condition=models.Q(('blocked', False), ('unindexed', False)), name='token_by_interface'), models.Index(condition=models.Q(('champagne', True)), fields=['-deployed_at', '-id'], name='token_champagne_newest'), models.Index(fields=['tx_hash'], name='token_by_transaction'), models.Index(fields=['msg_sender', '-deployed_at', '-id'], include=('blocked', 'unindexed'), name='token_by_sender_newest'), models.Index(fields=['requestor_fid', '-deployed_at', '-id'], include=('blocked', 'unindexed'), name='token_by_fid_newest'), models.Index(condition=models.Q(('admin', ''), _negated=True), fields=['admin', '-deployed_at', '-id'], include=('blocked', 'unindexed'), name='token_by_admin_newest'), models.Index(fields=['chain_id', 'block_number'], name='token_by_block'), models.Index(condition=models.Q(('position_id', ''), _negated=True), fields=['locker_address', 'position_id'], name='token_by_locker_position'), models.Index(condition=models.Q(('confirmed', False), ('unindexed', False)), fields=['chain_id', 'block_number'], name='token_unconfirmed')],
                'constraints': [models.UniqueConstraint(fields=('chain_id', 'contract_address'), name='token_once_per_chain'), models.CheckConstraint(condition=models.Q(('supply__isnull', True), ('supply__gte', 0), _connector='OR'), name='token_supply_positive')],
            },
        ),
        migrations.CreateModel(
            name='Market',
            fields=[
                ('token', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='market', serialize=False, to='tokens.token')),
                ('price_usd', models.FloatField(null=True)),
                ('quote_price_usd', models.FloatField(null=True)),
                ('market_cap', models.FloatField(null=True)),
                ('volume_24h', models.FloatField(null=True)),
                ('liquidity_usd', models.FloatField(null=True)),
                ('tx_count_24h', models.BigIntegerField(null=True)),
                ('price_change_1h', models.FloatField(null=True)),
                ('price_change_6h', models.FloatField(null=True)),
                ('price_change_24h', models.FloatField(null=True)),
                ('updated_at', models.DateTimeField(null=True)),
                ('price_quote', tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000, null=True)),
                ('last_position', models.BigIntegerField(null=True)),
                ('last_trade_at', models.DateTimeField(null=True)),
                ('trending', models.FloatField(null=True)),
                ('curve_progress', models.DecimalField(decimal_places=6, max_digits=9, null=True)),
                ('graduated_at', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(models.OrderBy(django.db.models.functions.comparison.Coalesce(models.F('market_cap'), models.Value(float("-inf"))), descending=True), models.OrderBy(models.F('token'), descending=True), name='market_market_cap_down'), models.Index(models.OrderBy(django.db.models.functions.comparison.Coalesce(models.F('market_cap'), models.Value(float("inf")))), models.OrderBy(models.F('token')), name='market_market_cap_up'), models.Index(models.OrderBy(django.db.models.functions.comparison.Coalesce(models.F('tx_count_24h'), models.Value(-1)), descending=True), models.OrderBy(models.F('token'), descending=True), name='market_tx_count_24h_down'), models.Index(models.OrderBy(django.db.models.functions.comparison.Coalesce(models.F('tx_count_24h'), models.Value(9223372036854775807))), models.OrderBy(models.F('token')), name='market_tx_count_24h_up'), models.Index(models.OrderBy(django.db.models.functions.comparison.Coalesce(models.F('price_change_24h'), models.Value(float("-inf"))), descending=True), models.OrderBy(models.F('token'), descending=True), name='market_price_change_24h_down'), models.Index(models.OrderBy(django.db.models.functions.comparison.Coalesce(models.F('price_change_24h'), models.Value(float("inf")))), models.OrderBy(models.F('token')), name='market_price_change_24h_up'), models.Index(models.OrderBy(django.db.models.functions.comparison.Coalesce(models.F('price_change_1h'), models.Value(float("-inf"))), descending=True), models.OrderBy(models.F('token'), descending=True), name='market_price_change_1h_down'), models.Index(models.OrderBy(django.db.models.functions.comparison.Coalesce(models.F('price_change_1h'), models.Value(float("inf")))), models.OrderBy(models.F('token')), name='market_price_change_1h_up'), models.Index(models.OrderBy(models.F('trending'), descending=True), models.OrderBy(models.F('token'), descending=True), condition=models.Q(('trending__isnull', False)), name='market_trending'), models.Index(models.OrderBy(django.db.models.functions.comparison.Coalesce(models.F('volume_24h'), models.Value(float("-inf"))), descending=True), models.OrderBy(models.F('token'), descending=True), name='market_volume_24h_down'), models.Index(models.OrderBy(django.db.models.functions.comparison.Coalesce(models.F('volume_24h'), models.Value(float("inf")))), models.OrderBy(models.F('token')), name='market_volume_24h_up'), models.Index(models.OrderBy(models.F('curve_progress'), descending=True), models.OrderBy(models.F('token'), descending=True), condition=models.Q(('curve_progress__lt', 100)), name='market_graduating')],
            },
        ),
        migrations.CreateModel(
            name='SearchEntry',
            fields=[
                ('token', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='search_entry', serialize=False, to='tokens.token')),
                ('is_listed', models.BooleanField()),
                ('text', models.TextField()),
                ('deployed_at', models.DateTimeField()),
                ('chain_id', models.BigIntegerField()),
                ('msg_sender', models.CharField(max_length=44)),
                ('requestor_fid', models.BigIntegerField(null=True)),
                ('champagne', models.BooleanField()),
                ('pair', models.TextField()),
                ('paired_token', models.CharField(max_length=44)),
                ('pool_address', models.CharField(max_length=66)),
                ('interface', models.TextField()),
            ],
        ),
        migrations.CreateModel(
            name='LaunchFacts',
            fields=[
                ('token', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='launch', serialize=False, to='tokens.token')),
                ('facts', models.JSONField()),
            ],
            options={
                'verbose_name_plural': 'launch facts',
            },
        ),
        migrations.CreateModel(
            name='TokenEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chain_id', models.BigIntegerField()),
                ('tx_hash', models.CharField(max_length=100)),
                ('log_index', models.IntegerField()),
                ('block_number', models.BigIntegerField()),
                ('block_hash', models.CharField(max_length=66)),
                ('at', models.DateTimeField()),
                ('kind', models.CharField(choices=[('admin_updated', 'admin updated'), ('image_updated', 'image updated'), ('metadata_updated', 'metadata updated'), ('verified', 'verified'), ('reward_recipient_updated', 'reward recipient updated'), ('reward_admin_updated', 'reward admin updated'), ('fee_preference_updated', 'fee preference updated'), ('fees_collected', 'fees collected'), ('fees_claimed', 'fees claimed'), ('team_fees_claimed', 'team fees claimed'), ('vault_claimed', 'vault claimed'), ('vault_admin_updated', 'vault admin updated'), ('airdrop_claimed', 'airdrop claimed'), ('airdrop_root_updated', 'airdrop root updated'), ('airdrop_admin_updated', 'airdrop admin updated')], max_length=32)),
                ('emitter', models.CharField(max_length=44)),
                ('arguments', models.JSONField()),
                ('token', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='tokens.token')),
            ],
            options={
                'indexes': [models.Index(fields=['token', '-block_number', '-log_index'], name='token_event_newest'), models.Index(condition=models.Q(('kind__in', ['admin_updated', 'image_updated', 'metadata_updated', 'verified', 'reward_recipient_updated', 'reward_admin_updated', 'fee_preference_updated', 'airdrop_root_updated', 'airdrop_admin_updated'])), fields=['token', 'block_number', 'log_index'], name='token_event_changes'), models.Index(fields=['chain_id', 'block_number'], name='token_event_by_block'), models.Index(models.F('chain_id'), django.db.models.fields.json.KeyTextTransform('token', 'arguments'), condition=models.Q(('token__isnull', True)), name='token_event_of_currency')],
                'constraints': [models.UniqueConstraint(fields=('chain_id', 'tx_hash', 'log_index'), name='token_event_once'), models.CheckConstraint(condition=models.Q(('kind__in', ['admin_updated', 'image_updated', 'metadata_updated', 'verified', 'reward_recipient_updated', 'reward_admin_updated', 'fee_preference_updated', 'fees_collected', 'fees_claimed', 'team_fees_claimed', 'vault_claimed', 'vault_admin_updated', 'airdrop_claimed', 'airdrop_root_updated', 'airdrop_admin_updated'])), name='token_event_kind_known')],
            },
        ),
        migrations.CreateModel(
            name='FeeClaim',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chain_id', models.BigIntegerField()),
                ('recipient', models.CharField(max_length=44)),
                ('currency', models.CharField(max_length=44)),
                ('amount', models.DecimalField(decimal_places=0, max_digits=78)),
                ('at', models.DateTimeField()),
                ('event', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='claims', to='tokens.tokenevent')),
            ],
            options={
                'indexes': [models.Index(models.F('chain_id'), models.F('recipient'), models.F('currency'), models.OrderBy(models.F('at'), descending=True), models.OrderBy(models.F('id'), descending=True), include=('amount',), name='fee_claim_newest')],
                'constraints': [models.UniqueConstraint(fields=('event', 'recipient', 'currency'), name='fee_claim_once'), models.CheckConstraint(condition=models.Q(('amount__gt', 0)), name='fee_claim_positive')],
            },
        ),
        migrations.CreateModel(
            name='ChainHead',
            fields=[
                ('chain_id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('head', models.BigIntegerField()),
                ('final', models.BigIntegerField()),
                ('followed', models.BigIntegerField(blank=True, null=True)),
                ('head_at', models.DateTimeField()),
                ('seen_at', models.DateTimeField()),
                ('halted', models.TextField(blank=True)),
                ('trouble', models.TextField(blank=True)),
                ('follower', models.CharField(blank=True, max_length=200)),
                ('followed_at', models.DateTimeField(blank=True, null=True)),
                ('halted_at', models.DateTimeField(blank=True, null=True)),
                ('resumed_at', models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Coverage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chain_id', models.BigIntegerField()),
                ('addresses', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=44), size=None)),
                ('address_set', models.CharField(max_length=64)),
                ('first_block', models.BigIntegerField()),
                ('last_block', models.BigIntegerField(blank=True, null=True)),
                ('followed_to', models.BigIntegerField()),
                ('verified_to', models.BigIntegerField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('summed_to', models.BigIntegerField(db_default=-1, default=-1)),
            ],
            options={
                'verbose_name_plural': 'coverage',
                'constraints': [models.UniqueConstraint(fields=('chain_id', 'address_set', 'first_block', 'last_block'), name='coverage_once', nulls_distinct=False), models.CheckConstraint(condition=models.Q(('first_block__gte', 0), ('followed_to__gte', django.db.models.expressions.CombinedExpression(models.F('first_block'), '-', models.Value(1))), ('verified_to__gte', django.db.models.expressions.CombinedExpression(models.F('first_block'), '-', models.Value(1))), ('verified_to__lte', models.F('followed_to')), models.Q(('last_block__isnull', True), ('followed_to__lte', models.F('last_block')), _connector='OR')), name='coverage_in_order')],
            },
        ),
        migrations.CreateModel(
            name='CoverageAlarm',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chain_id', models.BigIntegerField()),
                ('first_block', models.BigIntegerField()),
                ('last_block', models.BigIntegerField()),
                ('missing', models.PositiveIntegerField()),
                ('invented', models.PositiveIntegerField()),
                ('tx_hashes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), size=None)),
                ('raised_at', models.DateTimeField(auto_now_add=True)),
                ('repaired', models.BooleanField()),
                ('seen_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['-raised_at'], name='coverage_alarm_newest')],
            },
        ),
        migrations.CreateModel(
            name='FollowedBlock',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chain_id', models.BigIntegerField()),
                ('number', models.BigIntegerField()),
                ('hash', models.CharField(max_length=66)),
                ('parent_hash', models.CharField(max_length=66)),
                ('at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('chain_id', 'number'), name='followed_block_once')],
            },
        ),
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
            options={
                'indexes': [models.Index(condition=models.Q(('status', 'enqueued')), fields=['chain_id', 'id'], name='deployment_enqueued'), models.Index(condition=models.Q(('final_at__isnull', True), models.Q(('status', 'enqueued'), _negated=True)), fields=['chain_id', 'status'], name='deployment_in_flight'), models.Index(fields=['partner_key', 'chain_id', 'created_at'], name='deployment_quota'), models.Index(fields=['expected_address'], name='deployment_address'), models.Index(condition=models.Q(('presale_id__isnull', False)), fields=['presale_id'], name='deployment_presale'), models.Index(condition=models.Q(('status', 'failed')), fields=['updated_at'], name='deployment_failed'), models.Index(condition=models.Q(('value__gt', 0)), fields=['chain_id', 'created_at'], name='deployment_spending')],
                'constraints': [models.UniqueConstraint(fields=('partner_key', 'request_key'), name='deployment_once', nulls_distinct=False), models.CheckConstraint(condition=models.Q(('status__in', ['enqueued', 'submitted', 'mined', 'indexed', 'failed'])), name='deployment_status_known')],
            },
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
            options={
                'constraints': [models.UniqueConstraint(fields=('partner_key', 'chain_id'), name='deploy_quota_once')],
            },
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
            options={
                'indexes': [models.Index(condition=models.Q(('final_at__isnull', True)), fields=['wallet', 'nonce'], name='deploy_attempt_in_flight')],
                'constraints': [models.UniqueConstraint(fields=('wallet', 'nonce'), name='deploy_attempt_nonce_once'), models.CheckConstraint(condition=models.Q(('state__in', ['open', 'mined', 'reverted', 'lost', 'cancelled'])), name='deploy_attempt_state_known')],
            },
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
            options={
                'constraints': [models.UniqueConstraint(fields=('tx_hash',), name='signed_transaction_once')],
            },
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
        migrations.CreateModel(
            name='SavedToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chain_id', models.BigIntegerField()),
                ('tx_hash', models.CharField(max_length=100)),
                ('contract_address', models.CharField(max_length=44)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('person', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='saved_tokens', to='accounts.person')),
            ],
            options={
                'indexes': [models.Index(fields=['created_at'], name='saved_token_age'), models.Index(fields=['chain_id', 'tx_hash'], name='saved_token_by_transaction'), models.Index(fields=['contract_address'], name='saved_token_by_address')],
                'constraints': [models.UniqueConstraint(fields=('person', 'chain_id', 'tx_hash', 'contract_address'), name='saved_token_once')],
            },
        ),
        migrations.CreateModel(
            name='FollowedAccount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chain_id', models.BigIntegerField()),
                ('address', models.CharField(max_length=44)),
                ('first_slot', models.BigIntegerField(default=0)),
                ('read_to', models.CharField(blank=True, max_length=88)),
                ('read_to_slot', models.BigIntegerField(default=0)),
                ('complete_to', models.BigIntegerField(blank=True, null=True)),
                ('complete_at', models.DateTimeField(blank=True, null=True)),
                ('listing_slot', models.BigIntegerField(blank=True, null=True)),
                ('listing_at', models.DateTimeField(blank=True, null=True)),
                ('listed_from', models.CharField(blank=True, max_length=88)),
                ('listed_from_slot', models.BigIntegerField(default=0)),
                ('listed_to', models.CharField(blank=True, max_length=88)),
                ('listed_before', models.CharField(blank=True, max_length=88)),
                ('met', models.BooleanField(default=False)),
                ('listed', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('chain_id', 'address'), name='followed_account_once'), models.CheckConstraint(condition=models.Q(('listed', False), ('listing_slot__isnull', False), _connector='OR'), name='followed_account_listing_known')],
            },
        ),
        migrations.CreateModel(
            name='TokenDocument',
            fields=[
                ('token', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='document', serialize=False, to='tokens.token')),
                ('uri', models.TextField()),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('fetched', 'Fetched'), ('failed', 'Failed')], default='pending', max_length=8)),
                ('attempts', models.PositiveIntegerField(db_default=0, default=0)),
                ('due_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=django.utils.timezone.now)),
                ('last_error', models.TextField(blank=True, db_default='', default='')),
                ('content', models.JSONField(default=dict)),
                ('fetched_at', models.DateTimeField(blank=True, null=True)),
                ('leased_until', models.DateTimeField(blank=True, null=True)),
                ('unfinished', models.IntegerField(db_default=0, default=0)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('status', 'pending')), fields=['due_at'], name='token_document_due')],
                'constraints': [models.CheckConstraint(condition=models.Q(('status__in', ['pending', 'fetched', 'failed'])), name='token_document_status_known')],
            },
        ),
        migrations.CreateModel(
            name='ListedSignature',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('signature', models.CharField(max_length=88)),
                ('slot', models.BigIntegerField()),
                ('at', models.DateTimeField(blank=True, null=True)),
                ('read', models.BooleanField(default=False)),
                ('account', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='listed_signatures', to='tokens.followedaccount')),
            ],
            options={
                'indexes': [models.Index(models.F('account'), models.F('slot'), models.OrderBy(models.F('id'), descending=True), condition=models.Q(('read', False)), name='listed_signature_next'), models.Index(condition=models.Q(('read', True)), fields=['account', 'slot'], name='listed_signature_read')],
                'constraints': [models.UniqueConstraint(fields=('account', 'signature'), name='listed_signature_once')],
            },
        ),
        migrations.CreateModel(
            name='SpendingLimit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chain_id', models.BigIntegerField()),
                ('eth_per_day', models.DecimalField(decimal_places=18, max_digits=30, validators=[django.core.validators.MinValueValidator(0)])),
                ('partner_key', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='spending_limits', to='accounts.partnerkey')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('partner_key', 'chain_id'), name='spending_limit_once', nulls_distinct=False), models.CheckConstraint(condition=models.Q(('eth_per_day__gte', 0)), name='spending_limit_positive')],
            },
        ),
        migrations.CreateModel(
            name='StoredState',
            fields=[
                ('token', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='state', serialize=False, to='tokens.token')),
                ('chain_id', models.BigIntegerField()),
                ('block_number', models.BigIntegerField()),
                ('block_hash', models.CharField(max_length=66)),
                ('facts', models.JSONField()),
            ],
            options={
                'indexes': [models.Index(fields=['chain_id', 'block_number'], name='stored_state_by_block')],
            },
        ),
        CreatePartitionedModel(
            name='PoolTrade',
            fields=[
                ('pk', models.CompositePrimaryKey('token_id', 'at', 'position', blank=True, editable=False, primary_key=True, serialize=False)),
                ('token', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='trades', to='tokens.token')),
                ('at', models.DateTimeField()),
                ('position', models.BigIntegerField()),
                ('tx_hash', models.BinaryField()),
                ('trader', models.BinaryField(null=True)),
                ('is_buy', models.BooleanField()),
                ('is_conversion', models.BooleanField()),
                ('amount_token', models.DecimalField(decimal_places=0, max_digits=78)),
                ('amount_quote', models.DecimalField(decimal_places=0, max_digits=78)),
                ('price', tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000)),
                ('quote_usd', tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000, null=True)),
            ],
            options={
                'db_table': 'tokens_trade',
                'indexes': [django.contrib.postgres.indexes.BrinIndex(django.contrib.postgres.indexes.OpClass(models.F('position'), name='int8_minmax_multi_ops'), autosummarize=True, name='trade_by_position')],
            },
        ),
        CreatePartitionedModel(
            name='MinuteCandle',
            fields=[
                ('pk', models.CompositePrimaryKey('token_id', 'at', blank=True, editable=False, primary_key=True, serialize=False)),
                ('token', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='tokens.token')),
                ('at', models.DateTimeField()),
                ('first_position', models.BigIntegerField()),
                ('last_position', models.BigIntegerField()),
                ('open', tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000)),
                ('high', tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000)),
                ('low', tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000)),
                ('close', tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000)),
                ('open_usd', models.FloatField(null=True)),
                ('high_usd', models.FloatField(null=True)),
                ('low_usd', models.FloatField(null=True)),
                ('close_usd', models.FloatField(null=True)),
                ('volume_quote', models.DecimalField(decimal_places=0, max_digits=78)),
                ('volume_usd', tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000)),
                ('buys', models.IntegerField()),
                ('sells', models.IntegerField()),
            ],
            options={
                'indexes': [django.contrib.postgres.indexes.BrinIndex(django.contrib.postgres.indexes.OpClass(models.F('at'), name='timestamptz_minmax_multi_ops'), autosummarize=True, name='minute_candle_by_time', pages_per_range=32)],
            },
        ),
        migrations.CreateModel(
            name='Candle',
            fields=[
                ('pk', models.CompositePrimaryKey('token_id', 'seconds', 'at', blank=True, editable=False, primary_key=True, serialize=False)),
                ('token', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='tokens.token')),
                ('seconds', models.IntegerField()),
                ('at', models.DateTimeField()),
                ('first_position', models.BigIntegerField()),
                ('last_position', models.BigIntegerField()),
                ('open', tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000)),
                ('high', tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000)),
                ('low', tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000)),
                ('close', tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000)),
                ('open_usd', models.FloatField(null=True)),
                ('high_usd', models.FloatField(null=True)),
                ('low_usd', models.FloatField(null=True)),
                ('close_usd', models.FloatField(null=True)),
                ('volume_quote', models.DecimalField(decimal_places=0, max_digits=78)),
                ('volume_usd', tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000)),
                ('buys', models.IntegerField()),
                ('sells', models.IntegerField()),
            ],
        ),
        migrations.CreateModel(
            name='PoolLiquidityChange',
            fields=[
                ('pk', models.CompositePrimaryKey('token_id', 'position', blank=True, editable=False, primary_key=True, serialize=False)),
                ('token', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='liquidity_changes', to='tokens.token')),
                ('position', models.BigIntegerField()),
                ('at', models.DateTimeField()),
                ('tick_lower', models.IntegerField()),
                ('tick_upper', models.IntegerField()),
                ('liquidity', models.DecimalField(decimal_places=0, max_digits=78)),
            ],
            options={
                'indexes': [models.Index(fields=['position'], name='liquidity_by_position')],
            },
        ),
        migrations.CreateModel(
            name='ReferencePrice',
            fields=[
                ('pk', models.CompositePrimaryKey('chain_id', 'pool', 'block_number', blank=True, editable=False, primary_key=True, serialize=False)),
                ('chain_id', models.BigIntegerField()),
                ('pool', models.CharField(max_length=66)),
                ('block_number', models.BigIntegerField()),
                ('position', models.BigIntegerField()),
                ('at', models.DateTimeField()),
                ('currency', models.CharField(max_length=44)),
                ('usd', tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000)),
            ],
        ),
        migrations.CreateModel(
            name='RollingSum',
            fields=[
                ('pk', models.CompositePrimaryKey('token_id', 'seconds', blank=True, editable=False, primary_key=True, serialize=False)),
                ('token', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='rolling_sums', to='tokens.token')),
                ('seconds', models.IntegerField()),
                ('volume_quote', models.DecimalField(decimal_places=0, max_digits=78)),
                ('volume_usd', tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000)),
                ('buys', models.IntegerField()),
                ('sells', models.IntegerField()),
                ('traders', models.IntegerField()),
                ('opening_price', tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000, null=True)),
                ('opening_usd', models.FloatField(null=True)),
                ('trending', models.FloatField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='RecentTrader',
            fields=[
                ('pk', models.CompositePrimaryKey('token_id', 'trader', blank=True, editable=False, primary_key=True, serialize=False)),
                ('token', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='recent_traders', to='tokens.token')),
                ('trader', models.BinaryField()),
                ('last_at', models.DateTimeField()),
                ('net_usd', models.FloatField()),
            ],
            options={
                'indexes': [models.Index(fields=['last_at'], name='recent_trader_by_time')],
            },
        ),
        migrations.CreateModel(
            name='RollingClock',
            fields=[
                ('chain_id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('rolled_to', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='ProviderRefresh',
            fields=[
                ('due_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=django.utils.timezone.now)),
                ('leased_until', models.DateTimeField(blank=True, null=True)),
                ('attempts', models.PositiveIntegerField(db_default=0, default=0)),
                ('unfinished', models.IntegerField(db_default=0, default=0)),
                ('last_error', models.TextField(blank=True, db_default='', default='')),
                ('token', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='provider_refresh', serialize=False, to='tokens.token')),
            ],
            options={
                'verbose_name_plural': 'provider refreshes',
                'indexes': [models.Index(fields=['due_at'], name='provider_refresh_due')],
            },
        ),
        migrations.CreateModel(
            name='BondingCurve',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chain_id', models.BigIntegerField()),
                ('config', models.CharField(max_length=44)),
                ('start_sqrt_price', tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000)),
                ('migration_sqrt_price', tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000)),
                ('migration_threshold', tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000)),
                ('sqrt_prices', django.contrib.postgres.fields.ArrayField(base_field=tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000), size=None)),
                ('liquidities', django.contrib.postgres.fields.ArrayField(base_field=tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000), size=None)),
                ('read_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('chain_id', 'config'), name='bonding_curve_once')],
            },
        ),
        # At once: an index of CreateModel comes when the migration ends.
        migrations.AddIndex('SearchEntry', django.contrib.postgres.indexes.GinIndex(django.contrib.postgres.indexes.OpClass(models.F('text'), name='gin_trgm_ops'), tokens.models.expressions.ShortGrams('text'), models.F('chain_id'), models.F('msg_sender'), models.F('requestor_fid'), models.F('champagne'), models.F('pair'), models.F('paired_token'), models.F('pool_address'), models.F('interface'), fastupdate=True, name='search_by_everything')),
        migrations.RunSQL(STORAGE),
    ]
