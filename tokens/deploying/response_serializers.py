"""The answers about orders, as they are described."""

from typing import Any

from rest_framework import serializers

from config.api.fields import AddressField
from tokens.models.deployment import Deployment


class DeployAnswer(serializers.Serializer[Any]):
    """A stored order, or with `dryRun` the order as it would be stored: then with its configuration and gas."""

    success = serializers.BooleanField()
    message = serializers.CharField()
    dryRun = serializers.BooleanField(required=False, help_text="Of dry runs alone: true. Nothing was stored or sent.")
    expectedAddress = AddressField(
        allow_null=True,
        help_text="Where the token will be, which CREATE2 settles. Null for a presale, whose launch comes later.",
    )
    requestKey = serializers.CharField()
    chainId = serializers.IntegerField()
    status = serializers.ChoiceField(
        choices=[Deployment.Status.ENQUEUED.value],
        required=False,
        help_text="As it was when the order was stored, also in later answers for its key. Not in dry runs.",
    )
    statusUrl = serializers.URLField(required=False, help_text="Where its status is asked for. Not in dry runs.")
    gas = serializers.IntegerField(
        required=False, help_text="Of dry runs alone: the gas limit of the transaction, a fifth above the estimate."
    )
    config = serializers.DictField(
        required=False, help_text="Of dry runs alone: the configuration with all defaults filled in."
    )


class DeployStatusAnswer(serializers.Serializer[Any]):
    """How far an order is."""

    requestKey = serializers.CharField()
    status = serializers.ChoiceField(
        choices=Deployment.Status.choices,
        help_text="enqueued, submitted to the chain, mined in a block, indexed here; or failed, for good unless an "
        "operator has it tried again. A reorganisation of the chain takes it back to submitted. A presale stays mined "
        "until the launch that ends it is indexed.",
    )
    txHash = serializers.CharField(
        allow_null=True,
        help_text="The transaction that carried it out, or the newest that is to; it may be replaced by one with a "
        "higher fee.",
    )
    address = AddressField(allow_null=True, help_text="The token, once it is in a block.")
    error = serializers.CharField(allow_null=True, help_text="What went wrong last.")
    attempts = serializers.IntegerField(help_text="How many times it was tried with a nonce of its own.")
    updatedAt = serializers.DateTimeField()
