"""Explore Kafka's client and broker in Python: the library's public names, and no broker."""

import numpy as np

from kafka_reference import Cluster, JavaException, bulk, partition_for_key
from kafka_reference.accumulator import Metadata, RecordAccumulator, SizedRecord
from kafka_reference.broker import ProducerState
from kafka_reference.delivery import Fault, Kind, Outcome, Scenario, simulate
from kafka_reference.idempotence import Reply, Sender
from kafka_reference.partitioning import BuiltInPartitioner, Partitioner


def port_a_client() -> None:
    partitions, key = [0, 1, 2], b"alice"
    print("alice:", partition_for_key(key, num_partitions=3))
    for partitioner in (Partitioner(), Partitioner("consistent_random")):
        print(partitioner, "->", partitioner(key, partitions, partitions))


def bucket_columns() -> None:
    offsets, data = np.array([0, 5, 8]), np.frombuffer(b"alicebob", np.uint8)
    print("buckets:", bulk.partition_for_key_columns(offsets, data, num_partitions=12).tolist())


def explore_sticky_partitioning() -> None:
    partitioner, cluster = BuiltInPartitioner(version="3.9.1", draws=[0, 5, 1]), Cluster.of(partitions=3)
    for appended_bytes in (10_000, 10_000, 20_000):
        stay = partitioner.peek(cluster)
        partitioner.update(stay, appended_bytes, cluster)
        print(f"partition {stay.partition} has {stay.produced} bytes; left: {partitioner.is_changed(stay)}")


def explore_producer_state() -> None:
    state = ProducerState(version="4.4.0")
    for sequence in (0, 0, 9):
        try:
            print(sequence, state.append(producer_id=7, epoch=0, first_sequence=sequence, records=3))
        except JavaException as refused:
            print(sequence, refused.java_name)


def explore_accumulator() -> None:
    accumulator = RecordAccumulator(version="2.8.2", config={"batch.size": 300, "linger.ms": "5"})
    metadata = Metadata(version="2.8.2", cluster=Cluster.of(partitions=2), topics=["t"])
    for partition in (0, 0, 0, 1):
        print(accumulator.append("t", partition, SizedRecord(value=100), metadata))
    print("ready at once:", accumulator.ready(metadata).nodes)
    print("drained:", accumulator.drain(metadata, nodes=[0], max_size=1_048_576))


def explore_delivery() -> None:
    sender = Sender(config={"retries": 0, "linger.ms": 0, "enable.idempotence": False})
    sender.accumulator.append("t", 0, SizedRecord(value=100), sender.metadata)
    sender.run()
    sender.network.reply(node=0, reply=Reply("NOT_ENOUGH_REPLICAS"))
    sender.run()
    print("without retries:", sender.ended)
    end = simulate(Scenario({"acks": "1"}, records=3, faults=[Fault(Kind.LOSE_RESPONSE, request=2)]))
    print("the log:", end.log if isinstance(end, Outcome) else end.error)


for explore in (
    port_a_client,
    bucket_columns,
    explore_sticky_partitioning,
    explore_producer_state,
    explore_accumulator,
):
    explore()
explore_delivery()
