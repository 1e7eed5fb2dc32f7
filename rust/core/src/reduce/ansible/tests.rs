#![expect(clippy::unwrap_used, reason = "tests may panic")]

use super::super::input::Exit;
use super::super::terminal;
use crate::reduce::tested;

fn reduced(text: &str) -> String {
    tested::reduced(
        &super::FAMILY,
        text,
        "ansible-playbook site.yml",
        Exit::LastFailure,
    )
}

const RUN: &str = "
PLAY [Plant the oak] ***********************************

TASK [Make folders] ************************************
changed: [elm1] => (item=leaf)
ok: [elm2] => (item=leaf)
ok: [elm2] => (item=bark)
changed: [elm1] => (item=bark)

TASK [Read the rings] **********************************
fatal: [elm1]: FAILED! => {\"changed\": true, \"cmd\": \"rings\", \"delta\": \"0:00:01\", \"msg\": \"non-zero return code\", \"rc\": 4, \"stderr\": \"no \\\"rings\\\", none\", \"stderr_lines\": [\"no rings\"], \"stdout\": \"\"}
...ignoring
fatal: [elm2]: FAILED! => {\"changed\": true, \"cmd\": \"rings\", \"delta\": \"0:00:02\", \"msg\": \"non-zero return code\", \"rc\": 4, \"stderr\": \"no \\\"rings\\\", none\", \"stderr_lines\": [\"no rings\"], \"stdout\": \"\"}

TASK [Tell] ********************************************
skipping: [elm2]
ok: [elm1] => {
    \"msg\": [
        \"line one\"
    ]
}

PLAY RECAP *********************************************
elm1                       : ok=2    changed=1    unreachable=0    failed=0    skipped=0    rescued=0    ignored=1
elm2                       : ok=1    changed=0    unreachable=0    failed=1    skipped=1    rescued=0    ignored=0
";

#[test]
fn each_task_tells_its_hosts_and_why_it_failed() {
    let told = reduced(RUN);
    assert_eq!(
        told,
        "PLAY [Plant the oak]\n\
         TASK [Make folders]\n\
         ok: [elm2]\n\
         changed: [elm1] (item=leaf) (item=bark)\n\
         TASK [Read the rings]\n\
         fatal: [elm1]: FAILED! => {\"cmd\": \"rings\", \"msg\": \"non-zero return code\", \"rc\": 4, \"stderr\": \"no \\\"rings\\\", none\"}\n\
         ...ignoring\n\
         fatal: [elm2]: FAILED! => as [elm1]\n\
         TASK [Tell]\n\
         ok: [elm1] => {\"msg\": [ \"line one\" ]}\n\
         skipping: [elm2]\n\
         PLAY RECAP\n\
         elm1 : ok=2 changed=1 unreachable=0 failed=0 skipped=0 rescued=0 ignored=1\n\
         elm2 : ok=1 changed=0 unreachable=0 failed=1 skipped=1 rescued=0 ignored=0\n\
         [5 of 25 lines left out]"
    );
}

#[test]
fn a_difference_that_all_hosts_have_is_told_once() {
    let host = |number: usize| {
        format!(
            "--- before\n+++ after: /tmp/leaf{number}\n@@ -0,0 +1 @@\n same\n+rings: 7\n\nchanged: [elm{number}]\n"
        )
    };
    let text = format!(
        "PLAY [Plant] ******\n\nTASK [Write] ******\n{}\nTASK [End] ******\nok: [elm1]\n",
        (0..20).map(host).collect::<String>()
    );
    let (told, family) =
        terminal::reduce(&text, Some("make deploy"), Exit::Success, usize::MAX).unwrap();
    assert_eq!(family, Some("ansible"));
    assert!(
        told.contains("TASK [Write]\n[elm0]:\n+rings: 7\nchanged: [elm0] [elm1]"),
        "{told}"
    );
    assert_eq!(told.matches("rings").count(), 1);
}

#[test]
fn a_run_that_failed_is_no_good_one() {
    let text = RUN.replace("failed=1", "failed=0");
    assert!(reduced(&text).contains("fatal: [elm2]: FAILED!"));
    let text = "PLAY [Plant] ******\n\nTASK [Write] ******\nok: [elm1]\n[WARNING]: leaf is old\nERROR! no such bark\n";
    let told = reduced(text);
    assert!(
        told.contains("[WARNING]: leaf is old\nERROR! no such bark"),
        "{told}"
    );
}

#[test]
fn a_failure_that_is_told_in_lines_keeps_them() {
    let text = "PLAY [Plant] ******\n\nTASK [Write] ******\nfatal: [elm1]: FAILED! => changed=false \n  cmd: rings\n  msg: no such bark\n\nPLAY RECAP ******\nelm1 : ok=0 changed=0 unreachable=0 failed=1\n";
    assert!(
        reduced(text).contains(
            "fatal: [elm1]: FAILED! => changed=false\n  cmd: rings\n  msg: no such bark\n"
        ),
        "{}",
        reduced(text)
    );
}
