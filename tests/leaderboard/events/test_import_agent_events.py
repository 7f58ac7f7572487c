"""Tests of `manage.py import_agent_events`: events from a file, one a line."""

import gzip
import json
import re
import signal
import subprocess
import sys
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from accounts.keys import credentials
from accounts.models import PartnerKey, Scope
from config.environment.variables import BASE_DIR
from development.servers.processes import die_with_parent
from leaderboard.events import file_import, json_lines
from leaderboard.events.file_import import ConcurrentImportError, ImportListener
from leaderboard.events.recording import Reporter
from leaderboard.facts.short_keys import event_key
from leaderboard.models import Agent, EventImport, Interaction, Run, SocialScore
from tests.processes.database_gates import database_gate
from tests.rows import agent_events as reported
from tests.rows.factories import PartnerKeyFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def file(tmp_path):
    return tmp_path / "events.ndjson"


def lines(*events):
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def likes(count, first=0):
    return [reported.like(f"l{number}", actorFid=number + 1) for number in range(first, first + count)]


def import_events(file, *words):
    """Return the command's standard output and standard error."""
    words = words or ("--source", "test")
    output, errors = StringIO(), StringIO()
    call_command("import_agent_events", str(file), *words, stdout=output, stderr=errors)
    return output.getvalue(), errors.getvalue()


def refuse(file, *words):
    """Return standard error and the last message for a file that is not imported to its end."""
    words = words or ("--source", "test")
    errors = StringIO()
    with pytest.raises(CommandError) as refused:
        call_command("import_agent_events", str(file), *words, stdout=StringIO(), stderr=errors)
    return errors.getvalue(), str(refused.value)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ([], "one of the arguments --key --source is required"),
        (["--key", "1", "--source", "a"], "argument --source: not allowed with argument --key"),
        (["--key", "0"], "--key: there is no partner key 0"),
        (["--source", " "], "--source must not be blank"),
        (["--source", "a"], "FILE: No such file or directory"),
    ],
)
def test_it_refuses_what_it_cannot_begin(file, words, text):
    with pytest.raises(CommandError, match=re.escape(text)):
        call_command("import_agent_events", str(file), *words)
    assert not EventImport.objects.exists()


def test_it_takes_in_each_line(file):
    file.write_bytes(lines(*reported.one_of_each()))
    assert import_events(file) == ("lines: 7, added: 7, known: 0, skipped: 0\n", "")
    assert Agent.objects.get().partner_key is None
    assert Run.objects.get().pk == event_key("file test", "r")
    row = EventImport.objects.get()
    assert (row.name, row.bytes_read, row.finished_at is None) == (
        "events.ndjson of file test",
        file.stat().st_size,
        False,
    )


def test_it_takes_in_a_file_once_whatever_its_name(file, tmp_path):
    file.write_bytes(lines(*reported.one_of_each()))
    import_events(file)
    other = file.rename(tmp_path / "other")
    output, _ = import_events(other)
    assert output.startswith("This file was imported on 20")
    assert output.endswith("lines: 7, added: 7, known: 0, skipped: 0\n")
    # Under another name it is another import, and all its events are known.
    assert import_events(other, "--source", "more")[0] == "lines: 7, added: 0, known: 7, skipped: 0\n"


def test_a_keys_events_in_a_file_are_as_those_in_calls(file, client):
    headers = {"x-api-key": credentials.issue_key("Agency", scopes=[Scope.AGENTS, Scope.SCORES])}
    key = PartnerKey.objects.get()
    body = {"events": reported.one_of_each()}
    client.post("/api/droid/events", json.dumps(body), content_type="application/json", headers=headers)
    file.write_bytes(lines(*reported.one_of_each()))
    assert import_events(file, "--key", str(key.pk))[0] == "lines: 7, added: 0, known: 7, skipped: 0\n"
    Agent.objects.update(partner_key=PartnerKeyFactory())
    file.write_bytes(lines(*reported.one_of_each(), *likes(1)))
    output, _ = refuse(file, "--key", str(key.pk))
    assert output.splitlines()[0] == "line 1: agentId belongs to an agent of another reporter: one"
    # Operators report all agents.
    assert import_events(file)[0] == "lines: 8, added: 1, known: 7, skipped: 0\n"


def test_a_key_without_the_scope_reports_nothing_in_a_file_either(file):
    key = PartnerKeyFactory(scopes=[Scope.READ, Scope.SCORES])
    file.write_bytes(lines(reported.agent(), reported.score()))
    output, last = refuse(file, "--key", str(key.pk), "--skip-bad")
    assert (output, last) == ("", f"--key: partner key {key.pk} lacks the scope agents")
    assert not EventImport.objects.exists()


def test_a_wrong_key_skips_nothing(file):
    key = PartnerKeyFactory(scopes=[Scope.AGENTS, Scope.SCORES])
    Agent.objects.create(agent_id="one")
    # Some events in the file would be accepted.
    file.write_bytes(lines(reported.agent("b", agentId="own"), reported.score(), reported.agent(), 7, *likes(2)))
    for words in ([], ["--skip-bad"]):
        output, last = refuse(file, "--key", str(key.pk), *words)
        rule = "agentId belongs to an agent of another reporter: one"
        assert output.splitlines() == [f"line {number}: {rule}" for number in (3, 5, 6)]
        assert last == (
            "Invalid lines: 3, about agents of other reporters; nothing of their chunk was written. "
            "Is it the right key? --skip-bad does not skip them"
        )
    row = EventImport.objects.get()
    assert (row.lines_read, row.finished_at, Agent.objects.count(), SocialScore.objects.count()) == (0, None, 1, 0)
    Agent.objects.update(partner_key=key)
    taken = import_events(file, "--key", str(key.pk), "--skip-bad")[0]
    assert taken == "lines: 6, added: 5, known: 0, skipped: 1\n"


def test_a_file_of_which_nothing_was_taken_is_not_taken_in(file):
    file.write_bytes(lines(*likes(json_lines.CHUNK_LINES + 2)))
    output, last = refuse(file, "--source", "test", "--skip-bad")
    assert output.count("agentId is neither a known agent nor described") == json_lines.CHUNK_LINES + 2
    assert last == f"Nothing was imported: all {json_lines.CHUNK_LINES + 2} events were skipped"
    row = EventImport.objects.get()
    assert (row.bytes_read, row.lines_read, row.skipped, row.finished_at) == (0, 0, 0, None)
    Agent.objects.create(agent_id="one")
    taken = f"lines: {json_lines.CHUNK_LINES + 2}, added: {json_lines.CHUNK_LINES + 2}, known: 0, skipped: 0\n"
    assert import_events(file) == (taken, "")


def test_a_key_scores_accounts_in_a_file_as_far_as_its_scopes_go(file):
    key = PartnerKeyFactory(scopes=[Scope.AGENTS])
    file.write_bytes(lines(reported.agent(), reported.score()))
    output, _ = refuse(file, "--key", str(key.pk))
    assert output == "line 2: type requires a key with the scope scores\n"
    assert not Agent.objects.exists() and not SocialScore.objects.exists()
    taken = import_events(file, "--key", str(key.pk), "--skip-bad")[0]
    assert taken == "lines: 2, added: 1, known: 0, skipped: 1\n"
    assert import_events(file)[0] == "lines: 2, added: 1, known: 1, skipped: 0\n"


def test_compressed_files_byte_order_marks_windows_lines_and_blank_ones_are_taken(file):
    text = b"\xef\xbb\xbf" + lines(reported.agent(), *likes(2)).replace(b"\n", b"\r\n\r\n \n")
    # The last line has no end.
    file.write_bytes(gzip.compress(text + lines(reported.run()).removesuffix(b"\n")))
    assert import_events(file) == ("lines: 10, added: 4, known: 0, skipped: 0\n", "")
    assert EventImport.objects.get().bytes_read == len(text) + len(lines(reported.run())) - 1


def test_an_empty_file_is_taken(file):
    for text in (b"", b"\xef\xbb\xbf", gzip.compress(b"")):
        file.write_bytes(text)
        assert import_events(file)[0].endswith("added: 0, known: 0, skipped: 0\n")


BAD = b"".join(
    [
        lines(reported.agent(), reported.like(castHash="0x", actorFid=0)),
        b'{"id": "x"',
        b"\n\xff\n[]\n",
        b" " * json_lines.MAX_LINE_BYTES + b"{}\n",
        lines(
            reported.run(agentId="other"),
            reported.run(),
            reported.agent("b", agentId="two", fid=7),
            reported.agent("c", fid=7),
        ),
        # Events that depend on a skipped line are skipped, too.
        lines(reported.agent("d", agentId="three", fid=7), reported.run("r3", agentId="three"), *likes(1)),
    ]
)
REPORTED_ERRORS = [
    "line 2: castHash must be the hash of a cast, 0x followed by 40 hex digits",
    "line 2: actorFid must be a whole number from 1 to 9223372036854775807",
    "line 3: must be JSON in UTF-8",
    "line 4: must be JSON in UTF-8",
    "line 5: must be a JSON object",
    "line 6: must have at most 1048576 bytes",
    "line 7: agentId is neither a known agent nor described in the same batch: other",
    "line 10: fid is already used by another agent",
    "line 11: fid is already used by another agent",
    "line 12: agentId is neither a known agent nor described in the same batch: three",
]


def test_bad_lines_end_it_before_anything_of_their_chunk_is_written(file):
    file.write_bytes(BAD)
    output, last = refuse(file)
    # Also errors that only the database shows, so that one run is enough to mend the file.
    assert output.splitlines() == REPORTED_ERRORS
    assert last == "Invalid lines: 9; nothing of their chunk was written. --skip-bad skips them"
    row = EventImport.objects.get()
    assert (row.lines_read, Agent.objects.count(), row.finished_at) == (0, 0, None)


def test_bad_lines_are_skipped_and_reported_where_that_is_wanted(file):
    file.write_bytes(BAD)
    refuse(file)
    output, reported_errors = import_events(file, "--source", "test", "--skip-bad")
    assert reported_errors.splitlines() == REPORTED_ERRORS
    assert output == "lines: 13, added: 4, known: 0, skipped: 9\n"
    assert sorted(Agent.objects.values_list("agent_id", "fid")) == [("one", None), ("two", 7)]


@pytest.mark.parametrize("damage", [lambda whole: whole[:-20], lambda whole: whole[:200] + b"\0" * 40 + whole[240:]])
def test_a_damaged_file_is_reported(file, damage):
    whole = gzip.compress(lines(reported.agent(), *likes(400)))
    file.write_bytes(damage(whole))
    _, last = refuse(file)
    assert re.match(r"The compressed file is damaged or truncated after line \d+: ", last)
    assert EventImport.objects.get().lines_read == Interaction.objects.count() == 0


@pytest.fixture
def long_file(file):
    """Write a file with two chunks; the second has two more events, and the first chunk has already reported one."""
    file.write_bytes(lines(reported.agent(), *likes(json_lines.CHUNK_LINES), *likes(1)))
    return file


LONG = json_lines.CHUNK_LINES


def test_it_goes_on_behind_what_was_written(long_file):
    with long_file.open("ab") as opened:
        opened.write(b"bad\n")
    output, _ = refuse(long_file)
    assert output == f"line {LONG + 3}: must be JSON in UTF-8\n"
    row = EventImport.objects.get()
    assert (row.lines_read, row.added, row.known) == (LONG, LONG, 0)
    Interaction.objects.all().delete()
    assert import_events(long_file, "--source", "test", "--skip-bad")[0] == (
        f"lines: {LONG + 3}, added: {LONG + 2}, known: 0, skipped: 1\n"
    )
    # Lines that were written before are not read again.
    assert Interaction.objects.count() == 2


class Interrupted(StringIO):
    """Output whose reader interrupts the command."""

    def write(self, text: str) -> int:
        raise KeyboardInterrupt


def test_it_may_be_stopped(long_file):
    with long_file.open("ab") as opened:
        opened.write(b"bad\n")
    words = ["import_agent_events", str(long_file), "--source", "test", "--skip-bad"]
    with pytest.raises(CommandError, match="Stopped; run the same command to resume"):
        call_command(*words, stderr=Interrupted())
    assert import_events(long_file, *words[2:])[0] == f"lines: {LONG + 3}, added: {LONG + 1}, known: 1, skipped: 1\n"


def test_a_file_that_another_process_has_taken_further_is_left_to_it(long_file):
    row = file_import.get_or_create_import(long_file, reporter=Reporter(source="file test"))
    listener = ImportListener(on_progress=lambda *_: EventImport.objects.update(bytes_read=1), on_skip=lambda _: None)
    with pytest.raises(ConcurrentImportError):
        file_import.run_import(
            row, long_file, reporter=Reporter(source="file test"), skip_invalid=False, listener=listener
        )
    # The first chunk was its own.
    assert Interaction.objects.count() == LONG - 1


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_nothing_is_lost_or_doubled_by_a_kill(long_file, service_environment):
    """It is killed when the second chunk's events are there, and their progress is not."""
    url = service_environment["DATABASE_URL"]
    words = ["import_agent_events", str(long_file), "--source", "test"]
    with database_gate(url, EventImport._meta.db_table, on="UPDATE", when="OLD.bytes_read > 0") as gate:
        process = subprocess.Popen(
            [sys.executable, "manage.py", *words],
            cwd=BASE_DIR,
            env=service_environment,
            preexec_fn=die_with_parent(signal.SIGKILL),
        )
        gate.wait()
        assert EventImport.objects.get().lines_read == LONG
        process.kill()
        process.wait()
        # PostgreSQL finds out while the statement is held up still.
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_locks JOIN pg_database ON pg_database.oid = database"
                " WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()"
            )
            assert cursor.fetchall() == [(True,)]
    assert import_events(long_file)[0] == f"lines: {LONG + 2}, added: {LONG + 1}, known: 1, skipped: 0\n"
    assert Interaction.objects.count() == LONG
