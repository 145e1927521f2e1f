"""A network for kafka-python's Sender: requests wait until the question answers them; the clock is the question's."""

from collections import defaultdict, deque
from types import SimpleNamespace

from kafka import errors
from kafka.future import Future
from kafka.producer import producer_batch, record_accumulator, sender
from kafka.protocol.producer import InitProducerIdRequest
from responses import responses

CLOCK = SimpleNamespace(now=0.0, monotonic=lambda: CLOCK.now, sleep=lambda _: None)
for module in (sender, record_accumulator, producer_batch):
    module.time = CLOCK


class Network:
    def __init__(self, metadata, config):
        self.cluster, self.config, self.in_flight = metadata, config, defaultdict(deque)
        self.replies, self.lost = defaultdict(deque), set()
        self.ids, self.waiting, self.asked = deque(), deque(), 0
        self.connection_delay = self.least_loaded_node = lambda *_: 0
        self.maybe_connect = self.await_ready = lambda *_, **__: True

    def is_ready(self, node):
        return len(self.in_flight[node]) < self.config["max_in_flight"]

    def send(self, node, request, **_):
        future = Future()
        is_id = isinstance(request, InitProducerIdRequest)
        self.asked += is_id
        (self.waiting if is_id else self.in_flight[node]).append((future, request, CLOCK.now))
        return future

    def poll(self, **_):
        for node, requests in sorted(self.in_flight.items()):
            while requests and self.config["acks"] == "0":
                requests.pop()[0].success(None)
            if self.replies[node]:
                self.answer(requests.popleft(), self.replies[node].popleft())
            late = requests and (CLOCK.now - requests[0][2]) * 1000 > self.config["request_timeout_ms"]
            while requests and (node in self.lost or late):
                requests.popleft()[0].failure(errors.RequestTimedOutError() if late else errors.KafkaConnectionError())
            self.replies[node] = deque(list(self.replies[node])[: len(requests)])
        self.lost = set()
        while self.waiting and self.ids:
            self.waiting.popleft()[0].success(self.ids.popleft())

    def respond(self, step):
        node = step.get("node", 0)
        if len(self.replies[node]) < len(self.in_flight[node]):
            self.replies[node].append(step)

    def answer(self, request, step):
        request[0].success(SimpleNamespace(responses=responses(request[1], step)))
