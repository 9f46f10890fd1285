"""Copies of stages whose commands nobody counts: what the experiment ``instruments`` compares with."""
