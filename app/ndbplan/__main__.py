"""`python -m ndbplan` is the command line."""

from ndbplan.cli import main

if __name__ == "__main__":
    main()
