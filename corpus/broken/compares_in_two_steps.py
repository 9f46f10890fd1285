"""Broken: compares and deletes with two commands, and promises that they are one."""

from dataclasses import replace

from app.lock import claims
from app.locks import uuid

STAGE = replace(uuid.STAGE, claims=uuid.STAGE.claims | claims("releases_atomically"))
