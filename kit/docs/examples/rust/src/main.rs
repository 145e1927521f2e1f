//! A driver for kafka-conformance: the hash of a key, and its partition.
use serde_json::{json, Value};
use std::io::{stdin, stdout, Write};

fn murmur2(key: &[u8]) -> i32 {
    const M: u32 = 0x5bd1e995;
    let mut h = 0x9747b28c ^ key.len() as u32;
    let chunks = key.chunks_exact(4);
    let tail = chunks.remainder();
    for chunk in chunks {
        let k = u32::from_le_bytes(chunk.try_into().unwrap()).wrapping_mul(M);
        h = h.wrapping_mul(M) ^ (k ^ k >> 24).wrapping_mul(M);
    }
    if !tail.is_empty() {
        let rest = tail.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
        h = (h ^ rest).wrapping_mul(M);
    }
    h = (h ^ h >> 13).wrapping_mul(M);
    (h ^ h >> 15) as i32
}

fn bytes(hex: &str) -> Vec<u8> {
    let byte = |i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(byte).collect()
}

fn answer(rule: &Value, question: &Value) -> Value {
    let Some(key) = question["key"].as_str() else {
        return json!({"raises": "NullPointerException"});
    };
    let hash = murmur2(&bytes(key));
    if rule == "murmur2" {
        return json!({"hash": hash});
    }
    match question["partitions"].as_i64().unwrap() as i32 {
        0 => json!({"raises": "ArithmeticException"}),
        partitions => json!({"partition": (hash & i32::MAX) % partitions}),
    }
}

fn main() {
    let rules = ["murmur2", "partition-for-key"];
    for line in stdin().lines() {
        let asked: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let reply = if asked["hello"].is_object() {
            json!({"hello": {"protocol": 1, "name": "example", "version": "1", "language": "rust", "rules": rules}})
        } else {
            json!({"id": asked["id"], "answer": answer(&asked["rule"], &asked["question"])})
        };
        println!("{reply}");
        stdout().flush().unwrap();
    }
}
