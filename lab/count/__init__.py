"""Check a user's own counter: was each acknowledged increment counted? ``lab count`` needs no lock and no server of the lab."""
