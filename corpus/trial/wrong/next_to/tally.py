"""Which request of this process holds which key: a module next to a lock, which keeps state."""

HOLDERS = {}  # key → token


def is_held(key):
    return key in HOLDERS


def note(key, token):
    HOLDERS[key] = token


def forget(key, token):
    """Forget a holder, and return whether it was noted."""
    if HOLDERS.get(key) != token:
        return False
    del HOLDERS[key]
    return True
