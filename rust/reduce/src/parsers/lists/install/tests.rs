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
fn what_was_removed_after_it_was_installed_is_told_after_it() {
    let text = "Setting up oak (1.0) ...\n0 upgraded, 0 newly installed, 1 to remove and 3 not upgraded.\nRemoving oak (1.0) ...\n";
    let (text, _) = reduced("apt-get remove -y oak", text);
    assert!(text.ends_with("not upgraded.\nRemoving oak"), "{text}");
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
