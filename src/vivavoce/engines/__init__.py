"""Models that run inside this process, one file each."""
