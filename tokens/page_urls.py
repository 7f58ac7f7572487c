"""URLs for public pages and share cards; a card's texts have its page's language."""

from django.urls import path
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.generic import RedirectView

from config.web.routing import endpoint
from tokens.site.views.card_views import creator_card, page_card, token_card
from tokens.site.views.fees_page import TokenFeesPage
from tokens.site.views.home_page import home
from tokens.site.views.markdown_pages import docs_markdown
from tokens.site.views.miniapp_pages import miniapp_home, token_miniapp
from tokens.site.views.section_pages import creator_page, docs_page, status_page
from tokens.site.views.token_embed import token_embed
from tokens.site.views.token_page import token_page, token_trades

_moved_embed = xframe_options_exempt(
    RedirectView.as_view(pattern_name="token-embed", permanent=True, query_string=True)
)

urlpatterns = [
    path("", home, name="home"),
    endpoint("tokens/<int:chain_id>/<str:address>", token_page, name="token-page"),
    endpoint("tokens/<int:chain_id>/<str:address>/trades", token_trades, name="trades-page"),
    endpoint("tokens/<int:chain_id>/<str:address>/fees", TokenFeesPage.as_view(), name="fees-page"),
    endpoint("embed/token/<int:chain_id>/<str:address>", token_embed, name="token-embed"),
    # The former address, which other sites' frames have.
    endpoint("embed/tokens/<int:chain_id>/<str:address>", _moved_embed),
    endpoint("miniapp", miniapp_home, name="miniapp"),
    endpoint("miniapp/tokens/<int:chain_id>/<str:address>", token_miniapp, name="token-miniapp"),
    path("cards/<int:chain_id>/<str:address>/<slug:version>.png", token_card, name="token-card"),
    # The former path, which shared links have.
    path("cards/<int:chain_id>/<str:address>.png", token_card),
    path("cards/creators/<str:text>/<slug:version>.png", creator_card, name="creator-card"),
    path("cards/<slug:page>/<slug:version>.png", page_card, name="page-card"),
    endpoint("creators/<str:text>", creator_page, name="creator-page"),
    endpoint("status", status_page, name="status-page"),
    endpoint("docs", docs_page, name="docs-page"),
    path("docs.md", docs_markdown, name="docs-markdown"),
]
