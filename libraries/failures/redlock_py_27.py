"""redlock-py's lock on five servers: if one of them is down, no request gets the lock.

**Idea** The votes of the others are enough, and yet the error of the one is raised: the lock stays at the others.
"""

from app.foreign.library import Quote, ReportedFailure

FAILURE = ReportedFailure(
    report="SPSCommerce/redlock-py#27",
    link="https://github.com/SPSCommerce/redlock-py/pull/27",
    what="The error of one server is raised, although a majority of the servers has granted the lock.",
    package="redlock-py",
    version="1.0.8",
    promises={
        "exclusive": Quote(
            "This python lib implements the Redis-based distributed lock manager algorithm",
            "https://github.com/SPSCommerce/redlock-py/blob/master/README.md",
        ),
        "available_with_a_node_down": Quote(
            "In case of multi redis instance, dont catch some exceptions(for example(redis crash=> socket connection refused), "
            "ignore these exceptions and try other redis-server instance as soon as possible.",
            "https://github.com/SPSCommerce/redlock-py/pull/27",
        ),
    },
    scenario="node_down",
    breaks="available_with_a_node_down",
    by="one_store_gone",
)
STAGE = FAILURE.stage_like("pypi_redlock_py")
