use super::*;
use crate::input::Exit;

fn reduced(text: &str) -> (String, bool) {
    let input = Input {
        text,
        words: &[],
        exit: Exit::Unknown,
    };
    assert!(recognises(&input) >= Match::Likely);
    let mut output = Output::default().with_nested(crate::divide::part::NESTED);
    reduce(&input, &mut output);
    let failed = output.saw_failure();
    let text = output.finish(text.lines().count(), usize::MAX);
    let body = text.rsplit_once('\n').map_or("", |(body, _)| body);
    (body.to_owned(), failed)
}

#[test]
fn status_headers_and_headings_stay() {
    let rows = "<tr><td class=\"a\">oak</td></tr>".repeat(200);
    let text = format!(
        "*   Trying 10.0.0.1:80...\n* Connected to a.example (10.0.0.1) port 80\n\
         > GET /trees HTTP/1.1\n> Host: a.example\n> Accept: */*\n>\n< HTTP/1.1 200 OK\n\
         < Content-Type: text/html\n<\n{{ [512 bytes data]\n\
         <html><body>{rows}<h1>Trees</h1>{rows}</body></html>\n\
         * Connection #0 to host a.example left intact\n"
    );
    let (reduced, failed) = reduced(&text);
    for fact in [
        "> GET /trees HTTP/1.1",
        "< HTTP/1.1 200 OK",
        "< Content-Type: text/html",
        "<h1>Trees</h1>",
        "oak (398 like this)",
    ] {
        assert!(reduced.contains(fact), "{fact}: {reduced}");
    }
    assert!(!reduced.contains("Accept"), "{reduced}");
    assert!(reduced.len() < 1_500 && !failed, "{reduced}");
}

#[test]
fn short_bodies_stay_whole() {
    let text = "HTTP/1.1 404 Not Found\nServer: a\n\nno such tree\n";
    assert!(reduced(text).0.ends_with("\nno such tree"));
}

#[test]
fn the_text_of_a_page_ends_behind_a_whole_word() {
    for more in 0..12 {
        let page = format!(
            "<html><body><p>{}{}</p></body></html>\n",
            "x".repeat(more),
            " 0 errors306".repeat(900)
        );
        let (text, _) = reduced(&format!(
            "HTTP/1.1 200 OK\nContent-Type: text/html\n\n{page}"
        ));
        let last = text
            .lines()
            .rfind(|line| line.contains("errors306"))
            .unwrap_or_default();
        assert!(
            last.ends_with(" 0") || last.ends_with("errors306"),
            "{last}"
        );
    }
}

#[test]
fn each_answer_keeps_its_body() {
    let text = "HTTP/1.1 404 NOT FOUND\nContent-Type: application/json\n\n{\"error\":\"no oak 7\"}\n\
        HTTP/1.1 422 UNPROCESSABLE ENTITY\nContent-Length: 9\n\n{\"field\":\"leaf\"}\n\
        HTTP/1.1 200 OK\nContent-Length: 2\n\nup\n";
    let (reduced, _) = reduced(text);
    let places = [
        "404 NOT", "no oak 7", "422 UN", "\"leaf\"", "200 OK", "2\nup",
    ]
    .map(|fact| reduced.find(fact));
    assert!(places.iter().all(Option::is_some), "{reduced}");
    assert!(places.is_sorted(), "{reduced}");
}

#[test]
fn other_texts_are_not_known() {
    for text in [
        "GET / HTTP/1.1 in prose\n",
        "plain\n",
        "HTTP/1.1 explained\n",
    ] {
        let input = Input {
            text,
            words: &[],
            exit: Exit::Unknown,
        };
        assert_eq!(recognises(&input), Match::No, "{text}");
    }
}

#[test]
fn a_body_stands_below_its_own_answer_and_not_below_a_later_request() {
    let text = format!(
        "*   Trying 10.0.0.1:80...\n* Connected to oak (10.0.0.1) port 80 (#0)\n> POST /leaf HTTP/1.1\n> Host: oak\n>\n\
         < HTTP/1.1 502 Bad Gateway\n< Content-Type: text/html\n<\n{{ [20 bytes data]\n<html><h1>502 Bad Gateway</h1></html>\n\
         * Connection #0 to host oak left intact\n{}* Connected to elm (10.0.0.2) port 443 (#0)\n* error: wrong version number\n\
         curl: (35) error: wrong version number\ncurl: (22) The requested URL returned error: 404\n<html><h1>404 Not Found</h1></html>\n",
        "* TLS handshake\n".repeat(20)
    );
    let (told, _) = reduced(&text);
    let at = |text: &str| told.find(text).unwrap_or_default();
    assert!(at("404 Not Found</h1>") > 0, "{told}");
    assert!(
        at("502 Bad Gateway</h1>") < at("Connected to elm"),
        "{told}"
    );
    assert!(
        at("returned error: 404") < at("404 Not Found</h1>"),
        "{told}"
    );
}

#[test]
fn an_error_of_the_client_stands_behind_the_body_that_came_before_it() {
    let text = "HTTP/1.1 200 OK\nContent-Type: text/html\n\n<html><h1>Leaves</h1></html>\ncurl: (22) The requested URL returned error: 404\n";
    let (told, failed) = reduced(text);
    assert!(failed);
    assert!(
        told.ends_with(
            "<html><h1>Leaves</h1></html>\ncurl: (22) The requested URL returned error: 404"
        ),
        "{told}"
    );
}

#[test]
fn what_stands_behind_a_body_of_a_told_length_is_of_others() {
    let lines = "leaf 1 of the oak is green\n".repeat(60);
    let text = format!(
        "HTTP/1.1 200 OK\nContent-Length: 12\n\n{{\"up\": true}}\n{lines}ValueError: no leaf 7\n"
    );
    let (told, _) = reduced(&text);
    assert!(told.contains("{\"up\": true}\n"), "{told}");
    assert!(told.ends_with("ValueError: no leaf 7"), "{told}");
    assert!(told.len() < 500, "{told}");
}

#[test]
fn an_exit_code_that_is_told_is_no_part_of_a_body() {
    let rows = "<p>a row of many</p>\n".repeat(100);
    let (told, _) = reduced(&format!("HTTP/1.1 200 OK\nServer: a\n\n{rows}exit: 7\n"));
    assert!(told.ends_with("\nexit: 7"), "{told}");
}

#[test]
fn xml_keeps_its_tags_and_is_no_page() {
    let item = |number: usize| {
        let state = if number == 44 { "stopped" } else { "running" };
        format!("<Item id=\"i-{number}\"><State>{state}</State></Item>")
    };
    let items: String = (0..90).map(item).collect();
    for (head, between) in [
        ("<?xml version=\"1.0\"?>\n<Items>", ""),
        ("<Items xmlns=\"urn:oak\">", "\n"),
    ] {
        let items = items.replace("><", &format!(">{between}<"));
        let (reduced, _) = reduced(&format!(
            "HTTP/1.1 200 OK\nContent-Type: application/xml\n\n{head}{items}\n<Code>E_OAK</Code></Items>\n"
        ));
        for fact in [
            "<State>stopped</State>",
            "<Code>E_OAK</Code>",
            "<Item id=\"i-0\">",
        ] {
            assert!(reduced.contains(fact), "{fact}: {reduced}");
        }
        assert!(reduced.len() < 700, "{reduced}");
    }
}
