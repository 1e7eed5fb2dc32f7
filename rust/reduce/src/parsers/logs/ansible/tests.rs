#![expect(clippy::unwrap_used, reason = "tests may panic")]

use crate::input::Exit;
use crate::tested;
use crate::tested::unmarked as terminal;

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

#[test]
fn what_follows_a_result_that_was_cut_stands() {
    let hosts = |number: usize| format!("changed: [elm{number}]\n");
    let hosts: String = (0..40).map(hosts).collect();
    let text = format!(
        "PLAY [Plant] ******\n\nTASK [Show] ******\nok: [elm1] => {{\n    \"msg\": \"hi\",\n\nTASK [Write] ******\n{hosts}fatal: [elm7]: FAILED! => {{\"msg\": \"no leaf\"}}\n\nPLAY RECAP ******\nelm7 : ok=0 failed=1\n"
    );
    let told = reduced(&text);
    for fact in [
        "ok: [elm1] => {\"msg\": \"hi\"}\nTASK [Write]\n",
        "fatal: [elm7]: FAILED! => {\"msg\": \"no leaf\"}\n",
        "elm7 : ok=0 failed=1\n",
    ] {
        assert!(told.contains(fact), "{fact}: {told}");
    }
}

#[test]
fn values_that_a_task_shows_and_what_its_module_says_of_a_failure_are_told() {
    let text = "PLAY [Plant] ******\n\nTASK [Show] ******\nok: [elm1] => {\n    \"rings\": \"42\"\n}\nok: [elm2] => {\"changed\": false, \"rings\": 7}\n\nTASK [Add] ******\nfatal: [elm1]: FAILED! => {\"changed\": false, \"failures\": [\"No package oak\"], \"msg\": \"Failed to install\", \"rc\": 1, \"results\": []}\n\nPLAY RECAP ******\nelm1 : ok=0 failed=1\n";
    let told = reduced(text);
    for fact in [
        "ok: [elm1] => {\"rings\": \"42\"}\n",
        "ok: [elm2]\n",
        "=> {\"msg\": \"Failed to install\", \"rc\": 1, \"failures\": [\"No package oak\"]}\n",
    ] {
        assert!(told.contains(fact), "{fact}: {told}");
    }
}

#[test]
fn what_stands_behind_a_difference_is_none_of_it() {
    let text = "PLAY [Plant] ******\n\nTASK [Write] ******\n--- before\n+++ after\n+rings: 7\n\nERROR! no such bark\nchanged: [elm1]\nok: [elm2]\nok: [elm3]\n\nPLAY RECAP ******\nelm1 : ok=1 failed=0\n";
    let told = reduced(text);
    assert!(
        told.contains("ERROR! no such bark\n[elm1]:\n+rings: 7\n"),
        "{told}"
    );
}

#[test]
fn of_many_hosts_it_is_told_how_many() {
    let host = |number: usize| format!("ok: [elm{number}.forest.example]\n");
    let hosts: String = (0..90).map(host).collect();
    let text = format!("PLAY [Plant] ******\n\nTASK [Write] ******\n{hosts}");
    let told = reduced(&text);
    assert!(told.contains("\nok: [elm0.forest.example] [elm1.forest.example] "));
    assert!(told.contains("] … (90 lines)\n"), "{told}");
}

#[test]
fn a_value_in_lines_below_stands_with_its_host() {
    let host = |number: usize| format!("ok: [elm{number}] => \n  msg: 'Rings: {number}'\n");
    let hosts: String = (0..20).map(host).collect();
    let text = format!("PLAY [Plant] ******\n\nTASK [Show] ******\n{hosts}");
    let told = reduced(&text);
    for number in [0, 7, 19] {
        let fact = format!("ok: [elm{number}]\n  msg: 'Rings: {number}'\n");
        assert!(told.contains(&fact), "{told}");
    }
}
