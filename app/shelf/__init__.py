"""Folders in which every file is one variant: how a file is found by its name, checked, and suggested."""
