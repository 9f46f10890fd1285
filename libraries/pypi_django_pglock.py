"""The advisory lock of django-pglock, on Django's own connection to PostgreSQL.

**Idea** A site on Django has a database, and a lock is one ``with``.
"""

import threading

from app.foreign.declared import declared
from app.foreign.library import Library, Quote

README = "https://github.com/AmbitionEng/django-pglock/blob/1.8.0/README.md"
BLOCKS = Quote(
    "Above our code will block until the lock is available, meaning no instances of the function will run simultaneously.", README
)

ONCE = threading.Lock()

LIBRARY = Library(
    package="django-pglock",
    version="1.8.0",
    used="rank 3956 of PyPI's downloads",
    lock="pglock.advisory",
    options="the connection is closed after each request, as Django does by default",
    promises={"exclusive_in_process": BLOCKS, "exclusive": BLOCKS},
    scenarios=("session_loss",),
)


def set_up(store):
    """Let Django of this process use the server of the lab. Called in the first request, which may not be alone."""
    import django
    from django.conf import settings

    with ONCE:
        if not settings.configured:
            configure(settings, store)
            django.setup()


def configure(settings, store):
    """Make the settings of Django."""
    about = store.parameters
    options = {"application_name": about["application_name"], "connect_timeout": about["connect_timeout"]}
    where = {"NAME": about["dbname"], "USER": about["user"], "HOST": about["host"], "PORT": about["port"], "OPTIONS": options}
    database = {"ENGINE": "django.db.backends.postgresql", **where}
    settings.configure(DATABASES={"default": database}, INSTALLED_APPS=["pgactivity", "pglock"])


def use(at):
    """Use the lock on the thread's connection."""
    set_up(at.lock.store)
    import pglock
    from django.db import connection

    try:
        with pglock.advisory(at.key, timeout=at.wait_s) as acquired:
            if acquired:
                at.work()
    finally:
        connection.close()


STAGE = LIBRARY.stage(lock=declared(use), store="postgresql", environment="django_pglock")
