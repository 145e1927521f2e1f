"""A question of producer-sequences to kafka-python's Sender and TransactionManager: what is sent, and how records end."""

from accumulator_parts import Cluster
from kafka import TopicPartition
from kafka.producer.record_accumulator import RecordAccumulator
from kafka.producer.sender import Sender
from kafka.producer.transaction_manager import ProducerIdAndEpoch, TransactionManager, TransactionState
from network import CLOCK, Network

NAMES = {
    "OutOfOrderSequenceNumberError": "OutOfOrderSequenceException", "KafkaTimeoutError": "TimeoutException",
    "MessageSizeTooLargeError": "RecordTooLargeException", "RecordListTooLargeError": "RecordBatchTooLargeException",
    "RequestTimedOutError": "TimeoutException", "NotLeaderForPartitionError": "NotLeaderOrFollowerException",
    "KafkaConnectionError": "NetworkException", "NetworkExceptionError": "NetworkException",
}  # fmt: skip


class History(Sender):
    def __init__(self, question):
        config = question["config"]
        cluster = {"partitions": [{"id": n, "leader": node} for n, node in enumerate(question["leaders"])]}
        metadata = Cluster(cluster, {})
        metadata.request_update = lambda: None
        self.manager = TransactionManager(api_version=(4, 0)) if config["idempotence"] else None
        names = ("batch_size", "linger_ms", "retry_backoff_ms", "delivery_timeout_ms", "request_timeout_ms")
        self.network, CLOCK.now = Network(metadata, config), 0.0
        accumulator = RecordAccumulator(transaction_manager=self.manager, **{name: config[name] for name in names})
        acks = -1 if config["acks"] == "all" else int(config["acks"])
        settings = {name: config[name] for name in ("retries", "request_timeout_ms", "retry_backoff_ms")}
        super().__init__(self.network, metadata, accumulator, acks=acks, transaction_manager=self.manager,
                         guarantee_message_order=config["max_in_flight"] == 1, **settings)  # fmt: skip
        self.numbers, self.futures, self.sent, self.ended = {}, {}, [], []
        if self.manager and question.get("producer"):
            known = question["producer"]
            self.manager.producer_id_and_epoch = ProducerIdAndEpoch(known["id"], known["epoch"])
            self.manager._current_state = TransactionState.READY
            for number, sequence in known.get("next_sequences", {}).items():
                self.manager.set_sequence_number(TopicPartition("t", int(number)), sequence)

    def in_error(self):
        return self.manager is not None and self.manager.has_error()

    def _produce_request(self, node_id, acks, timeout, batches):
        self.sent.append({"node": node_id, "batches": [self.batch(one) for one in batches]})
        return super()._produce_request(node_id, acks, timeout, batches)

    def batch(self, batch):
        records = [self.numbers[id(future)] for future in batch._record_futures]
        ids = {"producer_id": batch.producer_id, "epoch": batch.producer_epoch, "sequence": batch.base_sequence}
        return {"partition": batch.topic_partition.partition, "records": records, **ids}
