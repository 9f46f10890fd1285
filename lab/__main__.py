"""``python -m lab`` is the command ``lab``."""

from lab.cli import main

if __name__ == "__main__":
    main()
