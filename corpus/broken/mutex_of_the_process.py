"""Broken: a mutex of one process, and it is promised for all replicas."""

from dataclasses import replace

from app.lock import claims
from app.locks import local

STAGE = replace(local.STAGE, claims=local.STAGE.claims | claims("exclusive"))
