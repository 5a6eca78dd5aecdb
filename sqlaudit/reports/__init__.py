"""Reports: from a result to text, Markdown, HTML or JSON. They see results only, never a table or a connection."""
