"""Responses to uploads."""

from typing import Annotated, TypedDict

from config.parsing.response_types import Keywords
from tokens.models import UploadKind
from tokens.models.upload import media_type


class _StoredFile(TypedDict):
    url: Annotated[str, "URL of the file, or `ipfs://` and its CID."]
    sha256: Annotated[str, Keywords(pattern="^[0-9a-f]{64}$"), "Digest of the stored bytes in hex."]
    bytes: Annotated[int, "Size of the stored file."]


class UploadAnswer(_StoredFile):
    """A stored file."""

    mediaType: Annotated[str, Keywords(enum=[media_type(kind) for kind in UploadKind])]


class PictureAnswer(_StoredFile):
    """A stored picture."""

    mediaType: Annotated[str, Keywords(enum=[media_type(UploadKind.PICTURE)])]
    width: Annotated[int, "Pixels."]
    height: Annotated[int, "Pixels."]
