"""Responses of uploads, for the OpenAPI description."""

from typing import Any

from rest_framework import serializers

from tokens.models import UploadKind
from tokens.models.upload import media_type

_DIGEST = r"^[0-9a-f]{64}$"


class UploadAnswer(serializers.Serializer[Any]):
    """A stored file."""

    url = serializers.CharField(help_text="URL of the file, or `ipfs://` and its CID.")
    sha256 = serializers.RegexField(_DIGEST, source="digest", help_text="Digest of the stored bytes in hex.")
    bytes = serializers.IntegerField(source="size", help_text="Size of the stored file.")
    mediaType = serializers.ChoiceField(choices=[media_type(kind) for kind in UploadKind], source="media_type")


class PictureAnswer(serializers.Serializer[Any]):
    """A stored picture."""

    url = serializers.CharField(source="upload.url", help_text="URL of the picture, or `ipfs://` and its CID.")
    sha256 = serializers.RegexField(_DIGEST, source="upload.digest", help_text="Digest of the stored bytes in hex.")
    bytes = serializers.IntegerField(source="upload.size", help_text="Size of the stored file.")
    mediaType = serializers.ChoiceField(choices=[media_type(UploadKind.PICTURE)], source="upload.media_type")
    width = serializers.IntegerField(source="picture.width", help_text="Pixels.")
    height = serializers.IntegerField(source="picture.height", help_text="Pixels.")
