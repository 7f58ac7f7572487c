#!/usr/bin/env python
"""Django's command line, with the bundled servers if no others are configured."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import OperationalError, connection

from config.environment.server_urls import unreachable_server
from config.environment.variables import load_env_file
from development import running_chain
from development.servers import bundled


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        load_env_file()
        bundled.ensure_running()
        running_chain.apply_settings()
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"launchboard: {error}")
    except OperationalError as error:
        # A statement failed, not the connection: its place in the code matters.
        if connection.connection is not None:
            raise
        sys.exit(f"launchboard: {unreachable_server('DATABASE_URL', error)}")


if __name__ == "__main__":
    main()
