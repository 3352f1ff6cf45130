"""Lets ``python -m ppfs.cli`` do what the ``ppfs`` command does."""

from ppfs.cli import main

main()
