//! krafka's producer, asked for one partition at a time.
use krafka::producer::{Partitioner, murmur2};
use krafka::testing::FakeBroker;
use krafka::{Kafka, KrafkaError, PartitionId, Record};
use serde_json::{Value, json};

struct Plugged(PartitionId);

impl Partitioner for Plugged {
    fn partition(&self, _: &str, _: Option<&[u8]>, _: usize) -> PartitionId {
        self.0
    }
}

fn bytes(hex: &Value) -> Option<Vec<u8>> {
    let hex = hex.as_str()?;
    let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    Some((0..hex.len()).step_by(2).map(byte).collect())
}

pub fn hash(q: &Value) -> Value {
    match bytes(&q["key"]) {
        Some(key) => json!({"answer": {"hash": murmur2(&key)}}),
        None => json!({"unsupported": "its key is a slice, which is never null"}),
    }
}

/// `record` is sent to a topic of `count` partitions; the broker's answer says where it came to.
pub async fn choose(
    broker: &FakeBroker,
    kafka: &Kafka,
    count: i64,
    record: &Value,
    config: &Value,
) -> krafka::Result<Value> {
    let named = record["partition"].as_i64().map(|id| id as PartitionId);
    let plugged = config["partitioner"]["returns"].as_i64().map(|id| Plugged(id as PartitionId));
    let key = bytes(&record["key"]);
    let drawn = named.is_none() && plugged.is_none() && (key.is_none() || config["ignore_keys"] == true);
    if drawn || !(1..=10_000).contains(&count) {
        return Ok(json!({"unsupported": "1 to 10,000 partitions; what has no key is drawn; keys are not ignored"}));
    }
    let topic = format!("t{count}");
    broker.create_topic(&topic, count as i32);
    let mut sent = Record::new(topic, "");
    sent.key = key.map(Into::into);
    sent.partition = named;
    let builder = kafka.producer().idempotent(false).linger(std::time::Duration::ZERO);
    let producer = match plugged {
        Some(plugged) => builder.partitioner(plugged).build().await?,
        None => builder.build().await?,
    };
    match producer.send(sent).await {
        Ok(written) => Ok(json!({"answer": {"partition": written.partition}})),
        Err(refused @ KrafkaError::Config { .. }) => Ok(json!({"unsupported": format!("refused: {refused}")})),
        Err(other) => Err(other),
    }
}
