"""What people read of a report: a page, a notebook, text, Markdown, from its plain content."""
