//! kafka-rust's producer, asked for one partition at a time. It sends without acknowledgements, so there is nothing to wait for.
use std::cell::Cell;
use std::rc::Rc;

use kafka::client::{ProduceMessage, RequiredAcks};
use kafka::producer::{AsBytes, DefaultPartitioner, Partitioner, Producer, Record, Topics};
use serde_json::{Value, json};

use crate::broker::Leaders;

struct Watched(DefaultPartitioner, Rc<Cell<i32>>);

impl Partitioner for Watched {
    fn partition(&mut self, topics: Topics<'_>, message: &mut ProduceMessage<'_, '_>) {
        self.0.partition(topics, message);
        self.1.set(message.partition);
    }
}

pub fn answer(host: &str, leaders: &Leaders, line: &Value) -> Value {
    let (q, placed) = (&line["question"], Rc::new(Cell::new(-1)));
    let all = match q["partitions"].as_i64() {
        Some(count) if !(1..=10_000).contains(&count) => return json!({"unsupported": "a topic of 1 to 10,000 partitions"}),
        Some(count) => vec![json!({"leader": 0}); count as usize],
        None => q["cluster"]["partitions"].as_array().unwrap().clone(),
    };
    *leaders.lock().unwrap() = all.iter().map(|p| p["leader"].as_i64().map_or(-1, |_| 0)).collect();
    let (record, config) = (if q["record"].is_null() { q } else { &q["record"] }, &q["config"]);
    if all.is_empty() || record["partition"].as_i64().is_some_and(|id| id < 0 || id >= all.len() as i64) {
        return json!({"unsupported": "its client refuses a partition that is not there"});
    }
    let drawn = record["key"].is_null() && record["partition"].is_null() || config["ignore_keys"] == true;
    if drawn || config["partitioner"].is_object() {
        return json!({"unsupported": "what has no key goes round; keys are not ignored; its own partitioner answers"});
    }
    let hex = record["key"].as_str().unwrap_or_default();
    let key: Vec<u8> = (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
    let watched = Watched(DefaultPartitioner::default(), placed.clone());
    let builder = Producer::from_hosts(vec![host.into()]).with_required_acks(RequiredAcks::None);
    let mut producer = builder.with_partitioner(watched).create().unwrap();
    let partition = record["partition"].as_i64().unwrap_or(-1) as i32;
    let sent = producer.send(&Record { key: key.as_bytes(), value: "x", topic: "t", partition });
    match placed.get() {
        -1 => json!({"unsupported": format!("an empty key is no key, and no partition has a leader: {sent:?}")}),
        partition => json!({"answer": {"partition": partition}}),
    }
}
