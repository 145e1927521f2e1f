//! krafka, by its own producer, sending to the broker that it brings for tests: in memory, on a clock nobody waits for.
use std::io::{BufRead, stdin};

use krafka::producer::{Partitioner, murmur2};
use krafka::{KrafkaError, PartitionId, Record, testing::FakeBroker};
use serde_json::{Value, json};

struct Plugged(PartitionId);

impl Partitioner for Plugged {
    fn partition(&self, _: &str, _: Option<&[u8]>, _: usize) -> PartitionId {
        self.0
    }
}

fn bytes(hex: &Value) -> Option<Vec<u8>> {
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    hex.as_str().map(|digits| digits.as_bytes().chunks(2).map(byte).collect())
}

async fn answer(broker: &FakeBroker, kafka: &krafka::Kafka, rule: &str, q: &Value) -> Result<Value, KrafkaError> {
    if rule == "murmur2" {
        let hash = |key: Vec<u8>| json!({"answer": {"hash": murmur2(&key)}});
        return Ok(bytes(&q["key"]).map_or(json!({"unsupported": "its key is a slice, which is never null"}), hash));
    }
    let of_key = rule == "partition-for-key";
    let count = q["cluster"]["partitions"].as_array().map_or(q["partitions"].as_i64(), |all| Some(all.len() as i64));
    let (record, config) = (if of_key { q } else { &q["record"] }, &q["config"]);
    let (named, plugged) = (record["partition"].as_i64(), config["partitioner"]["returns"].as_i64());
    let drawn = record["key"].is_null() || config["ignore_keys"] == true;
    if !(1..=1024).contains(&count.unwrap()) || (named.is_none() && plugged.is_none() && drawn) {
        return Ok(json!({"unsupported": "1 to 1024 partitions; what has no key is drawn, at once; keys are not ignored"}));
    }
    let topic = format!("t{}", count.unwrap());
    broker.create_topic(&topic, count.unwrap() as i32);
    let mut sent = Record::new(topic, "");
    sent = bytes(&record["key"]).map_or(sent.clone(), |key| sent.key(key));
    sent = named.map_or(sent.clone(), |partition| sent.partition(partition as i32));
    let builder = kafka.producer().idempotent(false).linger(std::time::Duration::ZERO).max_request_size(1 << 20);
    let plug = |returns| builder.clone().partitioner(Plugged(returns as i32));
    let producer = plugged.map_or(builder.clone(), plug).build().await?;
    Ok(match producer.send(sent).await {
        Ok(written) => json!({"answer": {"partition": written.partition}}),
        Err(refused @ KrafkaError::Config { .. }) => json!({"unsupported": format!("refused: {refused}")}),
        Err(other) => return Err(other),
    })
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), KrafkaError> {
    let (broker, lock) = (FakeBroker::start_in_memory(1), include_str!("../Cargo.lock"));
    let (version, rules) = (lock.split("\"krafka\"\nversion = \"").nth(1).unwrap(), ["murmur2", "partition-for-key", "producer-partition"]);
    let hello = json!({"protocol": 1, "name": "krafka", "version": version.split('"').next(), "language": "rust", "rules": rules});
    let kafka = broker.kafka().connect().await?;
    for line in stdin().lock().lines() {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let said = match &line["rule"] {
            Value::String(rule) => answer(&broker, &kafka, rule, &line["question"]).await,
            _ => Ok(json!({"hello": hello})),
        };
        let mut said = said.unwrap_or_else(|error| json!({"failed": error.to_string()}));
        if line["hello"].is_null() {
            said["id"] = line["id"].clone();
        }
        println!("{said}");
    }
    Ok(())
}
