"""A question of record-accumulator to kafka-python: what it lacks is unsupported, its state is not looked at."""

from accumulator import LACKS, History
from accumulator_parts import Cluster, producer_of
from kafka import TopicPartition
from kafka.errors import IllegalStateError, KafkaConfigurationError
from kafka.producer.producer_batch import FinalState

OTHERS = ("complete", "fail", "reenqueue", "split")


def other(history, step):
    accumulator, op = history.accumulator, step["op"]
    tp = TopicPartition(step.get("topic", "t"), step.get("partition"))
    if op == "advance":
        history.now += step["ms"] / 1000
    elif op == "cluster":
        history.metadata = Cluster(step["cluster"], history.question)
    elif op == "producer" and history.manager:
        history.manager.set_producer_id_and_epoch(producer_of(step))
    elif op in ("mute", "unmute"):
        getattr(accumulator.muted, "add" if op == "mute" else "discard")(tp)
    elif op in ("flush", "close"):
        (accumulator.begin_flush if op == "flush" else accumulator.close)()
    elif op == "flushed" and not accumulator.has_incomplete:
        accumulator._flushes_in_progress.decrement()
        return {"flushing": accumulator.flush_in_progress()}
    elif op in ("abort", "abort_undrained"):
        whole = op == "abort"
        accumulator.abort_incomplete_batches() if whole else accumulator.abort_undrained_batches(IllegalStateError())
        history.numbers.abort(one for one in history.numbers.batches if one.final_state is FinalState.ABORTED)
    return {}


def take(history, step):
    if step["op"] == "look":
        return {"unsupported": "its state has other parts"}
    if step["op"] in OTHERS:
        return history.sent(step)
    try:
        return getattr(history, step["op"])(step) if hasattr(history, step["op"]) else other(history, step)
    except IllegalStateError:
        return {"raises": "KafkaException"}


def answer(question):
    config, ops = question["config"], {step["op"] for step in question["steps"]}
    if ops & set(LACKS) or config.get("compression", "none") != "none" or config.get("allocation", "full") != "full":
        return {"unsupported": "no statistics, no latencies, no bound of the memory, no codec of the question's"}
    if any(step["op"] == "append" and step["partition"] is None for step in question["steps"]):
        return {"unsupported": "its partitioner chooses before the accumulator"}
    if config.get("producer") and "fail" in ops:
        return {"unsupported": "its sender fails batches"}
    try:
        history = History(question)
    except KafkaConfigurationError as refused:
        return {"unsupported": str(refused)}
    return {"answer": {"steps": [take(history, step) for step in question["steps"]]}}
