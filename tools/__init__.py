"""Programs for those who make the lab: none is part of the wheel, and ``lab`` imports none.

In it: ``book``, which writes the generated parts of the documents, and the website.
"""
