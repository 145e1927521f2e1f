module drivers.test/protocol

go 1.26.0
