use super::super::FOLDS;
use super::*;

#[test]
fn folders_keep_their_order_and_their_path() {
    let mut output = Output::default();
    let mut folders = Folders::new(&FOLDS, 1_000, 30, &mut output);
    folders.add("./b", "one", "");
    folders.add("./a", "two", "");
    folders.add("./b", "three", "7");
    folders.write(0);
    assert_eq!(
        output.finish(3, 1_000),
        "./b: one three 7\n./a: two\n[0 of 3 lines left out]"
    );
}

#[test]
fn compiled_files_of_an_interpreter_are_counted_and_many_others_named_as_far_as_they_fit() {
    let names: Vec<String> = (b'a'..=b'z')
        .map(|letter| format!("{}_leaf.py", char::from(letter)))
        .collect();
    let compiled: Vec<String> = names.iter().map(|name| format!("{name}c")).collect();
    let mut output = Output::default();
    let mut folders = Folders::new(&FOLDS, 150, 1_000, &mut output);
    for (name, compiled) in names.iter().zip(&compiled) {
        folders.add("oak", name, "");
        folders.add("oak/__pycache__", compiled, "");
    }
    folders.write(0);
    assert_eq!(
        output.finish(52, 1_000),
        "oak: a_leaf.py b_leaf.py c_leaf.py d_leaf.py e_leaf.py f_leaf.py g_leaf.py … z_leaf.py (26)\n\
         oak/__pycache__: … (26)\n[44 of 52 lines left out]"
    );
}

#[test]
fn names_stand_behind_their_label_unless_most_have_it() {
    let labels: Vec<String> = (0..200).map(|number| format!("label{number}")).collect();
    let mut output = Output::default();
    let mut folders = Folders::new(&FOLDS, 10_000, 100, &mut output);
    folders.open(0, "src");
    for name in ["a", "b", "c"] {
        folders.add_labelled("usual", name, "");
    }
    for label in &labels {
        folders.add_labelled(label, "odd", "");
    }
    folders.write(0);
    let told = output.finish(300, 10_000);
    assert!(told.starts_with("src: a b c label0 odd "), "{told}");
    assert!(
        labels
            .iter()
            .skip(1)
            .all(|label| told.contains(&format!(" {label} odd"))),
        "{told}"
    );
}

#[test]
fn a_long_list_is_written_in_parts_that_tell_all_of_it() {
    let names: Vec<String> = (0..40_000).map(|number| format!("n{number}.c")).collect();
    let mut output = Output::default();
    let mut folders = Folders::new(&FOLDS, 1_000, 400_000, &mut output);
    for name in &names {
        if folders.is_full() {
            folders.write(0);
        }
        folders.add("src", name, "");
    }
    folders.write(0);
    let told = output.finish(40_000, 10_000);
    let counts = told.split(['(', ')']).skip(1).step_by(2);
    let all: usize = counts.filter_map(|count| count.parse::<usize>().ok()).sum();
    assert_eq!(all, 40_000, "{told}");
}

#[test]
fn names_are_not_hidden_where_little_would_go_and_the_target_not_be_reached() {
    let names: Vec<String> = (1..11)
        .flat_map(|number| {
            ["oak", "elm", "ash"].map(|tree| format!("{tree}_{}.py", "leaf".repeat(number)))
        })
        .collect();
    let others: Vec<String> = (0..90)
        .map(|number| format!("{:c<1$}.{2}", "", 40 + number, number))
        .collect();
    let mut output = Output::default();
    let mut folders = Folders::new(
        FOLDS.get(..8).unwrap_or_default(),
        1_000,
        10_000,
        &mut output,
    );
    for name in names.iter().chain(&others) {
        folders.add("trees", name, "");
    }
    folders.write(0);
    let told = output.finish(120, 20_000);
    assert!(names.iter().all(|name| told.contains(name)), "{told}");
}
