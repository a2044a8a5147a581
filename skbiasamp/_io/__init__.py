"""Files in and out: found, read, checked and written whole."""
