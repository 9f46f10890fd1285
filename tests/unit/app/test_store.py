"""The calls of a store: the clients have them, and the stages make no others."""

import ast
import inspect
from pathlib import Path

from app import plugins, store
from app.locks import stages
from tests.every import every

SESSIONS = {"zookeeper": store.ZooKeeperSession, "etcd": store.EtcdSession}
FOREIGN = Path(__file__).parents[2] / "servers" / "foreign"
SHELF = Path(__file__).parents[3] / "libraries"
STAGES = [name for name, stage in stages().items() if stage.store]


def clients() -> dict[type, type]:
    """Return the client of each protocol. Their libraries take a second to load, so this is no table."""
    from app.stores import etcd, mysql, postgresql, redis, redis_nodes, zookeeper

    return {
        store.RedisStore: redis.Redis,
        store.RedisNodesStore: redis_nodes.RedisNodes,
        store.ZooKeeperStore: zookeeper.ZooKeeper,
        store.ZooKeeperSession: zookeeper.KazooSession,
        store.EtcdStore: etcd.Etcd,
        store.EtcdSession: etcd.LeaseSession,
        store.MySQLStore: mysql.MySQL,
        store.PostgreSQLStore: postgresql.PostgreSQL,
    }


def calls(protocol: type) -> set[str]:
    """Return the names that a protocol asks for."""
    names = {name for kind in protocol.__mro__[:-1] for name in (*vars(kind), *vars(kind).get("__annotations__", {}))}
    return {name for name in names if not name.startswith("_")}


def asked(tree: ast.AST) -> set[str]:
    """Return what a stage asks of its store: the attributes of ``store``, ``self.store``, ``lock.store`` and ``session``."""

    def is_store(node: ast.expr) -> bool:
        return getattr(node, "id", getattr(node, "attr", "")) in ("store", "session")

    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and is_store(node.value)}


def test_every_store_has_a_list_of_its_calls():
    files = [name for name, file in plugins.files("app.stores").items() if hasattr(file, "connect")]

    assert sorted(store.STORES) == files


@every("protocol, client", lambda: clients().items())
def test_client_has_the_calls(protocol, client):
    """A client has the calls of its protocol, with the same parameters."""
    for name in calls(protocol):
        found = inspect.getattr_static(client, name)
        listed = vars(protocol).get(name)
        if inspect.isfunction(listed):
            known = inspect.signature(found).parameters
            for parameter in inspect.signature(listed).parameters.values():
                by_position = parameter.name in known or any(one.kind is one.VAR_POSITIONAL for one in known.values())
                assert by_position, f"{client.__name__}.{name}({parameter.name})"


@every("name", STAGES)
def test_stage_makes_only_listed_calls(name):
    """A stage makes no call to its store that the protocol does not list."""
    stage = stages()[name]
    allowed = calls(store.STORES[stage.store])
    allowed |= calls(SESSIONS[stage.store]) if stage.store in SESSIONS else set()

    assert asked(ast.parse(stage.path.read_text(encoding="utf-8"))) - allowed == set()


def test_every_listed_call_is_used():
    """Some stage, or a lock of a library, makes each call that is listed."""
    files = [one.path for one in stages().values()] + [*FOREIGN.glob("*.py"), *SHELF.glob("*.py")]
    made = set().union(*(asked(ast.parse(path.read_text(encoding="utf-8"))) for path in files))

    assert set().union(*map(calls, (*store.STORES.values(), *SESSIONS.values()))) - made == set()
