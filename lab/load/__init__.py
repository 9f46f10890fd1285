"""Send the load with Locust, and exactly N requests.

In it: Locust as a process, and the tickets by which all users together send exactly as many requests as the scenario has. Not in
it: the load scripts (``locustfiles/``), and Locust's own page (``lab/ui``).
"""
