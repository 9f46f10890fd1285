"""The lab: everything that starts a replica, breaks it, judges what happened and draws it."""
