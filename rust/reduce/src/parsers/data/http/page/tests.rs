use super::*;

fn told(html: &str) -> Vec<String> {
    let mut output = Output::default();
    write(html, &mut output);
    let text = output.finish(html.lines().count(), usize::MAX);
    let rows = text
        .lines()
        .filter(|line| !line.ends_with("lines left out]"));
    rows.map(str::to_owned).collect()
}

#[test]
fn scripts_styles_and_comments_are_no_text() {
    let html = "<html><head><style>p { color: red }</style><SCRIPT>if (a < b) { say(\"</p>\") }</SCRIPT></head>\
        <body><!-- a note --><svg><text>x</text></svg><p>Berth 7 is <b>closed</b>.</p></body></html>";
    assert_eq!(told(html), ["Berth 7 is closed."]);
}

#[test]
fn headings_stand_as_they_are_when_they_stand_on_one_line() {
    let html = "<title>Tides</title><h1 id=\"a\">High <i>water</i></h1><h2>\n  Low\n  water\n</h2><h3></h3><p>12:40</p>";
    assert_eq!(
        told(html),
        [
            "<title>Tides</title>",
            "<h1 id=\"a\">High <i>water</i></h1>",
            "Low water",
            "12:40"
        ]
    );
}

#[test]
fn rows_of_a_table_are_lines_and_many_of_one_form_are_folded() {
    let row = |number: usize| {
        let state = if number == 57 { "closed" } else { "open" };
        format!("<tr><td>Berth {number:02}</td>\n<td>{state}</td></tr>\n")
    };
    let rows: String = (0..80).map(row).collect();
    assert_eq!(
        told(&format!("<table>{rows}</table>")),
        [
            "Berth 00 | open (77 like this)",
            "Berth 01 | open",
            "Berth 02 | open",
            "Berth 57 | closed"
        ]
    );
}

#[test]
fn links_forms_and_fields_can_be_used() {
    let html = "<a href=\"/berths?day=2\">Berths</a> <a href='#top'>up</a><form action='/login' method='post'>\
        <input name='user'><input type=hidden name=csrf value=\"a>b\"><button>Sign in</button></form>";
    assert_eq!(
        told(html),
        [
            "[Berths](/berths?day=2) up",
            "<form action='/login' method='post'>",
            "<input name='user'>",
            "<input type=hidden name=csrf value=\"a>b\">",
            "Sign in"
        ]
    );
}

#[test]
fn text_with_lines_of_its_own_keeps_them() {
    let html =
        "<pre>TypeError: it&#39;s no oak<br> &nbsp;at leaf (/srv/tree.js:4:2)\n  at root</pre>";
    assert_eq!(
        told(html),
        [
            "TypeError: it's no oak",
            "  at leaf (/srv/tree.js:4:2)",
            "  at root"
        ]
    );
}

#[test]
fn the_traceback_that_a_server_shows_is_told_and_not_the_source_around_it() {
    let source = "<li>File \"/lib/site-packages/web/app.py\", line 7<pre>raise Error(error)\nexcept Error as error:</pre></li>";
    let traceback = "Environment:\n\nTraceback (most recent call last):\n  File &quot;/lib/site-packages/web/app.py&quot;, line 7, in serve\n    \
         return view(request)\n  File &quot;/srv/shop/views.py&quot;, line 12, in basket\n    return basket[&#x27;oak&#x27;]\nKeyError: &#x27;oak&#x27;\n";
    let html = format!(
        "<html><h1>KeyError at /basket</h1>{}<textarea id=\"t\">{traceback}</textarea></html>",
        source.repeat(60)
    );
    let told = told(&html);
    assert_eq!(
        told.first().map(String::as_str),
        Some("<h1>KeyError at /basket</h1>")
    );
    for fact in [
        "File \"/srv/shop/views.py\", line 12, in basket",
        "KeyError: 'oak'",
    ] {
        assert!(
            told.iter().any(|row| row.contains(fact)),
            "{fact}: {told:?}"
        );
    }
    assert!(
        told.iter().map(String::len).sum::<usize>() < 800,
        "{told:?}"
    );
}

#[test]
fn bad_lines_beyond_the_first_text_are_told() {
    let text = |number: usize| format!("<p>{} leaf</p>", "tree ".repeat(1 + number % 40));
    let text: String = (0..800).map(text).collect();
    let told = told(&format!(
        "<body>{text}{}<p>Error: no such tree</p></body>",
        "<p>oak</p><p>elm</p>".repeat(9)
    ));
    assert!(told.contains(&"Error: no such tree".to_owned()), "{told:?}");
}

#[test]
fn a_page_that_is_cut_or_broken_is_read_as_far_as_it_goes() {
    for (html, said) in [
        ("<p>oak</p><scr", vec!["oak"]),
        ("<p>oak</p><script>var a", vec!["oak"]),
        ("<p>oak</p><!-- elm", vec!["oak"]),
        ("<p title='it>oak</p><p>elm</p>", vec!["oak", "elm"]),
        ("<p>1 < 2 and <3</p>", vec!["1 < 2 and <3"]),
        ("<pre>oak\n  elm", vec!["oak", "  elm"]),
        ("<h1>oak", vec!["oak"]),
    ] {
        assert_eq!(told(html), said, "{html}");
    }
}

#[test]
fn links_may_hold_pictures_and_other_lines_and_stay_open() {
    let html = "<a href=\"/a\"><img src=\"a.png\" alt=\"Oak\"></a><p><A HREF='/b'>up</A></p>\
        <a href=/c><div>Elm</div></a><p>x <a href=\"/d\">one <a href=\"/e\">two</a></p>";
    assert_eq!(
        told(html),
        [
            "[Oak](/a)",
            "[up](/b)",
            "Elm",
            "[](/c)",
            "x [one ](/d)[two](/e)"
        ]
    );
}

#[test]
fn a_stack_of_java_keeps_its_lines() {
    let frame = |number: usize| format!("\tat org.web.Filter{number}.run(Filter.java:{number})\n");
    let frames: String = (0..60).map(frame).collect();
    let told = told(&format!(
        "<h1>Error</h1><div style='white-space:pre-wrap;'>java.lang.IllegalStateException: no oak\n\
         \tat com.oak.Tree.of(Tree.java:12)\n{frames}Caused by: java.io.IOException: no root\n\
         \tat com.oak.Root.open(Root.java:44)\n\t... 60 more\n</div><p>end</p>"
    ));
    for fact in [
        "java.lang.IllegalStateException: no oak",
        "at com.oak.Tree.of(Tree.java:12)",
        "Caused by: java.io.IOException: no root",
        "at com.oak.Root.open(Root.java:44)",
    ] {
        assert!(
            told.iter().any(|row| row.trim() == fact),
            "{fact}: {told:?}"
        );
    }
}
