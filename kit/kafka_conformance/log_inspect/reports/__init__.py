"""Reports of an inspection: text and one HTML page. JSON is the inspection itself."""
