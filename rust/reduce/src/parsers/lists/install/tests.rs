use super::*;
use crate::input::Exit;

fn reduced(command: &str, text: &str) -> (String, bool) {
    let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
    let input = Input {
        text,
        words: &words,
        exit: Exit::Unknown,
    };
    let mut output = Output::default().with_nested(crate::divide::part::NESTED);
    reduce(&input, &mut output);
    let failed = output.saw_failure();
    let text = output.finish(text.lines().count(), usize::MAX);
    let body = text.rsplit_once('\n').map_or("", |(body, _)| body);
    (body.to_owned(), failed)
}

#[test]
fn of_a_good_run_the_results_stay() {
    let text = "Collecting oak\n  Downloading oak-1.0-py3-none-any.whl (2 kB)\n\
            Requirement already satisfied: elm>=2 in /lib (2.1)\n\
            Requirement already satisfied: ash[all]~=3 in /lib (from oak) (3.0)\n\
            Installing collected packages: oak\nSuccessfully installed oak-1.0\n";
    let expected =
        "Requirement already satisfied: elm ash\nCollecting oak\nSuccessfully installed oak-1.0";
    assert_eq!(
        reduced("pip install oak", text),
        (expected.to_owned(), false)
    );
}

#[test]
fn of_a_failed_build_the_cause_stays() {
    let text = "Processing ./oak\n  Running command python setup.py\n  running build_ext\n\
            \x20 gcc -O3 -c oak.c -o oak.o\n  oak.c:2:10: fatal error: elm.h: No such file\n\
            \x20     2 | #include <elm.h>\n        |          ^~~~~\n\
            \x20 error: command '/usr/bin/gcc' failed with exit code 1\n\
            \x20 full command: python -c '\n  a\n  b\n  '\n  cwd: /oak\n\
            ERROR: Failed building wheel for oak\n";
    let (reduced, failed) = reduced("pip install ./oak", text);
    assert_eq!(
        reduced,
        "  oak.c:2:10: fatal error: elm.h: No such file\n  error: command '/usr/bin/gcc' failed with exit code 1\nERROR: Failed building wheel for oak"
    );
    assert!(failed);
}

#[test]
fn packages_that_were_asked_for_are_told_one_by_one() {
    let text = "Reading package lists...\nThe following packages will be REMOVED:\n  oak elm\n\
            0 upgraded, 0 newly installed, 3 to remove and 1 not upgraded.\n\
            Removing oak (1.0) ...\nRemoving elm:amd64 (2) ...\nRemoving ash (3) ...\n";
    assert_eq!(
        reduced("apt-get remove -y oak", text).0,
        "0 upgraded, 0 newly installed, 3 to remove and 1 not upgraded.\n\
         Removing oak\nRemoving elm ash"
    );
}

#[test]
fn a_run_that_did_nothing_shows_what_it_would_do() {
    let text = "The following NEW packages will be installed:\n  oak elm\n\
            Do you want to continue? [Y/n] Abort.\n";
    let (reduced, failed) = reduced("apt install oak", text);
    assert!(reduced.contains("  oak elm"), "{reduced}");
    assert!(reduced.contains("Abort."), "{reduced}");
    assert!(!failed);
}

#[test]
fn lines_of_scripts_stay_and_deprecations_share_a_row() {
    let text = "npm warn deprecated oak@1.0.0: use elm\nnpm warn deprecated ash@2: gone\n\
            > oak@1.0.0 postinstall\n> node build.js\n\nfatal: bark not found\n\
            npm error code 4\nnpm error\nnpm error A complete log of this run can be found in: x\n";
    assert_eq!(
        reduced("npm install", text),
        (
            "deprecated oak@1.0.0 ash@2\n> oak@1.0.0 postinstall\n> node build.js\n\
                 fatal: bark not found\nnpm error code 4"
                .to_owned(),
            true
        )
    );
}

#[test]
fn the_options_of_a_command_that_was_wrong_are_left_out() {
    let text = "npm error code EUSAGE\nnpm error\nnpm error Missing: elm@2 from lock file\nnpm error\n\
                npm error Usage:\nnpm error npm ci\nnpm error\nnpm error Options:\nnpm error   --omit\n\
                npm error     Types to omit from the tree.\nnpm error Run \"npm help ci\" for more info\n\
                npm error A complete log of this run can be found in: x\nfatal: no elm\n";
    let told = "npm error code EUSAGE\nnpm error Missing: elm@2 from lock file\nfatal: no elm";
    assert_eq!(reduced("npm ci", text), (told.to_owned(), true));
}

#[test]
fn other_texts_are_not_known() {
    let known = |text: &str| {
        recognises(&Input {
            text,
            words: &[],
            exit: Exit::Unknown,
        })
    };
    assert_eq!(known("3 passed in 2s\nall good\n"), Match::No);
    assert_eq!(known("Collecting oak\nnothing\n"), Match::Likely);
    let text = "Collecting oak\nCollecting elm\nCollecting ash\nSuccessfully installed oak\n";
    assert_eq!(known(text), Match::Certain);
}

#[test]
fn a_simulated_run_names_what_it_would_install() {
    let rows: String = (0..30).fold(String::new(), |rows, number| {
            rows + &format!("Inst liboak{number} (1.{number} Oak:12 [amd64])\nConf liboak{number} (1.{number} Oak:12 [amd64])\n")
        });
    let text = format!(
        "Reading package lists...\n1 upgraded, 31 newly installed, 0 to remove.\n{rows}Inst oak (2.1 Oak:12 [amd64])\n"
    );
    let (short, failed) = reduced("apt-get install -s oak", &text);
    assert!(!failed);
    assert!(short.contains("liboak0 liboak1 "), "{short}");
    assert!(short.contains("\nInst oak (2.1 Oak:12 [amd64])"), "{short}");
}

#[test]
fn what_was_installed_stands_in_one_row_with_its_versions() {
    let text = "Resolved 3 packages in 4.03s\nPrepared 2 packages in 1s\nInstalled 2 packages in 1.03s\n + oak==1.0\n + elm-core==2.1\n";
    assert_eq!(
        reduced("uv sync", text).0,
        "+ oak==1.0 elm-core==2.1\nResolved 3 packages in 4.03s\nInstalled 2 packages in 1.03s"
    );
    let text = "Installing dependencies from lock file\n\nPackage operations: 2 installs, 0 updates, 0 removals\n\n  - Installing oak (1.0)\n  - Installing elm (2.1)\n";
    let reduced = reduced("poetry install", text).0;
    assert!(reduced.contains("oak (1.0) elm (2.1)"), "{reduced}");
}

#[test]
fn why_files_were_passed_over_is_told_once() {
    let link = |why: &str, file: &str| {
        format!("  Link requires a different Python ({why}): https://example.org/{file}.tar.gz\n")
    };
    let text = [
        "Collecting oak==9\n".to_owned(),
        link("3.11.7 not in: '>=3.12'", "oak-8.0"),
        link("3.11.7 not in: '>=3.12'", "oak-8.1"),
        link("3.11.7 not in: '>=3.12'", "oak-8.2"),
        link("3.11.7 not in: '>=3.12'", "oak-9.0"),
        "  Ignoring elm: markers 'python_version < \"3.8\"' don't match your environment\n"
            .to_owned(),
        "  changing mode of /srv/bin/oak to 755\n".to_owned(),
        "ERROR: No matching distribution found for oak==9\n".to_owned(),
    ];
    let (text, failed) = reduced("pip install -v oak==9", &text.concat());
    assert!(failed);
    assert_eq!(
        text,
        "Collecting oak==9\n  Link requires a different Python (3.11.7 not in: '>=3.12') \u{d7}4\n\
         ERROR: No matching distribution found for oak==9"
    );
}

#[test]
fn the_archive_that_a_build_has_made_is_a_result() {
    let text = "Building source distribution...\nBuilding wheel from source distribution...\n\
                Successfully built oak\nSuccessfully built dist/oak-1.0.tar.gz and dist/oak-1.0-py3-none-any.whl\n";
    assert_eq!(
        reduced("uv build", text).0,
        "Successfully built dist/oak-1.0.tar.gz and dist/oak-1.0-py3-none-any.whl"
    );
}

#[test]
fn what_was_removed_after_it_was_installed_is_told_after_it() {
    let text = "Setting up oak (1.0) ...\n0 upgraded, 0 newly installed, 1 to remove and 3 not upgraded.\nRemoving oak (1.0) ...\n";
    let (text, _) = reduced("apt-get remove -y oak", text);
    assert!(text.ends_with("not upgraded.\nRemoving oak"), "{text}");
}

#[test]
fn a_check_of_packages_and_what_was_asked_of_one_stay_beside_a_failed_installation() {
    let mut text = String::from(
        "oak 3.1 has requirement leaf>=2, but you have leaf 1.0.\nelm 1.0 requires bark, which is not installed.\nName: leaf\nVersion: 1.0\nClassifiers:\n",
    );
    let rows: Vec<String> = (0..40)
        .map(|number| format!("  Tree :: {}\n", "x".repeat(number)))
        .collect();
    text.push_str(&rows.concat());
    text.push_str("ERROR: No matching distribution found for root-9\n");
    let (text, _) = reduced("pip index versions root-9", &text);
    for fact in [
        "oak 3.1 has requirement leaf>=2",
        "elm 1.0 requires bark",
        "Version: 1.0",
        "root-9",
    ] {
        assert!(text.contains(fact), "{fact}: {text}");
    }
    assert!(!text.contains(":: xxxxxx\n"), "{text}");
}

#[test]
fn steps_that_would_be_taken_are_told_whole_for_what_was_asked_and_by_name_for_the_rest() {
    let steps = |verb: &str| -> String {
        let step = |number: usize| match verb {
            "change" => format!("change {verb}-{number} 1.0.{number} => 2.0.0\n"),
            _ => format!("{verb} {verb}-{number} 1.0.{number}\n"),
        };
        (0..20).map(step).collect()
    };
    let text = format!(
        "{}{}change oak 5.3.3 => 5.9.0\n{}\nadded 20 packages, removed 20 packages, and changed 21 packages in 2s\n",
        steps("add"),
        steps("change"),
        steps("remove")
    );
    let (told, _) = reduced("npm install --dry-run oak@5.9", &text);
    assert!(told.starts_with("add add-0 add-1 "), "{told}");
    assert!(told.contains("\nremove remove-0 "), "{told}");
    assert!(
        told.contains("\nchange oak 5.3.3 => 5.9.0\nadded 20 packages"),
        "{told}"
    );
}

#[test]
fn much_before_an_installation_is_an_output_of_its_own() {
    let rows = "the oak lost a leaf\n".repeat(40);
    let text = format!(
        "{rows}the wind turned\n{rows}ERROR: Could not find a version that satisfies the requirement elm==9 (from \
         versions: 1.0)\nERROR: No matching distribution found for elm==9\n"
    );
    let (told, failed) = reduced("pip install elm==9", &text);
    assert!(failed);
    assert!(
        told.starts_with("the oak lost a leaf ×80\nthe wind turned\n"),
        "{told}"
    );
    assert!(
        told.ends_with("\nERROR: No matching distribution found for elm==9"),
        "{told}"
    );
}

#[test]
fn what_cargo_was_asked_to_add_and_what_it_locked_for_it_stay() {
    let locked: String = (10..40).fold(String::new(), |text, number| {
        text + &format!("      Adding leaf{number} v1.0.{number} (available: v2.0.0)\n")
    });
    let text = format!(
        "    Updating crates.io index\n      Adding oak v1.2 to dependencies\n             Features:\n             + bark\n     Locking 30 packages to latest compatible versions\n{locked}    Updating elm v0.1.0 -> v0.1.1\nwarning: not updating lockfile due to dry run\n"
    );
    let told = crate::pipeline::terminal::reduce(
        &text,
        Some("cargo add oak && cargo update --dry-run"),
        Exit::Success,
        usize::MAX,
    );
    let told = told.map(|(told, _)| told).unwrap_or_default();
    for fact in [
        "Adding oak v1.2 to dependencies",
        "+ bark",
        "Locking 30 packages",
        "leaf10 v1.0.10, leaf11 v1.0.11",
        "elm v0.1.0 -> v0.1.1",
        "warning: not updating lockfile due to dry run",
    ] {
        assert!(told.contains(fact), "{fact}: {told}");
    }
}

#[test]
fn what_is_in_a_packed_archive_stays() {
    let text = "npm notice\nnpm notice 📦  oak@1.0.0\nnpm notice Tarball Contents\nnpm notice 1.1kB LICENSE\nnpm notice 20B index.js\nnpm notice Tarball Details\nnpm notice name: oak\nnpm notice package size: 1.2 kB\nnpm notice total files: 2\nnpm notice\noak-1.0.0.tgz\n";
    assert_eq!(
        reduced("npm pack", text).0,
        "Tarball Contents: LICENSE index.js\nnpm notice 📦  oak@1.0.0\nnpm notice name: oak\nnpm notice package size: 1.2 kB\nnpm notice total files: 2\noak-1.0.0.tgz"
    );
}

#[test]
fn what_a_verbose_run_traces_is_left_out() {
    let text = "DEBUG Failed to reflink `/oak/a` to `/elm/a`: not supported, falling back\nDEBUG uv 0.9\nResolved 2 packages in 1ms\nInstalled 2 packages in 3ms\n + oak==1.0\n + elm==2.0\n";
    assert_eq!(
        reduced("uv sync -v", text).0,
        "+ oak==1.0 elm==2.0\nResolved 2 packages in 1ms\nInstalled 2 packages in 3ms"
    );
}

#[test]
fn frames_of_ruby_itself_are_no_places() {
    let text = "HTTP GET https://index.oak/versions\nSocketError: Failed to open TCP connection to index.oak:443\n\
         /usr/lib/ruby/3.1.0/net/http.rb:1018:in `initialize'\n  /usr/lib/ruby/3.1.0/net/http.rb:1018:in `open'\n\
         Bundler::HTTPError: Could not reach host index.oak.\n";
    let (told, failed) = reduced("bundle install --verbose", text);
    assert!(failed);
    assert_eq!(
        told,
        "HTTP GET https://index.oak/versions\nSocketError: Failed to open TCP connection to index.oak:443\n\
         Bundler::HTTPError: Could not reach host index.oak."
    );
}
