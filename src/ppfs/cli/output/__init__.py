"""What the command writes: tables, JSON, files, messages."""
