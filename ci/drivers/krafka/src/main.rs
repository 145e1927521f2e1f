//! krafka, by its own producer, sending to the broker that it brings for tests: in memory, on a
//! clock without a reader. It has one partitioner, which is meant to match Java's: both settings
//! are one.
mod client;

use std::io::stdin;

use krafka::testing::FakeBroker;
use krafka::{Kafka, KrafkaError};
use serde_json::{Value, json};

async fn answer(broker: &FakeBroker, kafka: &Kafka, line: &Value) -> Result<Value, KrafkaError> {
    let q = &line["question"];
    match line["rule"].as_str() {
        Some("murmur2") => Ok(client::hash(q)),
        Some("partition-for-key") => {
            let count = q["partitions"].as_i64().unwrap();
            client::choose(broker, kafka, count, &json!({"key": q["key"]}), &json!({})).await
        }
        _ => {
            let count = q["cluster"]["partitions"].as_array().unwrap().len() as i64;
            client::choose(broker, kafka, count, &q["record"], &q["config"]).await
        }
    }
}

/// The version that was built: what is locked is what is linked.
fn version() -> &'static str {
    let locked = include_str!("../Cargo.lock").split("\"krafka\"\nversion = \"");
    locked.last().unwrap().split('"').next().unwrap()
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), KrafkaError> {
    let broker = FakeBroker::start_in_memory(1);
    let kafka = broker.kafka().connect().await?;
    let hello = json!({
        "protocol": 1, "name": "krafka", "version": version(), "language": "rust",
        "rules": ["murmur2", "partition-for-key", "producer-partition"],
    });
    for line in stdin().lines() {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if !line["hello"].is_null() {
            println!("{}", json!({"hello": hello}));
            continue;
        }
        let mut response = match answer(&broker, &kafka, &line).await {
            Ok(response) => response,
            Err(error) => json!({"failed": error.to_string()}),
        };
        response["id"] = line["id"].clone();
        println!("{response}");
    }
    Ok(())
}
