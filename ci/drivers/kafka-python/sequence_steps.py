"""The steps of a question of producer-sequences, taken on kafka-python's Sender."""

from types import SimpleNamespace

from kafka import TopicPartition
from network import CLOCK
from responses import code_of, is_known
from sequences import NAMES, History


def named(error):
    name = type(error).__name__
    return NAMES.get(name) or name.replace("AuthorizationFailed", "Authorization").replace("Error", "Exception")


def append(history, step):
    for number in range(len(history.numbers), len(history.numbers) + step.get("records", 1)):
        tp, value = TopicPartition("t", step["partition"]), bytes(step.get("bytes", 10))
        future, *_ = history._accumulator.append(tp, 0, None, value, [])
        history.numbers[id(future)], history.futures[number] = number, future
        future.add_callback(lambda metadata, number=number: history.ended.append([number, metadata.offset]))
        future.add_errback(lambda error, number=number: history.ended.append([number, named(error)]))


def run(history, _):
    history.sent, history.ended, history.network.asked = [], [], 0
    history.run_once()
    asked = {"asked_id": history.network.asked} if history.network.asked else {}
    ended = sorted(history.ended, key=lambda one: one[0]) if history.in_error() else history.ended
    return {"sent": history.sent, "ended": ended, **asked}


def other(history, step):
    network, op = history.network, step["op"]
    if op == "advance":
        CLOCK.now += step["ms"] / 1000
    elif op == "flush":
        history._accumulator.begin_flush()
    elif op == "respond":
        network.respond(step)
    elif op == "disconnect":
        network.lost.add(step.get("node", 0))
    elif op == "producer_id":
        code = code_of(step.get("error", "NONE"))
        given = {"producer_id": step.get("id", 7), "producer_epoch": step.get("epoch", 0)}
        network.ids.append(SimpleNamespace(error_code=code, **given))


def answer(question):
    if not all(is_known(step.get(side)) for step in question["steps"] for side in ("error", "others")):
        return {"unsupported": "it does not know the error"}
    history, take = History(question), {"append": append, "run": run}
    steps = [
        {"unsupported": "its state has other parts"}
        if step["op"] == "look"
        else take.get(step["op"], other)(history, step) or {}
        for step in question["steps"]
    ]
    return {"answer": {"steps": steps}}
