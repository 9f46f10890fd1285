"""Runs from the browser: Locust's page, the live page.

In it: the process behind ``lab ui``, where each press of Start is a whole run; Locust's process, the plugin inside it, and the
questions between the two; the live page; and the site's server (``lab serve``). Not in it: the pages that a finished run leaves
(``lab/report``).
"""
