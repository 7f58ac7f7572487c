"""Token rows whose launches were recorded or built, without a node."""

from django.utils import timezone

from tests.nodes.recordings import Mined, base
from tokens.chains.registry.chains import load_registry
from tokens.indexing.fact_json import launch_facts
from tokens.indexing.launch_rows import token_columns
from tokens.models import LaunchFacts, Token


def index_launch(mined: Mined) -> Token:
    """Return the row for a transaction's only launch."""
    (launch,) = mined.decode()
    columns = token_columns(launch, chain=base(), presets=load_registry().presets.values())
    token = Token.objects.create(**columns, last_indexed=timezone.now())
    LaunchFacts.objects.create(token=token, facts=launch_facts(launch))
    return token
