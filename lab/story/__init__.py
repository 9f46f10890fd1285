"""What happened, as facts, and said in each language.

In it: ``happening`` has the facts. ``timeline`` is a judged run as pictures need it, and ``windows`` what they show of it.
``steps`` are those of a loss, for a picture and for a caption, and ``from_run`` what else a caption and a title state, with
``from_findings``. ``say``, ``say_run`` and ``searches`` put them in words, and alone have sentences: one template a kind in
``words.toml``. The explorer has its own room for the story of a schedule, ``lab/explore/story``.
"""
