"""Benchmark for installations with more than one server: a read replica, two followers, two workers."""
