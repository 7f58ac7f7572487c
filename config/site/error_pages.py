"""Short pages for errors outside the views, and the middleware that gives refused methods one."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotAllowed
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _

from config.site.page_limits import refuse_page
from config.web.response_headers import NO_STORE
from config.web.routing import is_json_path

# Status -> title and text.
_TEXTS = {
    400: (_("Invalid request"), _("This site can't read the request.")),
    403: (_("Access denied"), _("This page is not open to you.")),
    405: (_("Method not allowed"), _("This address only serves pages: open it with GET.")),
    413: (_("Request too large"), _("The request has more content than this address takes.")),
}
_NO_FORM_COOKIE = _(
    "The form came without a valid cookie of its page. Allow cookies of this site, open the page again and repeat."
)


def error_page(request: HttpRequest, status: int, *, is_form: bool = False) -> HttpResponse:
    """Return the error page for this status: 400, 403, 405 or 413; `is_form` if the CSRF check failed.

    Errors count as pages; beyond their limit the status is 429.
    """
    refusal = refuse_page(request)
    if refusal is not None:
        return refusal
    title, text = _TEXTS[status]
    context = {"title": title, "text": _NO_FORM_COOKIE if is_form else text}
    page = render(request, "site/error.html", context, status=status)
    page.headers["Cache-Control"] = NO_STORE
    return page


def refused_methods(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Return a middleware that fills Django's empty response to a refused method with an error page."""

    def respond(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if (
            isinstance(response, HttpResponseNotAllowed)
            and not response.content
            and not is_json_path(request.path_info)
        ):
            # A new response would be logged a second time.
            page = error_page(request, response.status_code)
            response.status_code = page.status_code
            response.content = page.content
            # CommonMiddleware has set the empty response's length.
            response.headers["Content-Length"] = str(len(page.content))
            for name, value in page.items():
                response[name] = value
        return response

    return respond
