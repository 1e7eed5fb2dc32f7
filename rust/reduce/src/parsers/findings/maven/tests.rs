use std::fmt::Write as _;

use crate::tested::unmarked::reduce_kind as reduce;
use crate::{Kind, Request, family};

fn reduced(text: &str, exit_code: i64) -> String {
    let request = Request {
        command: Some("mvn -B verify"),
        ranged: false,
        ok: exit_code == 0,
        exit_code: Some(exit_code),
        budget_chars: usize::MAX,
        policy: None,
    };
    reduce(Kind::Terminal, &request, text).unwrap_or_else(|| text.to_owned())
}

/// A build of one module up to its tests.
fn head() -> String {
    let mut text = String::from(
        "[INFO] Scanning for projects...\n[INFO] \n\
         [INFO] -------------------------< org.birds:nest >--------------------------\n\
         [INFO] Building nest 2.1.0-SNAPSHOT\n[INFO]   from pom.xml\n\
         [INFO] --------------------------------[ jar ]---------------------------------\n\
         [WARNING] Parameter 'forkMode' is unknown for plugin 'surefire:3.2.2:test'\n\
         [INFO] --- compiler:3.11.0:compile (default-compile) @ nest ---\n\
         [INFO] Changes detected - recompiling the module! :source\n\
         [INFO] Compiling 42 source files with javac [debug target 17] to target/classes\n",
    );
    for number in 0..20 {
        let _ = write!(
            text,
            "[INFO] Running org.birds.Egg{number}Test\n[INFO] Tests run: 4, Failures: 0, Errors: 0, \
             Skipped: 0, Time elapsed: 0.0{number} s -- in org.birds.Egg{number}Test\n"
        );
    }
    text
}

const HELP: &str = "[ERROR] Failed to execute goal \
    org.apache.maven.plugins:maven-surefire-plugin:3.2.2:test (default-test) on project nest: There \
    are test failures.\n[ERROR] \n[ERROR] Please refer to /w/target/surefire-reports for the \
    individual test results.\n[ERROR] -> [Help 1]\n[ERROR] \n[ERROR] To see the full stack trace of \
    the errors, re-run Maven with the -e switch.\n[ERROR] Re-run Maven using the -X switch to enable \
    full debug logging.\n[ERROR] [Help 1] http://cwiki.apache.org/confluence/display/MAVEN/Mojo\n";

#[test]
fn failed_tests_keep_their_names_messages_and_places_and_passed_ones_go() {
    let text = head()
        + "[ERROR] Tests run: 7, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.041 s <<< \
           FAILURE! -- in org.birds.WingTest\n\
           [ERROR] org.birds.WingTest.beats -- Time elapsed: 0.005 s <<< FAILURE!\n\
           org.opentest4j.AssertionFailedError: expected: <12> but was: <11>\n\
           \tat org.junit.jupiter.api.AssertEquals.failNotEqual(AssertEquals.java:197)\n\
           \tat org.birds.WingTest.beats(WingTest.java:58)\n\
           \tat java.base/java.lang.reflect.Method.invoke(Method.java:568)\n\n\
           [INFO] Results:\n[INFO] \n[ERROR] Failures: \n\
           [ERROR]   WingTest.beats:58 expected: <12> but was: <11>\n[INFO] \n\
           [ERROR] Tests run: 87, Failures: 1, Errors: 0, Skipped: 0\n\
           [INFO] BUILD FAILURE\n[INFO] Total time:  6.1 s\n"
        + HELP;
    let short = reduced(&text, 1);
    for fact in [
        "org.birds.WingTest.beats",
        "expected: <12> but was: <11>",
        "WingTest.java:58",
        "WingTest.beats:58",
        "Tests run: 87, Failures: 1, Errors: 0, Skipped: 0",
        "BUILD FAILURE",
        "on project nest: There are test failures.",
        "Parameter 'forkMode' is unknown",
    ] {
        assert!(short.contains(fact), "{fact} is not in {short}");
    }
    for noise in [
        "Egg3Test",
        "AssertEquals",
        "Compiling",
        "-X switch",
        "Help 1",
    ] {
        assert!(!short.contains(noise), "{noise} is in {short}");
    }
}

#[test]
fn an_error_that_is_named_again_is_told_once_with_its_details() {
    let error = "/w/src/main/java/org/birds/Egg.java:[5,67] cannot find symbol\n";
    let details = "  symbol:   variable yolk\n  location: class org.birds.Egg\n";
    let text = head()
        + "[ERROR] COMPILATION ERROR : \n[ERROR] "
        + error
        + details
        + "[INFO] 1 error\n[INFO] BUILD FAILURE\n\
           [ERROR] Failed to execute goal compile on project nest: Compilation failure\n[ERROR] "
        + error
        + "[ERROR]   symbol:   variable yolk\n[ERROR]   location: class org.birds.Egg\n"
        + HELP;
    let short = reduced(&text, 1);
    assert_eq!(short.matches("Egg.java:[5,67]").count(), 1, "{short}");
    assert_eq!(short.matches("variable yolk").count(), 1, "{short}");
    assert!(short.contains("[INFO] 1 error"), "{short}");
}

#[test]
fn what_is_said_of_one_error_is_bounded() {
    let mut text =
        head() + "[ERROR] /w/src/main/java/org/birds/Egg.java:[5,67] incompatible types\n";
    for number in 0..500 {
        let _ = writeln!(text, "    a bound of yolk {number}");
    }
    let short = reduced(&(text + "[INFO] BUILD FAILURE\n"), 1);
    assert!(short.contains("a bound of yolk 7\n"), "{short}");
    assert!(short.matches("yolk").count() < 60, "{short}");
}

#[test]
fn modules_that_failed_or_were_left_out_are_named() {
    let text = head()
        + "[INFO] Reactor Summary for birds 2.1.0:\n\
           [INFO] nest ............................. SUCCESS [  2.104 s]\n\
           [INFO] wing ............................. FAILURE [  0.310 s]\n\
           [INFO] tail ............................. SKIPPED\n[INFO] BUILD FAILURE\n"
        + HELP;
    let short = reduced(&text, 1);
    assert!(
        short.contains("wing .") && short.contains("tail ."),
        "{short}"
    );
}

#[test]
fn a_verdict_that_is_not_there_is_not_told() {
    let short = reduced(&head(), 1);
    assert!(
        !short.contains("BUILD") && !short.contains("SUCCESS"),
        "{short}"
    );
}

#[test]
fn a_tree_that_was_asked_for_stays() {
    let mut text = head() + "[INFO] --- dependency:3.6.0:tree (default-cli) @ nest ---\n";
    for number in 0..30 {
        let _ = writeln!(
            text,
            "[INFO] +- org.twigs:twig-{number}:jar:1.{number}:compile"
        );
    }
    text += "[INFO] BUILD SUCCESS\n";
    let short = reduced(&text, 0);
    assert!(
        short.contains("org.twigs:twig-17:jar:1.17:compile"),
        "{short}"
    );
    assert!(short.contains("BUILD SUCCESS"), "{short}");
}

#[test]
fn a_build_is_known_under_any_command() {
    let text = head() + "[INFO] BUILD SUCCESS\n";
    assert_eq!(family(&text, Some("./ci.sh")), "maven");
}
