"""A counter of one's own: was each acknowledged increment counted? ``lab count`` needs no lock and no server of the lab."""
