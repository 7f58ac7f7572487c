"""The bundled PostgreSQL and Valkey (placeholder)."""


def database_url() -> str:
    return "postgres://launchboard@localhost:5432/launchboard"


def redis_url() -> str:
    return "redis://localhost:6379/0"


def secret_key() -> str:
    return "x" * 50


def hold() -> None:
    return
