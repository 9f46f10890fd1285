"""The lab's texts in Chinese, and which language a reader gets.

In it: the choice of the language, and the catalogue of phrases: a shelf of files in ``zh/``, one for each kind of text.
Not in it: the Chinese prose of docs/zh, which a person writes.
"""
