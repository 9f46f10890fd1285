"""The story of a run or a schedule: first as facts, then as sentences in each language.

In it: ``happening`` defines the facts. ``timeline`` is a judged run as pictures need it, and ``windows`` chooses the parts that
they show. ``steps`` makes the steps of a loss, for a picture and for a caption; ``from_run`` and ``from_findings`` make the other
facts of captions and titles. ``say``, ``say_run`` and ``searches`` turn facts into sentences, by one template for each kind in
``words.toml``; no other module has sentences. The story of an explored schedule is in ``lab/explore/story``.
"""
