"""Sound: SELECT … FOR UPDATE in the transaction that PyMySQL begins by itself; the release commits it."""

from app.foreign.declared import declared
from app.lock import Stage, claims

TABLE = "CREATE TABLE IF NOT EXISTS names (name VARCHAR(100) PRIMARY KEY)"


def use(at):
    connection = at.client
    try:
        with connection.cursor() as cursor:
            cursor.execute(TABLE)
            cursor.execute("INSERT IGNORE INTO names VALUES (%s)", (at.key,))
            connection.commit()
            cursor.execute("SELECT name FROM names WHERE name = %s FOR UPDATE", (at.key,))
            at.work()
        connection.commit()
    finally:
        connection.close()


STAGE = Stage(lock=declared(use), store="mysql", ttl_ms=3000, claims=claims("exclusive_in_process exclusive freed_after_crash"))
