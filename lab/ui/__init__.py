"""Start and show runs in the browser: Locust's page, and the live page.

In it: the process behind ``lab ui``, in which each press of Start is a whole run; Locust's process, the plugin inside it, and the
requests between the two processes; the live page; and the site's server (``lab serve``). Not in it: the pages that a finished run
leaves (``lab/report``).
"""
