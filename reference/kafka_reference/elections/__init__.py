"""Elections: which replica a controller makes the leader, on KRaft and with ZooKeeper; nothing is imported here."""
