//! Tracebacks and stacks among records.

use super::*;

#[test]
fn bad_records_and_their_tracebacks_stay_whole() {
    let text = service(&[(
        900,
        "2026-11-21 20:15:00 ERROR elm cannot grow: no water\nTraceback (most recent call last):\n  \
             File \"/usr/lib/python3.11/site-packages/lib.py\", line 3, in call\n    run()\n  \
             File \"/app/elm.py\", line 7, in grow\n    tank[\"water\"]\nKeyError: 'water'\n",
    )]);
    let reduced = reduced(&text);
    for fact in [
        "starting version=1.2",
        "ERROR elm cannot grow: no water",
        "File \"/app/elm.py\", line 7, in grow",
        "KeyError: 'water'",
        "leaf 0 fell in 0 ms ×2000",
        "leaf 1999 fell",
    ] {
        assert!(reduced.contains(fact), "{fact}: {reduced}");
    }
    assert!(!reduced.contains("site-packages"), "{reduced}");
    assert!(reduced.len() < 2_000, "{reduced}");
}

#[test]
fn a_log_may_begin_among_the_frames_of_a_traceback() {
    let frames = "    await self.app(scope)\n  File \"/v/lib/python3.11/site-packages/web/app.py\", line 80, in call\n".repeat(9);
    let text = format!(
        "{frames}    await self.app(scope)\n  File \"/srv/oak.py\", line 37, in fell\n    leaf.id\nAttributeError: no id\n{}",
        service(&[])
    );
    let reduced = reduced(&text);
    assert!(
        reduced.contains(
            "  File \"/srv/oak.py\", line 37, in fell\n    leaf.id\nAttributeError: no id\n"
        ),
        "{reduced}"
    );
    assert!(!reduced.contains("site-packages"), "{reduced}");
}

#[test]
fn what_nobody_caught_between_records_stays_with_its_own_frames() {
    let text = service(&[(
        800,
        "RangeError: the oak has no leaf\n    at leaf (file:///srv/oak.js:6:15)\n    at emit (node:events:524:28)\n",
    )]);
    let reduced = reduced(&text);
    assert!(
        reduced
            .contains("RangeError: the oak has no leaf\n    at leaf (file:///srv/oak.js:6:15)\n"),
        "{reduced}"
    );
    assert!(!reduced.contains("node:events"), "{reduced}");
}

#[test]
fn a_log_with_many_tracebacks_is_a_log() {
    let frames =
        "  File \"/usr/lib/python3.11/site-packages/lib.py\", line 3, in call\n    run()\n"
            .repeat(20);
    let text = format!(
        "{}INFO:     10.0.0.1:5000 - \"GET /oak HTTP/1.1\" 404 Not Found\nERROR:    Exception in application\n\
         Traceback (most recent call last):\n{frames}  File \"/app/elm.py\", line 7, in grow\n    tank[1]\nKeyError: 1\n\
         INFO:     Shutting down\n",
        "INFO:     10.0.0.1:5000 - \"GET /elm HTTP/1.1\" 200 OK\n".repeat(9)
    );
    assert_eq!(crate::family(&text, Some("serve oak")), "log");
    let reduced = reduced(&text);
    for fact in [
        "404 Not Found",
        "File \"/app/elm.py\", line 7, in grow",
        "KeyError: 1",
        "Shutting down",
    ] {
        assert!(reduced.contains(fact), "{fact}: {reduced}");
    }
}

#[test]
fn carets_below_left_out_frames_go_with_them() {
    let calm: String = (0..40)
        .map(|at| {
            format!(
                "2026-11-22 12:02:{:02} INFO [oak] leaf {at} fell\n",
                at % 60
            )
        })
        .collect::<Vec<_>>()
        .concat();
    let text = format!(
        "{calm}2026-11-22 12:02:29 ERROR [app] no leaf\nTraceback (most recent call last):\n  File \
         \"/usr/lib/python3.12/site-packages/web/app.py\", line 1, in run\n    return call()\n           ^^^^^^\n  \
         File \"/srv/app/oak.py\", line 7, in fall\n    raise LookupError(3)\n    ^^^^^^^^^^^^^^^\nLookupError: 3\n{calm}"
    );
    let short = reduced(&text);
    assert!(
        short.contains("oak.py\", line 7") && short.contains("LookupError: 3"),
        "{short}"
    );
    assert!(!short.contains("^^^"), "{short}");
}

#[test]
fn a_traceback_goes_on_between_lines_of_other_services() {
    let mut text = String::new();
    for number in 0..60 {
        writeln!(
            text,
            "web-1     | INFO:     10.0.0.7:4{number:04} - \"GET /oak/{number} HTTP/1.1\" 200 OK"
        )
        .unwrap();
        let line = match number {
            30 => "ERROR:    oak 7 did not grow",
            31 => "Traceback (most recent call last):",
            32 => "  File \"/usr/lib/python3.11/site-packages/lib.py\", line 3, in call",
            33 => "    run()",
            34 => "  File \"/app/oak.py\", line 7, in grow",
            35 => "    tank[\"water\"]",
            36 => "    ~~~~^^^^^^^^^",
            37 => "KeyError: 'water'",
            _ => "INFO:     leaf fell",
        };
        writeln!(text, "worker-1  | {line}").unwrap();
    }
    text.push_str("worker-1 exited with code 1\nweb-1     | INFO:     up\n");
    let reduced = reduced(&text);
    for fact in [
        "worker-1  | ERROR:    oak 7 did not grow",
        "worker-1  |   File \"/app/oak.py\", line 7, in grow",
        "worker-1  | KeyError: 'water'",
        "worker-1 exited with code 1",
        "web-1     | INFO:     10.0.0.7:40000 - \"GET /oak/0 HTTP/1.1\" 200 OK",
    ] {
        assert!(reduced.contains(fact), "{fact}: {reduced}");
    }
    for noise in ["site-packages", "run()", "~~~~"] {
        assert!(!reduced.contains(noise), "{noise}: {reduced}");
    }
}

#[test]
fn what_main_of_a_rust_program_returned_is_told_with_its_causes_and_own_frames() {
    let mut text = String::new();
    for number in 0..60 {
        writeln!(
            text,
            "[2026-11-21T20:00:{number:02}Z INFO  wood] leaf {number} grows"
        )
        .unwrap();
    }
    text.push_str("Error: no tree\n\nCaused by:\n    0: cannot water oak 7\n    1: No such well (os error 2)\n\nStack backtrace:\n");
    text.push_str("   0: <E as wet::Context>::wet\n             at /home/me/.cargo/registry/src/wet-1.0.1/src/lib.rs:10:14\n");
    text.push_str("   1: wood::water\n             at ./src/wood.rs:15:5\n");
    for number in 2..9 {
        write!(text, "   {number}: core::ops::function::FnOnce::call_once\n             at /rustc/59807616e1/library/core/src/ops/function.rs:250:5\n").unwrap();
    }
    text.push_str("   9: main\n  10: __libc_start_call_main\n             at ./csu/../nptl/start.c:58:16\n  11: _start\n");
    let reduced = reduced(&text);
    for fact in [
        "Error: no tree",
        "0: cannot water oak 7",
        "1: No such well (os error 2)",
        "1: wood::water",
        "at ./src/wood.rs:15:5",
    ] {
        assert!(reduced.contains(fact), "{fact}: {reduced}");
    }
    for noise in ["/rustc/", "_start", "registry"] {
        assert!(!reduced.contains(noise), "{noise}: {reduced}");
    }
}
