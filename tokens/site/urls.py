"""URLs of the public site that are the same in all languages."""

from django.urls import path

from tokens.site.views.crawling import robots_txt, sitemap_xml

urlpatterns = [
    path("robots.txt", robots_txt, name="robots"),
    path("sitemap.xml", sitemap_xml, name="sitemap"),
]
