"""A page on this machine that audits files of people who do not write Python."""
