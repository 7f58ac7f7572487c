"""Orchard: a small network with many tiny agents, and buyers who read the public guide."""

from .orchard_world import build_world as build_world
