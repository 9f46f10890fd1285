"""The locks of published libraries, and known failures of them: their shelves and environments, the scorecard, the commands."""
