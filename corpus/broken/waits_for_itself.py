"""Broken: promises to let its holder in again, and does not know its holder."""

from dataclasses import replace

from app.lock import claims
from app.locks import lua

STAGE = replace(lua.STAGE, claims=lua.STAGE.claims | claims("reentrant"))
