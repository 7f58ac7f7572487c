"""Public site URLs that are the same in all languages."""

from django.urls import path

from tokens.site.views.card_views import favicon, site_icon
from tokens.site.views.crawling import robots_txt, sitemap_xml
from tokens.site.views.markdown_pages import llms_full_txt, llms_txt, reference_markdown, skill_markdown
from tokens.site.views.miniapp_pages import miniapp_manifest

urlpatterns = [
    path("robots.txt", robots_txt, name="robots"),
    path("sitemap.xml", sitemap_xml, name="sitemap"),
    path("favicon.ico", favicon),
    path("icons/<int:side>-<slug:digest>.png", site_icon, name="site-icon"),
    path(".well-known/farcaster.json", miniapp_manifest),
    path("llms.txt", llms_txt, name="llms-index"),
    path("llms-full.txt", llms_full_txt, name="llms-full"),
    path("docs/api.md", reference_markdown, name="reference-markdown"),
    path("docs/skill.md", skill_markdown, name="skill"),
]
