"""The numbers of batches, in the order in which they are made, and where each of them is."""


class Numbers:
    """Batches by number, and where each is: queued, out, expired, aborted, done."""

    def __init__(self):
        self.batches, self.places = [], []

    def note(self, batches):
        new = [one for one in batches if not any(one is known for known in self.batches)]
        self.batches += new
        self.places += ["queued"] * len(new)
        return new

    def number(self, batch):
        return next(number for number, one in enumerate(self.batches) if one is batch)

    def become(self, place, batches):
        numbers = list(map(self.number, batches))
        for number in numbers:
            self.places[number] = place
        return numbers

    def abort(self, batches):
        for batch in batches:
            self.become({"out": "aborted", "queued": "done"}.get(self.places[self.number(batch)], "done"), [batch])

    def find(self, number, places):
        if number >= 0:
            return self.batches[number] if number < len(self.places) and self.places[number] in places else None
        there = [one for one, place in zip(self.batches, self.places, strict=True) if place in places]
        return there[number] if -number <= len(there) else None

    def drained(self, batch, manager):
        (number,) = self.become("out", [batch])
        answer = {"id": number, "partition": batch.topic_partition.partition, "records": batch.record_count}
        return {**answer, **({"sequence": batch.base_sequence, "epoch": batch.producer_epoch} if manager else {})}
