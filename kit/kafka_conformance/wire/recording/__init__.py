"""What programs and brokers say to each other: recorded by a proxy, kept in a trace file, judged afterwards."""
