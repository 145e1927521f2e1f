//! A broker on the loopback interface that answers metadata requests: one topic, `t`, with the given leaders.
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The leader of each partition; -1 is none.
pub type Leaders = Arc<Mutex<Vec<i32>>>;

pub fn start(leaders: Leaders) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let leaders = leaders.clone();
            thread::spawn(move || serve(stream, port, &leaders));
        }
    });
    format!("127.0.0.1:{port}")
}

fn serve(mut stream: TcpStream, port: u16, leaders: &Leaders) {
    let mut size = [0; 4];
    while stream.read_exact(&mut size).is_ok() {
        let mut request = vec![0; u32::from_be_bytes(size) as usize];
        if stream.read_exact(&mut request).is_err() {
            return;
        }
        if request[..2] == [0, 3] {
            let mut response = request[4..8].to_vec(); // the correlation id
            response.extend(metadata(port, &leaders.lock().unwrap()));
            let length = (response.len() as u32).to_be_bytes();
            if stream.write_all(&[&length[..], &response].concat()).is_err() {
                return;
            }
        } // a produce request without acknowledgements has no response
    }
}

/// Metadata, version 0.
fn metadata(port: u16, leaders: &[i32]) -> Vec<u8> {
    let mut out = [1i32, 0].map(i32::to_be_bytes).concat();
    out.extend([0, 9]);
    out.extend(b"127.0.0.1");
    out.extend([port as i32, 1].map(i32::to_be_bytes).concat());
    out.extend([0, 0, 0, 1, b't']);
    out.extend((leaders.len() as i32).to_be_bytes());
    for (id, leader) in leaders.iter().enumerate() {
        out.extend([0, 0]);
        out.extend([id as i32, *leader, 0, 0].map(i32::to_be_bytes).concat());
    }
    out
}
