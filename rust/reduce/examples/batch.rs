use ethos_registry_reduce::{Kind, Level, Policy, Request, reduce_named};
use std::io::{Read, Write};
fn main() {
    let mut a = std::env::args().skip(1);
    let set = a.next().unwrap();
    let out = a.next().unwrap();
    let targets: Vec<usize> = a.map(|t| t.parse().unwrap()).collect();
    let mut text = String::new();
    std::fs::File::open(set).unwrap().read_to_string(&mut text).unwrap();
    let all: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut made = Vec::new();
    for o in all.as_array().unwrap() {
        let text = o["text"].as_str().unwrap();
        for t in &targets {
            let exit = o["exit"].as_i64();
            let r = Request { policy: Some(Policy { target_chars: *t, level: Level::Facts }), ..Request::of_output(o["command"].as_str(), exit) };
            let start = std::time::Instant::now();
            let found = reduce_named(Kind::Terminal, &r, text);
            let ms = start.elapsed().as_secs_f64() * 1000.0;
            let (s, n) = found.map_or((text.to_owned(), None), |(s, n)| (s, n));
            made.push(serde_json::json!([o["file"], t, s, n, ms]));
        }
    }
    std::fs::File::create(out).unwrap().write_all(serde_json::to_string(&made).unwrap().as_bytes()).unwrap();
}
