from django.apps import AppConfig


class PretokensConfig(AppConfig):
    name = "pretokens"
