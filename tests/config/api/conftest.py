"""A service for calls with the OpenAPI description's examples, and their callers."""

from pathlib import Path
from typing import Any

import pytest

from accounts.administrators import sessions
from accounts.keys import credentials
from accounts.models import Scope
from config.api.openapi_examples import PARAMETERS
from tests.nodes.recordings import mined
from tests.rows.factories import AdministratorFactory, DeployWalletFactory, SocialProfileFactory
from tests.rows.indexed_tokens import index_launch
from tests.rows.launch_requests import WALLET
from tests.rows.user_tokens import as_user


@pytest.fixture
def callers(issuer: Any) -> dict[str, dict[str, str]]:
    """Return callers' headers by the description's name for their credential."""
    session = sessions.begin_session(AdministratorFactory(issuer=issuer.url, subject="5"))
    return {
        "partnerKey": {"x-api-key": credentials.issue_key("Partner", scopes=list(Scope))},
        "userToken": as_user(issuer, 7),
        "adminSession": {"Cookie": f"{sessions.COOKIE}={session.cookie}"},
    }


@pytest.fixture
def base(
    installed_node: Any, settings: Any, market: Any, social: Any, queue: Any, unmet_limits: None, tmp_path: Path
) -> None:
    """Install Base with own trades, all feeds and uploads, and index the examples' token."""
    settings.UPLOAD_STORAGE, settings.UPLOAD_DIR = "directory", tmp_path / "uploads"
    settings.MARKET_PROVIDER_CHAINS = ()
    settings.FEEDS = ("dexscreener", "dextools", "udf", "daily")
    index_launch(mined("legacy-v31-deploy"))
    SocialProfileFactory(fid=PARAMETERS["fid"], username=PARAMETERS["name"])
    DeployWalletFactory(chain_id=8453, address=WALLET)
