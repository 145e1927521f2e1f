"""Keys of which only a part identifies a record: framed by a schema registry, or JSON in different spellings."""
