"""Harbour: a large, noisy platform in its growth phase."""

from .harbour_world import build_world as build_world
