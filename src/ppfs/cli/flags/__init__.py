"""What the flags mean, in sections that commands share."""
