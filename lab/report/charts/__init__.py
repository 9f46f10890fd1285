"""The charts, one in each file: ``draw(results, language)`` returns a figure."""
