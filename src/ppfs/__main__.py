"""Lets ``python -m ppfs`` do what the ``ppfs`` command does."""

from ppfs.cli import main

main()
