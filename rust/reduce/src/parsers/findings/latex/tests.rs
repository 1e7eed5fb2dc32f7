use std::fmt::Write as _;

use super::*;
use crate::input::Exit;
use crate::tested;

const HEAD: &str = "This is pdfTeX, Version 3.141592653-2.6-1.40.24 (TeX Live 2022) (preloaded format=pdflatex)\n\
        \u{20}restricted \\write18 enabled.\nentering extended mode\n(./oak.tex\nLaTeX2e <2022-11-01> patch level 1\n\
        (/usr/share/texlive/texmf-dist/tex/latex/base/article.cls\nDocument Class: article 2022/07/02 v1.4n\n\
        (/usr/share/texlive/texmf-dist/tex/latex/base/size10.clo))\nNo file oak.aux.\n";

fn reduced(text: &str, exit: Exit) -> String {
    tested::reduced(&FAMILY, &format!("{HEAD}{text}"), "pdflatex oak.tex", exit)
}

#[test]
fn errors_stay_with_the_line_of_the_source_and_without_the_help() {
    let text = "! Undefined control sequence.\nl.4 \\undefinedmacro\n                   {x}\n\
                    ! Missing { inserted.\n<to be read again> \n                   $\nl.5 $ a_b^ $\n            and\n\n\
                    ! LaTeX Error: \\begin{oak} on input line 7 ended by \\end{elm}.\n\n\
                    See the LaTeX manual or LaTeX Companion for explanation.\nType  H <return>  for immediate help.\n \
                    ...                                              \n\nl.7 \\begin{oak} \\end{elm}\n     \n";
    assert_eq!(
        reduced(text, Exit::Failure),
        "! Undefined control sequence.\nl.4 \\undefinedmacro\n! Missing { inserted.\nl.5 $ a_b^ $\n\
             ! LaTeX Error: \\begin{oak} on input line 7 ended by \\end{elm}.\nl.7 \\begin{oak} \\end{elm}\n\
             [20 of 26 lines left out]"
    );
}

#[test]
fn warnings_stay_with_all_their_lines() {
    let text = "LaTeX Warning: Citation `oak' on page 1 undefined on input line 3.\n\n\
                    Package hyperref Warning: Token not allowed in a PDF string (Unicode):\n\
                    (hyperref)                removing `math shift' on input line 9.\n\n\
                    LaTeX Warning: Reference `a reference with a name that is longer than a line is' \n\
                    on page 2 undefined on input line 12.\n\n)\n";
    let reduced = reduced(text, Exit::Success);
    for kept in [
        "Citation `oak' on page 1 undefined on input line 3.",
        "(hyperref)                removing `math shift' on input line 9.",
        "\non page 2 undefined on input line 12.\n",
    ] {
        assert!(reduced.contains(kept), "{reduced}");
    }
    assert!(!reduced.contains("article.cls"), "{reduced}");
}

#[test]
fn of_many_warnings_that_differ_in_their_places_one_stays_and_all_others_stay() {
    let mut text = String::new();
    for line in 1..=5 {
        let _ = writeln!(
            text,
            "Package oak Warning: No leaf here:\n(oak)       look on input line {line}.\n\n\
                 LaTeX Warning: Reference `fig:{line}' on page 1 undefined on input line {line}.\n"
        );
    }
    let reduced = reduced(&text, Exit::Success);
    assert!(
        reduced.starts_with(
            "Package oak Warning: No leaf here:\n(oak)       look on input line 1. ×5\n\
                 LaTeX Warning: Reference `fig:1' on page 1 undefined on input line 1.\n\
                 LaTeX Warning: Reference `fig:2' on page 1 undefined on input line 2.\n"
        ),
        "{reduced}"
    );
}

#[test]
fn of_an_argument_without_an_end_its_beginning_stays() {
    let text = "Runaway argument?\n{oak and \\end {document} \n! File ended while scanning use of \\textbf .\n\
                    <inserted text> \n                \\par \n<*> oak.tex\n";
    let reduced = reduced(text, Exit::Failure);
    assert!(
            reduced.starts_with(
                "Runaway argument?\n{oak and \\end {document}\n! File ended while scanning use of \\textbf .\n["
            ),
            "{reduced}"
        );
}

#[test]
fn of_many_boxes_the_first_and_the_last_stay() {
    let mut boxes = String::new();
    for line in 1..40 {
        let _ = writeln!(
            boxes,
            "Overfull \\hbox ({line}.5pt too wide) in paragraph at lines {line}--{line}\n\
                 []\\OT1/cmr/m/n/10 oak words\n"
        );
    }
    let end = "Output written on oak.pdf (9 pages, 49213 bytes).\nTranscript written on oak.log.\n";
    let reduced = reduced(&(boxes + end), Exit::Success);
    assert_eq!(
        reduced,
        "Overfull \\hbox (1.5pt too wide) in paragraph at lines 1--1 ×39\n\
        Overfull \\hbox (39.5pt too wide) in paragraph at lines 39--39\n\
        Output written on oak.pdf (9 pages, 49213 bytes).\n[87 of 128 lines left out]"
    );
}

#[test]
fn errors_with_files_and_lines_are_errors() {
    let text = "./oak.tex:12: LaTeX Error: File `elm.sty' not found.\n\nl.12 \\usepackage\n               {elm}\n\
                    !  ==> Fatal error occurred, no output PDF file produced!\n";
    let reduced = reduced(text, Exit::Failure);
    assert!(
        reduced.starts_with(
            "./oak.tex:12: LaTeX Error: File `elm.sty' not found.\nl.12 \\usepackage\n!  ==> Fatal"
        ),
        "{reduced}"
    );
}

#[test]
fn lines_of_no_known_kind_stay() {
    let reduced = reduced("oak.sty says that elm is old\n", Exit::Success);
    assert!(
        reduced.contains("oak.sty says that elm is old"),
        "{reduced}"
    );
}
