use super::super::{List, list};
use super::*;
use crate::input::Exit;

fn reduced(text: &str) -> String {
    let input = Input {
        text,
        words: &[],
        exit: Exit::Unknown,
    };
    assert_eq!(list(&input), Some(List::Dependencies));
    let mut output = Output::default();
    reduce(&input, &mut output);
    output.finish(text.lines().count(), usize::MAX)
}

#[test]
fn packages_that_were_asked_for_stay_and_deeper_ones_as_there_is_room() {
    let deep = "│ │ ├── a-long-name-of-a-branch@1.0.0\n".repeat(400);
    let text = format!(
        "shop@1.0.0 /srv/shop\n├─┬ oak@2.6.8\n│ ├─┬ elm@1.0.0\n{deep}│ ├── ash@3.0.0 deduped\n\
         │ ├── UNMET OPTIONAL DEPENDENCY fir@^2\n│ └── UNMET DEPENDENCY yew@^4\n└── elder@1.2.3\n"
    );
    assert_eq!(
        reduced(&text),
        "shop@1.0.0 /srv/shop\noak@2.6.8: elm@1.0.0 UNMET DEPENDENCY yew@^4\nelder@1.2.3\n\
         UNMET OPTIONAL DEPENDENCY fir@^2\n[401 of 407 lines left out]"
    );
}

#[test]
fn of_versions_that_others_ask_for_instead_the_first_stays_once() {
    let stored = " -> ./node_modules/.store/elm@1.0.0_oak@2.0.0/node_modules/elm";
    let wrong = format!(
        "invalid: \"^5\" from node_modules/.store/oak@2.0.0/node_modules/oak, \"^6\" from node_modules/.store/ash@3.0.0\
         /node_modules/ash, \"^7\" from node_modules/yew{stored}"
    );
    let text = format!(
        "shop@1.0.0 /srv/shop\n├─┬ oak@2.0.0 extraneous{stored}\n│ └── elm@1.0.0 {wrong}\n├─┬ ash@3.0.0\n\
         │ └── elm@1.0.0 deduped {wrong}\n└─┬ yew@4.0.0{stored}\n  └── elm@1.0.0 deduped {wrong}\n"
    );
    assert_eq!(
        reduced(&text),
        "shop@1.0.0 /srv/shop\noak@2.0.0 extraneous: elm@1.0.0 invalid: \"^5\" from \
         node_modules/.store/oak@2.0.0/node_modules/oak … 2 more\nash@3.0.0\nyew@4.0.0\n[2 of 7 lines left out]"
    );
}

#[test]
fn what_packages_need_that_are_needed_stands_in_brackets_behind_them() {
    let text = "oak v0.1.0 (/srv/oak)\n├── leaf v0.2.0\n│   ├── bud v1.0.0\n│   │   └── cell v2.1.0\n│   │       └── \
                atom v9.0.0\n│   │   [build-dependencies]\n│   │   └── saw v1.0.0\n│   └── twig v3.0.0\n├── root v0.4.0\n│   └── sand v1.0.0\n└── bark v0.4.1\n";
    assert_eq!(
        reduced(text),
        "oak v0.1.0 (/srv/oak)\nleaf v0.2.0: bud v1.0.0 (cell v2.1.0 (atom v9.0.0) [build-dependencies] saw v1.0.0) twig v3.0.0\n\
         root v0.4.0: sand v1.0.0\nbark v0.4.1\n[0 of 11 lines left out]"
    );
}

#[test]
fn what_is_wrong_stays_at_any_depth() {
    let deep = "│   ├── a-long-name-of-a-branch v1.0.0\n".repeat(40);
    let text = format!("shop v1.0.0\n├── oak v2.6.8\n{deep}│   ├── elm v1.0.0 invalid: \"2\"\n");
    assert_eq!(
        reduced(&text),
        "shop v1.0.0\noak v2.6.8: elm v1.0.0 invalid: \"2\"\n[40 of 43 lines left out]"
    );
}

#[test]
fn a_tree_of_files_is_none_of_packages() {
    let text = "├── a.c\n├── b.c\n├── c.c\n├── d@2.c\n├── e v2.c\n├── f.c\n";
    let input = Input {
        text,
        words: &[],
        exit: Exit::Unknown,
    };
    assert_ne!(list(&input), Some(List::Dependencies));
}

#[test]
fn heads_of_packages_that_are_needed_to_build_stand_in_the_row_of_what_needs_them() {
    let text = "oak v0.1.0 (/srv/oak)\n├── leaf v0.2.0\n│   ├── bud v1.0.0\n│   │   [build-dependencies]\n│   └── \
                twig v2.1.0\n│   [build-dependencies]\n│   └── saw v3.0.0\n├── root v0.4.0\n└── bark v0.4.1\n\
                [dev-dependencies]\n└── wind v5.0.0\n";
    assert_eq!(
        reduced(text),
        "oak v0.1.0 (/srv/oak)\nleaf v0.2.0: bud v1.0.0 [build-dependencies] twig v2.1.0 [build-dependencies] saw \
         v3.0.0\nroot v0.4.0\nbark v0.4.1\n[dev-dependencies]\nwind v5.0.0\n[0 of 11 lines left out]"
    );
}
