"""Batches of records by kafka-python, or by aiokafka, whose classes have the same names: its decoder, and its encoder."""

from importlib import import_module

from encoder import encode, hexed, unhexed


def number(value):
    return -1 if value is None else value if abs(value) <= 2**53 else str(value)


def read_record(record):
    headers = [[key, hexed(value)] for key, value in record.headers or ()]
    places = {"offset": number(record.offset), "timestamp": number(record.timestamp)}
    return {**places, "key": hexed(record.key), "value": hexed(record.value), "headers": headers}


def until_it_fails(read, entries):
    """What is read of each entry, and last the error that ends them."""
    found = []
    try:
        found.extend(map(read, entries))
    except Exception as error:
        found.append({"raises": type(error).__name__})
    return found


def read_batch(batch):
    valid = batch.validate_crc() or {"raises": "CorruptRecordError"}
    return {"valid": valid, "records": until_it_fails(read_record, each(batch))}


def each(batch):
    yield from batch  # it decompresses first


def batches(records):
    while records.has_next():
        yield records.next_batch()


def answer(library, question):
    if "decode" not in question:
        return encode(library, question.get("encode") or question["compress"])
    records = import_module(f"{library}.record.memory_records").MemoryRecords(unhexed(question["decode"]))
    found = until_it_fails(read_batch, batches(records))
    if "UnsupportedCodecError" in str(found):
        return {"unsupported": "the library of the codec is not installed"}
    ended = found.pop() if found and "raises" in found[-1] else {}
    return {"answer": {"batches": found, **ended}}
