"""What the history of an accumulator needs: the cluster, fields of records, the idempotent producer."""

from kafka import TopicPartition
from kafka.producer.transaction_manager import ProducerIdAndEpoch, TransactionManager

NEVER = 9999999.99


def field(asked):
    return None if asked is None else bytes.fromhex(asked) if isinstance(asked, str) else bytes(asked["length"])


def producer_of(step):
    return ProducerIdAndEpoch(-1, -1) if step["id"] is None else ProducerIdAndEpoch(step["id"], step.get("epoch", 0))


def manager_of(producer):
    manager = TransactionManager()
    manager.set_producer_id_and_epoch(producer_of(producer))
    for name, sequence in producer.get("next_sequences", {}).items():
        topic, _, partition = name.rpartition("-")
        manager.set_sequence_number(TopicPartition(topic, int(partition)), sequence)
    return manager


class Cluster:
    def __init__(self, cluster, question):
        topics = question.get("topics", ["t"])
        self.leaders = {TopicPartition(topic, p["id"]): p["leader"] for topic in topics for p in cluster["partitions"]}

    def leader_for_partition(self, tp):
        return self.leaders.get(tp)

    def partitions_for_broker(self, node):
        return [tp for tp, leader in self.leaders.items() if leader == node]
