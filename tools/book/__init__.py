"""Write the generated parts of README and docs/.

In it: tables, figures in the prose, and the pictures of the book. Each is made from stages, scenarios and libraries, and from
``reports/reference``; ``python -m tools.book --check`` lists the parts that differ. Not in it: the prose.
"""
