"""Write an audit's reports: terminal, page and figures."""
