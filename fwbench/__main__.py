"""``python -m fwbench``."""

from fwbench.cli import main

if __name__ == "__main__":
    main()
