"""The tests."""

import gc

gc.set_threshold(50_000, 20, 100)  # modules and thousands of items are no garbage: to look for it was a third of the collection
