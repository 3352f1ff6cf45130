"""The sub-commands of ``ppfs``, one file each."""
