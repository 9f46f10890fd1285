"""What happened, as facts: said in each language, and drawn.

In it: ``happening`` has the facts; ``from_schedule`` makes them of an explored schedule, with ``deeds`` for what one event does;
``say`` puts them in words, and alone has sentences: one template a kind in ``words/en.toml`` and ``words/zh.toml``; ``lanes``
draws a schedule as SVG, ``terminal`` the same in letters. ``timeline`` is a judged run as pictures and sentences need it.
"""
