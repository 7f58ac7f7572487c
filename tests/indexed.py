"""Rows of tokens whose launches were recorded or built, made without a node."""

from django.utils import timezone

from tests.recordings import Mined, base
from tokens.chains.registry import load
from tokens.launch_rows import token_columns
from tokens.models import Token


def index_launch(mined: Mined) -> Token:
    """The row of a transaction's only launch."""
    (launch,) = mined.decode()
    columns = token_columns(launch, chain=base(), presets=load().presets.values())
    return Token.objects.create(**columns, last_indexed=timezone.now())
