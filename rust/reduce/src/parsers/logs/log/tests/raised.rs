//! Tracebacks and stacks among records.

use super::*;

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
