"""Run the programs of the lab's makers: none is part of the wheel, and ``lab`` imports none.

In it: ``book`` writes the generated documents and the website, ``budgets`` counts lines, and ``worth`` tries the judge's parts.
"""
