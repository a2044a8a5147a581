"""What every layer uses: formatting, warnings, progress, jobs, docstrings, versions."""
