//! kafka-rust, by its own producer, which sends to a broker of this driver. The partition is what its DefaultPartitioner,
//! which is xxHash32, makes of the message.
mod broker;
mod client;

use std::io::stdin;

use serde_json::{Value, json};

/// The version that was built: what is locked is what is linked.
fn version() -> &'static str {
    include_str!("../Cargo.lock").split("\"kafka\"\nversion = \"").last().unwrap().split('"').next().unwrap()
}

fn main() {
    let leaders = broker::Leaders::default();
    let host = broker::start(leaders.clone());
    let rules = ["partition-for-key", "producer-partition"];
    let hello = json!({"protocol": 1, "name": "kafka-rust", "version": version(), "language": "rust", "rules": rules});
    for line in stdin().lines() {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if !line["hello"].is_null() {
            println!("{}", json!({"hello": hello}));
            continue;
        }
        let mut said = client::answer(&host, &leaders, &line);
        said["id"] = line["id"].clone();
        println!("{said}");
    }
}
