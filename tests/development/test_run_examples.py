"""`python -m development.run`, and each example of its page `/docs` as a visitor runs it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from development.devchain.anvil import CHAIN_ID
from development.devchain.deploy_contracts import OWNER
from tests.development.test_run import Run, end_in_time
from tests.processes.example_code import read_examples, run_example, running
from tests.processes.waiting import wait_for


@pytest.fixture
def sample_run(make_directory: Callable[[], Path]) -> Iterator[Run]:
    yield from end_in_time(
        Run(make_directory() / "local", OVERRIDE_LAUNCH_EVERY_SECONDS="5", OVERRIDE_TRADE_EVERY_SECONDS="0.2")
    )


@pytest.mark.slow
def test_all_examples_run_against_the_whole_service(sample_run: Run, tmp_path: Path) -> None:
    sample_run.wait_for_greeting()
    key = (sample_run.local / "partner-key").read_text().strip()
    wait_for(lambda: f"/api/tokens/{CHAIN_ID}/0x" in sample_run.get("/docs")[1])
    examples = read_examples(sample_run.get("/docs")[1])
    for (task, language), code in examples.items():
        directory = tmp_path / f"{task}-{language}"
        directory.mkdir()
        if task == "stream":
            with running(language, code, directory) as output:
                wait_for(lambda output=output: "token.indexed" in output())
        # Other tests send a webhook, and sign with a wallet that has fees.
        elif task not in ("webhook", "transactions"):
            output = run_example(language, code, directory, LAUNCHBOARD_KEY=key, TOKEN_ADMIN=OWNER)
            # No token of the samples has to match the word of a search, and there is no presale.
            assert output or task in ("search", "mcp", "presales"), (task, language)
            if task == "index":
                assert f":{sample_run.port}/tokens/{CHAIN_ID}/0x" in output
            if task == "events":
                assert "token.indexed" in output
