module driver

go 1.26.0

replace drivers.test/protocol => ../go-protocol

require drivers.test/protocol v0.0.0

require github.com/confluentinc/confluent-kafka-go/v2 v2.11.1
