"""A chain's head, followed until the turn ends: hears of new blocks, takes the steps, waits out what goes wrong."""

import time

from django.conf import settings

from config.http.json_client import Retryable
from tokens.following import halts
from tokens.following.halts import Halted
from tokens.following.head import Head
from tokens.following.leader_loops import Term
from tokens.following.new_heads import listening
from tokens.installation.installed_chains import installed_chain, installed_chain_otherwise

# What troubles call this loop.
HEAD = "head"

# How often a halted chain calls for an operator, and how often it looks whether one has come.
_CALL_SECONDS, _LOOK_SECONDS = 60.0, 1.0


def follow_head(term: Term) -> None:
    """Follow the head, unless and until the chain is halted, and again once it no longer is."""
    _wait_out_halt(term)
    head = Head(chain=installed_chain(term.chain_id), otherwise=installed_chain_otherwise(term.chain_id))
    try:
        _follow(head, term)
    except Halted:
        term.troubles.clear(HEAD)


def _follow(head: Head, term: Term) -> None:
    with listening(term.chain_id) as news:
        newest = None
        while not term.ended.is_set():
            try:
                if term.outvoted.is_set():
                    term.outvoted.clear()
                    head.ask_others()
                    news.doubt()
                newest = newest or news.wait_for_newest(head.chain, known=head.known, ended=term.ended)
                if newest is not None and not head.advance(newest):
                    newest = None
                term.troubles.clear(HEAD)
            except Retryable as error:
                newest = None
                news.doubt()
                # Where it can't go on, an operator may have taken the chain back meanwhile.
                head.reload()
                # Longer than between two looks it needs not wait: the next one may find another node.
                pause = term.troubles.note(HEAD, error, longest_pause=settings.FOLLOW_POLL_SECONDS)
                term.ended.wait(pause)


def _wait_out_halt(term: Term) -> None:
    """Stay here while the chain is halted. It keeps its turn meanwhile: a standby could do no more about it."""
    called_at = float("-inf")
    while not term.ended.is_set() and (reason := halts.reason_of(term.chain_id)):
        if time.monotonic() - called_at >= _CALL_SECONDS:
            called_at = time.monotonic()
            halts.call_operator(term.chain_id, reason)
        term.ended.wait(_LOOK_SECONDS)
