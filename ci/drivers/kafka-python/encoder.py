"""The record batches that kafka-python, or aiokafka, whose classes have the same names, writes for its producer."""

from importlib import import_module

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
BROKER = ("base_offset", "leader_epoch", "control", "delete_horizon", "timestamp_type")


def hexed(data):
    return None if data is None else bytes(data).hex()


def unhexed(text):
    return None if text is None else bytes.fromhex(text)


def encode(library, asked):
    producer = asked.get("producer") or {"id": -1, "epoch": -1, "first_sequence": -1}
    if asked.get("magic", 2) != 2 or any(field in asked for field in BROKER) or "level" in asked:
        return {"unsupported": "its producer writes message format 2, at the default level; brokers write the rest"}
    if any("offset" in record for record in asked["records"]):
        return {"unsupported": "its producer numbers records without gaps"}
    builder = import_module(f"{library}.record.default_records").DefaultRecordBatchBuilder(
        2, CODECS.index(asked.get("compression", "none")), int(asked.get("transactional", False)),
        int(producer["id"]), producer["epoch"], producer["first_sequence"], 2**30,
    )  # fmt: skip
    for offset, record in enumerate(asked["records"]):
        headers = [(key, unhexed(value)) for key, value in record.get("headers", ())]
        sides = [unhexed(record.get(side)) for side in ("key", "value")]
        builder.append(offset, int(record.get("timestamp", 0)), *sides, headers)
    try:
        return {"answer": {"bytes": hexed(builder.build())}}
    except Exception as error:  # each of the two clients has a separate UnsupportedCodecError
        if type(error).__name__ != "UnsupportedCodecError":
            raise
        return {"unsupported": "the library of the codec is not installed"}
