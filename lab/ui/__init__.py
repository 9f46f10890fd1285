"""Runs from the browser: Locust's own page, where each press of Start is a whole run, and the live page.

In it: the process behind ``lab ui``, Locust's process and the plugin inside it, the socket between the two, the live page
and the site's server (``lab serve``). Not in it: the pages that a finished run leaves (``lab/report``).
"""
