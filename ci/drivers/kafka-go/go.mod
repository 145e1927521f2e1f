module driver

go 1.26

require github.com/segmentio/kafka-go v0.4.51
