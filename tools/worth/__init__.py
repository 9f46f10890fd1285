"""What each part of the judge, and of the explorer, is worth: how many answers change while the part is switched off."""
