//! The samples of all families, and the properties that hold for every output.

use std::fs;
use std::path::{Path, PathBuf};

use ethos_registry_core::command::CommandLine;

use super::difference::difference;
use super::sample::Sample;
use super::unmarked::rows;
use crate::divide::part::NESTED;
use crate::divide::several;
use crate::family::{Family, Match};
use crate::input::Input;
use crate::output::Output;
use crate::pipeline::{route, terminal};

/// The reduction of an output.
#[derive(Clone, PartialEq)]
struct Made {
    /// `None` when it does not change.
    text: Option<String>,
    /// The family that reduced it.
    family: Option<&'static str>,
    /// What is wrong with how the family read it.
    wrong: Vec<String>,
}

/// The family with that name.
fn family_of(name: &str) -> Option<&'static Family> {
    route::FAMILIES
        .into_iter()
        .find(|family| family.name == name)
}

fn by_pipeline(sample: &Sample, text: &str) -> Made {
    let command = sample.command.as_deref();
    let reduced = terminal::reduce(text, command, sample.exit, sample.budget_chars);
    let (text, family) = match reduced {
        Some((text, family)) => (Some(text), family),
        None => (None, None),
    };
    Made {
        text,
        family,
        wrong: Vec::new(),
    }
}

fn by_family(sample: &Sample, family: &Family) -> Made {
    let line = sample.command.as_deref().and_then(CommandLine::read);
    let line = line.map(CommandLine::opened).unwrap_or_default();
    let words = several::words(&line);
    let input = Input {
        text: &sample.output,
        words: &words,
        exit: sample.exit,
    };
    let mut wrong = Vec::new();
    let recognised = (family.recognises)(&input);
    let is_as_sure = match sample.recognised {
        Some(wanted) => recognised == wanted,
        None => recognised != Match::No,
    };
    if !is_as_sure {
        wrong.push(format!("it is recognised with {recognised:?}"));
    }
    let mut output = Output::default().with_nested(NESTED);
    family.write(&input, &mut output);
    if sample
        .failure
        .is_some_and(|wanted| wanted != output.saw_failure())
    {
        wrong.push(format!("a failure is seen: {}", output.saw_failure()));
    }
    let stays = output.is_to_stay();
    let source_lines = sample.output.lines().count();
    let text = (!stays).then(|| output.finish(source_lines, sample.budget_chars));
    Made {
        text,
        family: Some(family.name),
        wrong,
    }
}

/// How the reduction differs from what `sample` requires.
fn wrong(sample: &Sample, folder: &str) -> Vec<String> {
    let of_folder = folder.replace('_', " ");
    let name = sample.family.as_deref().unwrap_or(&of_folder);
    let reduce = || match family_of(name) {
        Some(family) if sample.is_part => by_family(sample, family),
        _ => by_pipeline(sample, &sample.output),
    };
    let made = reduce();
    let mut wrong = made.wrong.clone();
    if reduce() != made {
        wrong.push("a second run gives another text".to_owned());
    }
    if made.family != Some(name) && !sample.unchanged {
        wrong.push(format!("the family is {:?}", made.family));
    }
    if sample.unchanged != made.text.is_none() {
        wrong.push(format!("it stays as it is: {}", made.text.is_none()));
    }
    let text = made.text.as_deref().unwrap_or(&sample.output);
    if let Some(expected) = &sample.reduced
        && expected != text
    {
        wrong.push(format!(
            "the text is another:\n{}",
            difference(expected, text)
        ));
    }
    let rows = rows(text);
    let untrue: Vec<String> = sample
        .facts
        .iter()
        .filter(|fact| !fact.is_true(text, &rows))
        .map(ToString::to_string)
        .collect();
    if !untrue.is_empty() {
        wrong.push(format!("{}; the text:\n{text}", untrue.join("; ")));
    }
    wrong.extend(unguarded(sample));
    wrong
}

/// The general properties that do not hold for `sample`.
fn unguarded(sample: &Sample) -> Vec<String> {
    let mut wrong = Vec::new();
    if let Some(reduced) = by_pipeline(sample, &sample.output).text {
        if reduced.chars().count() >= sample.output.chars().count() {
            wrong.push("the text is as long as the output".to_owned());
        }
        let again = by_pipeline(sample, &reduced).text;
        if let Some(again) = again.filter(|again| *again != reduced) {
            wrong.push(format!(
                "reducing twice gives another text:\n{}",
                difference(&reduced, &again)
            ));
        }
    }
    wrong
}

/// The files in folders named `samples` below `folder`, sorted by name.
fn files(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let entries: std::io::Result<Vec<_>> = fs::read_dir(folder)?.collect();
    let mut paths: Vec<PathBuf> = entries?.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, found)?;
        } else if folder.ends_with("samples") {
            found.push(path);
        }
    }
    Ok(())
}

#[test]
fn each_sample_has_its_facts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    assert!(files(&root, &mut paths).is_ok(), "{}", root.display());
    let only = std::env::var("SAMPLE").unwrap_or_default();
    let mut read = 0;
    let mut report = Vec::new();
    for path in paths {
        let shown = path.strip_prefix(&root).unwrap_or(&path).display();
        let shown = shown.to_string();
        if !shown.contains(&only) {
            continue;
        }
        read += 1;
        let folder = path.parent().and_then(Path::parent);
        let folder = folder
            .and_then(Path::file_stem)
            .and_then(|name| name.to_str());
        let bytes = fs::read(&path).ok();
        let wrong = match bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
            None => vec!["is not text in UTF-8".to_owned()],
            Some(text) => match Sample::read(&text) {
                Ok(sample) => wrong(&sample, folder.unwrap_or_default()),
                Err(why) => vec![why],
            },
        };
        for why in wrong {
            report.push(format!("== {shown}: {why}"));
        }
    }
    assert!(read > 0, "no sample has {only:?} in its path");
    assert!(report.is_empty(), "\n{}\n", report.join("\n"));
}
