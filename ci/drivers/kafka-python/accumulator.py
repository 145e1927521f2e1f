"""kafka-python's RecordAccumulator, step by step: its clock is an argument, its batches are numbered as they are made."""

from accumulator_parts import NEVER, Cluster, field, manager_of
from batch_numbers import Numbers
from kafka import TopicPartition
from kafka.producer.record_accumulator import RecordAccumulator

LACKS = ("latency", "load", "blocked")


class History:
    def __init__(self, question):
        config, self.question, self.now, self.numbers = question["config"], question, 0.0, Numbers()
        self.metadata = Cluster(question["cluster"], question)
        self.manager = manager_of(config["producer"]) if config.get("producer") else None
        names = ("batch_size", "linger_ms", "retry_backoff_ms", "delivery_timeout_ms")
        settings = {name: config[name] for name in names}
        self.accumulator = RecordAccumulator(transaction_manager=self.manager, request_timeout_ms=0, **settings)

    def append(self, step):
        tp, headers = TopicPartition(step.get("topic", "t"), step["partition"]), step.get("headers", ())
        sides = field(step["key"]), field(step["value"]), [(name, field(value)) for name, value in headers]
        _, full, new, _ = self.accumulator.append(tp, step["timestamp"], *sides, now=self.now)
        self.numbers.note(self.accumulator._batches[tp])
        return {"partition": tp.partition, "batch_full": full, "new_batch": new}

    def ready(self, _):
        nodes, wait, _ = self.accumulator.ready(self.metadata, now=self.now)
        return {"nodes": sorted(nodes), "delay_ms": None if wait == NEVER else round(wait * 1000)}

    def drain(self, step):
        drained = self.accumulator.drain(self.metadata, step["nodes"], step["max_size"], now=self.now)
        return {
            "batches": [
                self.numbers.drained(one, self.manager) for node in step["nodes"] for one in drained.get(node, ())
            ]
        }

    def expire(self, _):
        return {"batches": self.numbers.become("expired", self.accumulator.expired_batches(now=self.now))}

    def sent(self, step):
        batch = self.numbers.find(
            step["batch"], ("out", "expired", "aborted") if step["op"] == "complete" else ("out",)
        )
        if batch is None:
            return {}
        if step["op"] == "reenqueue":
            self.numbers.become("queued", [batch])
            return self.accumulator.reenqueue(batch, now=self.now) or {}
        self.numbers.become("done", [batch])
        pieces = {}
        if step["op"] == "split":
            count = self.accumulator.split_and_reenqueue(batch, now=self.now)
            made = [one for one, _ in zip(self.accumulator._batches[batch.topic_partition], range(count), strict=False)]
            pieces = {"pieces": [one.record_count for one in self.numbers.note(made)]}
        self.accumulator.deallocate(batch)
        return pieces
