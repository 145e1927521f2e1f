"""The responses to produce requests that a question describes, as kafka-python reads them."""

from kafka import errors
from kafka.protocol.producer import ProduceResponse

CODES = {one.message: one.errno for one in vars(errors).values() if isinstance(one, type) and hasattr(one, "errno")}
CODES |= {"MESSAGE_TOO_LARGE": 10, "NOT_LEADER_OR_FOLLOWER": 6, "INVALID_TOPIC_EXCEPTION": 17}  # as Java names them
Topic = ProduceResponse.TopicProduceResponse


def is_known(name):
    return name in (None, "NONE") or name in CODES


def code_of(name):
    return 0 if name == "NONE" else CODES[name]


def responses(request, step):
    numbers = sorted(one.index for topic in request.topic_data for one in topic.partition_data)
    return [Topic(name="t", partition_responses=[part(number, step, number == numbers[0]) for number in numbers])]


def part(number, step, is_first):
    error = step.get("error", "NONE") if is_first else step.get("others") or step.get("error", "NONE")
    return Topic.PartitionProduceResponse(
        index=number, error_code=code_of(error), base_offset=step.get("base_offset", 0) if error == "NONE" else -1,
        log_append_time_ms=-1, log_start_offset=step.get("log_start_offset", -1), record_errors=[], error_message=None,
    )  # fmt: skip
