"""manage.py: commands without a database end with one sentence, and without a secret."""

import os

import pytest

from tests.processes.forking.program import run_program


@pytest.mark.parametrize("words", [["migrate"], ["issue_partner_key", "Acme"], ["deploy_wallets"], ["follow"]])
def test_a_command_whose_database_is_out_of_reach_ends_with_one_sentence(unused_port, words):
    urls = {
        "DATABASE_URL": f"postgres://user:s3cret@127.0.0.1:{unused_port}/name",
        "REDIS_URL": f"redis://127.0.0.1:{unused_port}/0",
        "RPC_URLS_8453": f"http://127.0.0.1:{unused_port}",
        "SECRET_KEY": "s3cret" * 9,
    }
    done = run_program(["python", "manage.py", *words], os.environ | urls)
    assert done.returncode == 1 and "s3cret" not in done.stdout + done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("launchboard: DATABASE_URL: no response from the server (connection failed:")
