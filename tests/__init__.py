"""The tests."""

import gc

gc.set_threshold(50_000, 20, 100)  # modules and items are no garbage, and the search for it took a third of the collection
