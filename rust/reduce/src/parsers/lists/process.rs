//! Tables of a system: processes, packages, disks, containers.

pub(crate) mod packages;
mod ps;
mod table;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line;
use crate::output::Output;
use ethos_registry_core::command::searches;

pub(crate) const FAMILY: Family = Family {
    name: "process",
    runs,
    marks: Marks::OneOf(&[
        &["COMMAND"],
        &["CMD"],
        &["\nDesired=Unknown/Install/"],
        &["\nii  "],
    ]),
    recognises,
    reduce,
};

/// Longer values of variables are cut in the middle.
const VALUE_CHARS: usize = 160;

fn runs(input: &Input<'_>) -> bool {
    matches!(
        input.program(),
        "ps" | "df"
            | "free"
            | "env"
            | "printenv"
            | "systemctl"
            | "docker"
            | "podman"
            | "kubectl"
            | "dpkg"
            | "dpkg-query"
            | "lsblk"
    ) || lists_packages(input)
        || input.has("outdated")
        || searches(input.program()) && packages::is_found(input)
}

fn lists_packages(input: &Input<'_>) -> bool {
    matches!(
        input.program(),
        "pip" | "pip3" | "uv" | "apt" | "conda" | "mamba" | "micromamba" | "gem"
    ) && (input.has("list") || input.has("freeze"))
}

/// What kind of table an input is.
enum Kind<'a> {
    Processes(ps::Columns),
    Packages(packages::Form),
    Rows(table::Table<'a>),
    Variables,
}

fn kind<'a>(input: &Input<'a>) -> Option<Kind<'a>> {
    if lists_packages(input) && input.beginning().any(|line| line.starts_with("[{")) {
        return None;
    }
    let mut beginning = input.beginning().skip_while(|line| line.trim().is_empty());
    if let Some(columns) = beginning.by_ref().take(12).find_map(ps::columns) {
        return Some(Kind::Processes(columns));
    }
    if let Some(form) = packages::form(input) {
        return Some(Kind::Packages(form));
    }
    if !runs(input) {
        return None;
    }
    if matches!(input.program(), "env" | "printenv") {
        return Some(Kind::Variables);
    }
    table::read(input).map(Kind::Rows)
}

fn recognises(input: &Input<'_>) -> Match {
    match kind(input) {
        Some(Kind::Processes(_)) => Match::Certain,
        Some(Kind::Packages(form)) if form.is_certain() => Match::Certain,
        Some(_) => Match::Likely,
        None => Match::No,
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    match kind(input) {
        Some(Kind::Processes(columns)) => ps::reduce(input, columns, output),
        Some(Kind::Packages(form)) => packages::reduce(input, form, output),
        Some(Kind::Rows(table)) => {
            table.reduce(output);
            if input.has("outdated") {
                // Such a command fails when the table has rows.
                output.failed();
            }
        }
        Some(Kind::Variables) => {
            for variable in input.lines() {
                output.fact(&line::shorten(variable, VALUE_CHARS));
            }
        }
        None => return,
    }
    output.stays_unless_shorter(input.text);
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::input::Exit;
    use crate::tested;

    fn reduced(text: &str, command: &str) -> String {
        tested::reduced(&FAMILY, text, command, Exit::Success)
    }

    #[test]
    fn processes_of_one_command_are_one_row() {
        let mut text = String::from("  PID TTY      STAT   TIME COMMAND\n");
        for number in 10..30 {
            let _ = writeln!(text, "{number:5} ?        S      0:00 worker --queue mail");
        }
        text.push_str("   99 ?        Ss     0:12 /usr/sbin/served -f\n");
        assert_eq!(
            reduced(&text, "./run.sh"),
            "10 worker --queue mail ×20\n99 /usr/sbin/served -f\n[1 of 22 lines left out]"
        );
    }

    #[test]
    fn the_first_processes_of_a_list_in_order_of_their_use_keep_what_they_use() {
        let mut text = String::from("USER  PID %CPU %MEM   RSS COMMAND\n");
        for number in (10..60).rev() {
            let _ = writeln!(
                text,
                "oak   {number}  0.0  0.{number}  {number}00 leaf --of tree-{number}"
            );
        }
        let told = reduced(&text, "ps aux --sort=-rss");
        assert!(
            told.starts_with(
                "USER PID %CPU %MEM RSS COMMAND\noak 59 0.0 0.59 5900 leaf --of tree-59\n"
            ),
            "{told}"
        );
        assert!(told.contains("\n49 leaf --of tree-49\n"), "{told}");
    }

    #[test]
    fn what_other_commands_say_behind_a_list_of_packages_stays() {
        let mut text: String = (0..30).fold(String::new(), |text, number| {
            text + &format!("ii  liboak{number}:amd64  1.{number}  amd64  leaves of an oak\n")
        });
        for number in 0..30 {
            let _ = writeln!(text, "/usr/share/elm/{}", "x".repeat(number));
        }
        text.push_str("elm: /usr/bin/elm\n");
        let short = reduced(&text, "dpkg -l");
        assert!(short.contains("elm: /usr/bin/elm"), "{short}");
    }

    #[test]
    fn packages_that_were_named_have_versions_and_those_that_are_missing_are_told() {
        let mut text = String::from(
            "Desired=Unknown/Install/Remove/Purge/Hold\n||/ Name Version Architecture Description\n",
        );
        for number in 0..30 {
            let _ = writeln!(
                text,
                "ii  oak{number}  2.{number}-1  amd64  leaves of an oak"
            );
        }
        text.push_str("un  elm  <none>  <none>  (no description available)\n");
        text.push_str("ii  oak-dpkg-query: no packages found matching ash*\n");
        let short = reduced(&text, "dpkg -l 'oak*' elm 'ash*'");
        for fact in [
            "oak7 2.7-1",
            "un elm",
            "dpkg-query: no packages found matching ash*",
        ] {
            assert!(short.contains(fact), "{fact}: {short}");
        }
    }

    #[test]
    fn a_second_look_at_processes_counts_none_of_them_twice() {
        let look = |share: usize| {
            let rows: String = (10..40).rev().fold(String::new(), |text, number| {
                text + &format!("{number:5} oak  {share}.0  0.1 leaf{number}\n")
            });
            format!("top - 10:11:1{share} up 1 day\n  PID USER %CPU %MEM COMMAND\n{rows}\n")
        };
        let told = reduced(&(look(0) + &look(7)), "top -b -n 2");
        assert!(!told.contains('×'), "{told}");
        assert!(told.contains("\n39 oak 7.0 0.1 leaf39\n"), "{told}");
        assert_eq!(told.matches("leaf12").count(), 1, "{told}");
    }

    #[test]
    fn packages_as_json_are_no_table() {
        let words = ["pip", "list", "--format", "json"].map(str::to_owned);
        let input = Input {
            text: "[{\"name\": \"oak\", \"version\": \"1\"}]\nPackage Version Latest\n------- ------- ------\nelm 1 2\n",
            words: &words,
            exit: Exit::Success,
        };
        assert_eq!(recognises(&input), Match::No);
    }

    #[test]
    fn a_busy_process_has_its_share() {
        let text =
            "USER  PID %CPU %MEM COMMAND\nme      7 97.5  0.1 spin\nme      8  0.0  0.1 rest\n";
        assert_eq!(
            reduced(text, "ps aux"),
            "7 spin (%CPU 97.5)\n8 rest\n[1 of 3 lines left out]"
        );
    }

    #[test]
    fn installed_packages_are_their_names_and_odd_ones_whole() {
        let mut text = String::from(
            "Desired=Unknown/Install/Remove/Purge/Hold\n||/ Name  Version  Architecture Description\n\
             +++-=====-=====-====\n",
        );
        for name in ["alpha", "beta:amd64", "gamma"] {
            let _ = writeln!(text, "ii  {name}   1.0-2    all   tells {name}");
        }
        text.push_str("rc  delta   0.9    all   was here\n");
        assert_eq!(
            reduced(&text, "dpkg -l"),
            "rc delta 0.9 all was here\nalpha beta gamma\n[3 of 7 lines left out]"
        );
    }

    #[test]
    fn python_packages_keep_their_versions() {
        let text = "Package    Version\n---------- -------\nalpha      1.0\nbeta-tool  2.3.1\n";
        assert_eq!(
            reduced(text, "pip list"),
            "alpha==1.0 beta-tool==2.3.1\n[2 of 4 lines left out]"
        );
    }

    #[test]
    fn rows_in_the_same_state_are_told_by_their_names() {
        let mut text = String::from("NAME         READY   STATUS             RESTARTS   AGE\n");
        for number in 0..30 {
            let _ = writeln!(
                text,
                "web-{number:<8} 1/1     Running            0          3d"
            );
        }
        text.push_str("mail-0       0/1     CrashLoopBackOff   17         3d\n");
        let short = reduced(&text, "kubectl get pods");
        assert!(
            short.contains("mail-0 0/1 CrashLoopBackOff 17 3d\n"),
            "{short}"
        );
        let again = "mail-7       1/1     Running            4 (9h ago) 3d\n";
        let again = reduced(&(text.clone() + again), "kubectl get pods");
        assert!(
            again.contains("mail-7 1/1 Running 4 (9h ago) 3d\n"),
            "{again}"
        );
        assert!(
            short.contains("1/1 Running: web-0 … web-29 (30)\n"),
            "{short}"
        );
        assert!(short.len() * 5 < text.len(), "{short}");
    }

    #[test]
    fn unhealthy_containers_stay_apart_from_those_that_are_up() {
        let row = |number: usize| {
            let state = if number == 7 {
                "Up 3 hours (unhealthy)"
            } else {
                "Up 2 hours (healthy)  "
            };
            format!("a1b2c3d4e5{number:02}   oak:1   {state}   leaf-{number}\n")
        };
        let rows: Vec<_> = (0..25).map(row).collect();
        let text = format!(
            "CONTAINER ID   IMAGE   STATUS                   NAMES\n{}",
            rows.concat()
        );
        let short = reduced(&text, "docker ps");
        assert!(short.contains("Up 3 hours (unhealthy) leaf-7"), "{short}");
        assert!(
            short.contains("Up (healthy): leaf-0 … leaf-24 (24)"),
            "{short}"
        );
    }

    #[test]
    fn what_happened_is_told_by_its_message_and_objects() {
        let row = |number: usize| {
            let (kind, reason, told) = if number == 9 {
                ("Warning", "BackOff", "restarting failed leaf")
            } else {
                ("Normal ", "Pulled ", "image is there")
            };
            format!("5m          {kind}   {reason}   pod/oak-{number:02}   {told}\n")
        };
        let rows: Vec<_> = (0..25).map(row).collect();
        let text = format!(
            "LAST SEEN   TYPE      REASON    OBJECT       MESSAGE\n{}",
            rows.concat()
        );
        let short = reduced(&text, "kubectl get events");
        assert!(
            short.contains("5m Warning BackOff pod/oak-09 restarting failed leaf"),
            "{short}"
        );
        assert!(
            short.contains("Normal Pulled image is there: pod/oak-00 … pod/oak-24 (24)"),
            "{short}"
        );
    }

    #[test]
    fn rows_of_one_kind_and_no_state_stay() {
        let rows: Vec<_> = (10..40)
            .map(|number| format!("oak-{number}   ClusterIP   10.0.0.{number}   80{number}/TCP\n"))
            .collect();
        let text = format!(
            "NAME     TYPE        CLUSTER-IP   PORT(S)\n{}",
            rows.concat()
        );
        let short = reduced(&text, "kubectl get svc");
        assert!(
            short.contains("oak-17 ClusterIP 10.0.0.17 8017/TCP"),
            "{short}"
        );
    }

    #[test]
    fn all_rows_of_what_is_outdated_stay_and_are_what_failed() {
        let mut text = String::from("Package   Current  Wanted  Latest  Location\n");
        for number in 0..15 {
            let _ = writeln!(
                text,
                "oak-{number:<6}    1.0.0   1.2.0   2.0.0  node_modules/oak-{number}"
            );
        }
        let short = crate::pipeline::terminal::reduce(
            &text,
            Some("npm outdated"),
            Exit::Failure,
            usize::MAX,
        );
        let short = short.unwrap_or_default().0;
        assert!(
            (0..15).all(|number| short.contains(&format!("oak-{number} 1.0.0 1.2.0 2.0.0"))),
            "{short}"
        );
    }

    #[test]
    fn what_a_daemon_says_is_no_table() {
        let words = ["docker".to_owned(), "ps".to_owned()];
        let input = Input {
            text: "Cannot connect to the daemon at x. Is it running?\n",
            words: &words,
            exit: Exit::Failure,
        };
        assert_eq!(recognises(&input), Match::No);
    }

    #[test]
    fn who_searches_the_list_of_packages_sees_their_versions() {
        let rows: String = (0..30).fold(String::new(), |rows, number| {
            rows + &format!(
                "ii  liboak{number}:amd64      1.{number}-2      amd64      library of oaks\n"
            )
        });
        let short = reduced(&rows, "grep oak");
        assert!(short.starts_with("liboak0 1.0-2 liboak1 1.1-2 "), "{short}");
    }
}
