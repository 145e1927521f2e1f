"""Reports of an audit: terminal, page and figures."""
