"""Upload endpoints, and the stored files themselves."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound, PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Scope
from accounts.permissions import PartnerAccess
from config.api.errors import BadRequestError, NamedQuotaError, ServiceUnavailableError
from config.api.parsing import PICTURE_PARSERS, LimitedJSONParser
from config.api.throttling import UploadLimit
from config.api.views import LimitedView
from config.http.circuit_breaker import CircuitBreaker
from config.parsing.json_rules import InvalidFieldsError
from config.picture_decoding import UnusablePictureError
from config.site.page_limits import limited_picture
from config.web.response_headers import NO_STORE, public_cache_control
from tokens.models import StorageKind, Upload
from tokens.uploads import stored_uploads
from tokens.uploads.directory_storage import read_from_directory
from tokens.uploads.metadata_documents import DOCUMENT
from tokens.uploads.responses import PictureAnswer, UploadAnswer
from tokens.uploads.upload_storage import StorageUnavailableError, UploadsOffError, chosen_storage

# A client address may use a quarter of the web server's body memory, 16 MiB.
MAX_PICTURE_BYTES = 5 * 1024 * 1024
# Files never change, so browsers keep them; shared caches expire sooner, so that a block takes effect.
_SHARED_SECONDS, _BROWSER_SECONDS = 300, 31_536_000
_HEADERS = {
    "Access-Control-Allow-Origin": "*",
    # Opened by itself, a file runs and loads nothing.
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
}
_CACHING = f"{public_cache_control(_SHARED_SECONDS)}, max-age={_BROWSER_SECONDS}, immutable"


class UploadView(PartnerAccess, LimitedView):
    """Base class for upload endpoints, which are 404 while uploads are off."""

    required_scope = Scope.DEPLOY
    throttle_classes = [UploadLimit]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse the request before its body is parsed."""
        super().initial(request, *args, **kwargs)
        with _as_api_errors():
            chosen_storage()


class PicturesView(UploadView):
    """Picture uploads."""

    parser_classes = PICTURE_PARSERS
    # The server limits bodies by it before a request is authenticated.
    max_body_bytes = MAX_PICTURE_BYTES

    @extend_schema(
        operation_id="uploadPicture",
        request=OpenApiTypes.BINARY,
        responses={200: PictureAnswer, 404: None, 503: None},
    )
    def post(self, request: Request) -> Response:
        """Store a picture, and return the URL for a deployment's `image`.

        The body is a PNG, JPEG, GIF or WebP file; its content decides which. The first frame is turned by its EXIF
        data, reduced to at most 1,024 pixels a side, and stored as WebP without metadata. The same picture has the same
        URL, and is stored once. Each request counts for your key's limit a minute, and each new file for its daily
        byte quota, else the response is 429. A picture that the operator has blocked is 403, and 404 means that uploads
        are off.
        """
        partner: Any = request.auth
        # Without a body the framework calls no parser.
        content = request.data if isinstance(request.data, bytes) else b""
        with _as_api_errors():
            saved = stored_uploads.save_picture(content, partner=partner)
        picture = saved.picture
        answer: PictureAnswer = {**_answer(saved.upload), "width": picture.width, "height": picture.height}
        return Response(answer)


class MetadataView(UploadView):
    """Metadata document uploads."""

    parser_classes = [LimitedJSONParser]

    @extend_schema(
        operation_id="uploadMetadata", request=DOCUMENT.schema, responses={200: UploadAnswer, 404: None, 503: None}
    )
    def post(self, request: Request) -> Response:
        """Store a metadata document, and return its URL.

        Its fields follow a deployment's rules. It is stored as JSON with sorted keys and without blanks, at most 16
        KiB, so that the same values have the same URL. Limits are the same as for pictures.
        """
        partner: Any = request.auth
        with _as_api_errors():
            saved = stored_uploads.save_metadata(request.data, partner=partner)
        return Response(_answer(saved))


def _answer(upload: Upload) -> UploadAnswer:
    return {"url": upload.url, "sha256": upload.digest, "bytes": upload.size, "mediaType": upload.media_type}


@require_safe
@limited_picture
def stored_file(request: HttpRequest, file_name: str) -> HttpResponse:
    """Respond with a file from the directory, whatever storage new uploads use; 410 if it is blocked."""
    upload = Upload.objects.filter(digest=file_name.partition(".")[0], storage=StorageKind.DIRECTORY).first()
    if upload is None or upload.file_name != file_name:
        raise Http404
    if upload.blocked_at is not None:
        return HttpResponse(status=410, headers={"Cache-Control": NO_STORE})
    content = read_from_directory(file_name)
    if content is None:
        raise Http404
    return HttpResponse(content, content_type=upload.media_type, headers=_HEADERS | {"Cache-Control": _CACHING})


@contextmanager
def _as_api_errors() -> Iterator[None]:
    """Translate upload errors into API errors."""
    try:
        yield
    except UploadsOffError as error:
        raise NotFound(str(error)) from error
    except UnusablePictureError as error:
        raise BadRequestError(f"The body is not a picture that can be used: {error}", field="body") from error
    except InvalidFieldsError as error:
        raise ValidationError({path or "body": [rule] for path, rule in error.problems}) from error
    except stored_uploads.UploadBlockedError as error:
        raise PermissionDenied(str(error)) from error
    except stored_uploads.UploadQuotaError as error:
        raise NamedQuotaError(str(error), wait=error.wait) from error
    except StorageUnavailableError as error:
        text = "The storage of uploads is not available"
        raise ServiceUnavailableError(text, wait=CircuitBreaker.open_seconds) from error
