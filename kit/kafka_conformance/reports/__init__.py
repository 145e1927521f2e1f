"""What several reports share: tables, timelines, safe pages."""
