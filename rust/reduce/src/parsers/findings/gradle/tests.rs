#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::fmt::Write as _;

use crate::{Kind, Request, family, reduce};

fn reduced(text: &str, exit_code: i64) -> String {
    let request = Request {
        command: Some("./gradlew build"),
        ranged: false,
        ok: exit_code == 0,
        exit_code: Some(exit_code),
        budget_chars: usize::MAX,
        policy: None,
    };
    reduce(Kind::Terminal, &request, text).unwrap()
}

fn tasks() -> String {
    let mut text =
        String::from("Starting a Gradle Daemon, 1 incompatible Daemon could not be reused\n");
    for number in 0..30 {
        let _ = writeln!(
            text,
            "> Task :part{number}:compileJava UP-TO-DATE\n> Task :part{number}:classes"
        );
    }
    text
}

const END: &str = "\n* Try:\n> Run with --stacktrace option to get the stack trace.\n\
    > Run with --scan to get full insights.\n> Get more help at https://help.gradle.org.\n\n\
    BUILD FAILED in 4s\n7 actionable tasks: 2 executed, 5 up-to-date\n";

#[test]
fn what_went_wrong_stays_and_tasks_that_ran_go() {
    let text = tasks()
        + "> Task :wing:compileJava FAILED\n\
           /w/wing/src/main/java/org/birds/Wing.java:12: error: cannot find symbol\n\
           \u{20}   return feather.lenght();\n                  ^\n\
           \u{20} symbol:   method lenght()\n  location: variable feather of type Feather\n1 error\n\n\
           FAILURE: Build failed with an exception.\n\n* What went wrong:\n\
           Execution failed for task ':wing:compileJava'.\n\
           > Compilation failed; see the compiler output below.\n"
        + END;
    let short = reduced(&text, 1);
    for fact in [
        "> Task :wing:compileJava FAILED",
        "/w/wing/src/main/java/org/birds/Wing.java:12: error: cannot find symbol",
        "symbol:   method lenght()",
        "location: variable feather of type Feather",
        "1 error",
        "Execution failed for task ':wing:compileJava'.",
        "BUILD FAILED in 4s",
    ] {
        assert!(short.contains(fact), "{fact} is not in {short}");
    }
    for noise in [
        "part7",
        "return feather",
        "--stacktrace",
        "Daemon",
        "help.gradle",
    ] {
        assert!(!short.contains(noise), "{noise} is in {short}");
    }
}

#[test]
fn failed_tests_keep_their_names_exceptions_and_places() {
    let text = tasks()
        + "\norg.birds.WingTest > glides PASSED\n\norg.birds.WingTest > beats() FAILED\n\
           \u{20}   org.opentest4j.AssertionFailedError: expected: <12> but was: <11>\n\
           \u{20}       at org.junit.jupiter.api.AssertEquals.failNotEqual(AssertEquals.java:197)\n\
           \u{20}       at org.birds.WingTest.beats(WingTest.java:58)\n\n\
           29 tests completed, 1 failed\n\n> Task :test FAILED\n\n\
           FAILURE: Build failed with an exception.\n\n* What went wrong:\n\
           Execution failed for task ':test'.\n\
           > There were failing tests. See the report at: file:///w/build/reports/index.html\n"
        + END;
    let short = reduced(&text, 1);
    for fact in [
        "org.birds.WingTest > beats() FAILED",
        "expected: <12> but was: <11>",
        "WingTest.java:58",
        "29 tests completed, 1 failed",
        "> Task :test FAILED",
    ] {
        assert!(short.contains(fact), "{fact} is not in {short}");
    }
    assert!(!short.contains("glides"), "{short}");
}

#[test]
fn an_exception_that_was_asked_for_stays_without_the_frames_of_others() {
    let text = tasks()
        + "> Task :wing:generate FAILED\n\nFAILURE: Build failed with an exception.\n\n\
           * What went wrong:\nExecution failed for task ':wing:generate'.\n> no feather is left\n\n\
           * Exception is:\norg.gradle.api.tasks.TaskExecutionException: Execution failed for task ':wing:generate'.\n\
           \tat org.gradle.api.internal.tasks.execution.ExecuteActionsTaskExecuter.accept(ExecuteActionsTaskExecuter.java:149)\n\
           Caused by: java.lang.IllegalStateException: no feather is left\n\
           \tat org.birds.Generator.pluck(Generator.java:31)\n\
           \tat java.base/java.lang.Thread.run(Thread.java:833)\n"
        + END;
    let short = reduced(&text, 1);
    for fact in [
        "TaskExecutionException: Execution failed for task ':wing:generate'.",
        "Caused by: java.lang.IllegalStateException: no feather is left",
        "Generator.java:31",
    ] {
        assert!(short.contains(fact), "{fact} is not in {short}");
    }
    assert!(!short.contains("Thread.java"), "{short}");
}

#[test]
fn messages_of_kotlin_show_no_source_and_hide_nothing_below_them() {
    let text = tasks()
        + "e: file:///w/wing/src/Wing.kt:5:3 Unresolved reference: lenght\n\
           e: file:///w/wing/src/Wing.kt:9:1 Expecting a top level declaration\n\
           wing: the cache is locked\n> Task :wing:compileKotlin FAILED\n"
        + END;
    let short = reduced(&text, 1);
    for fact in [
        "Wing.kt:5:3 Unresolved reference: lenght",
        "Wing.kt:9:1 Expecting a top level declaration",
        "wing: the cache is locked",
    ] {
        assert!(short.contains(fact), "{fact} is not in {short}");
    }
}

#[test]
fn a_verdict_that_is_not_there_is_not_told() {
    let short = reduced(&(tasks() + "could not connect to the daemon\n"), 1);
    assert!(!short.contains("BUILD"), "{short}");
}

#[test]
fn a_build_is_known_under_any_command() {
    let text = tasks() + "\nBUILD SUCCESSFUL in 3s\n60 actionable tasks: 60 up-to-date\n";
    assert_eq!(family(&text, Some("./ci.sh")), "gradle");
}

#[test]
fn what_ant_prints_is_not_taken_for_it() {
    let text = "Buildfile: /w/build.xml\n\ntest:\n    [junit] Running WingTest\n\nBUILD FAILED\n\
                /w/build.xml:3: Test WingTest failed\n\nTotal time: 1 second\n";
    assert_ne!(family(text, Some("ant test")), "gradle");
}
