use ethos_registry_core::reduce::{Kind, Request, family, reduce};
use std::hint::black_box;
use std::io::{BufRead, stdin};
use std::time::Instant;

fn main() {
    let grow: usize = std::env::args()
        .nth(1)
        .and_then(|a| a.parse().ok())
        .unwrap_or(0);
    for line in stdin().lock().lines() {
        let line = line.unwrap();
        let mut parts = line.split('\t');
        let path = parts.next().unwrap();
        let exit: Option<i64> = parts.next().unwrap().parse().ok();
        let command = parts.next().unwrap_or("");
        let mut text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        if grow > 0 {
            let n = grow / text.len() + 1;
            text = text.repeat(n);
        }
        let lines = text.lines().count();
        let request = Request {
            command: Some(command),
            ranged: false,
            ok: exit == Some(0),
            exit_code: exit,
            budget_chars: usize::MAX,
        };
        let mut best = f64::MAX;
        let begin = Instant::now();
        let mut runs = 0;
        let mut out = 0;
        let once = std::env::var_os("ONCE").is_some();
        while runs < 1 || !once && (runs < 3 || (begin.elapsed().as_millis() < 60 && runs < 2000)) {
            let at = Instant::now();
            let r = reduce(Kind::Terminal, &request, black_box(&text));
            best = best.min(at.elapsed().as_secs_f64());
            out = r.map_or(text.len(), |r| r.len());
            runs += 1;
        }
        let ns = best * 1e9 / lines as f64;
        let mbs = text.len() as f64 / best / 1e6;
        let per60 = best * 1e9 / text.len() as f64 * 60.0;
        println!(
            "{:8.0} ns/line {:8.0} ns/60B {:7.0} MB/s lines {:7} bytes {:9} out {:7} {:14} {}",
            ns,
            per60,
            mbs,
            lines,
            text.len(),
            out,
            family(&text, Some(command)),
            path.rsplit('/').next().unwrap()
        );
    }
}
