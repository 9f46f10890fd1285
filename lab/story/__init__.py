"""What happened, as facts: said in each language, and drawn.

In it: ``happening`` has the facts. ``from_schedule`` makes them of an explored schedule, with ``deeds`` for what one event does.
``timeline`` is a judged run as pictures need it. ``steps`` are those of a loss, for a picture and for a caption, and ``from_run``
what else a caption and a title state, with ``from_findings``. ``say`` and ``say_run`` put them in words, and
alone have sentences: one template a kind in ``words/en.toml`` and ``words/zh.toml``. ``lanes`` draws a schedule as SVG,
``steps_drawing`` a loss, ``terminal`` a schedule in letters.
"""
