"""Sound: the lock does the work once for each retry, and the counter's store applies the write of a request only once.

It is `setnx_no_else`, which excludes nobody. The resource alone keeps its promises.
"""

from dataclasses import replace

from app.lock import claims
from app.locks import setnx_no_else

STAGE = replace(setnx_no_else.STAGE, resource="once", claims=claims("counts_once serves_most_requests"))
