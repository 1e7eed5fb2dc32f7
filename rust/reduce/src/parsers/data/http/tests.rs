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
fn advice_of_the_client_is_no_body() {
    let (reduced, _) = reduced(
        "Note: Unnecessary use of -X or --request, POST is already inferred.\n  % Total    % Received\n\
         *   Trying 10.0.0.1:80...\n* Connected to a.example (10.0.0.1) port 80\n> POST /trees HTTP/1.1\n\
         > Host: a.example\n> Accept: */*\n>\n} [12 bytes data]\n< HTTP/1.1 200 OK\n< Content-Length: 4\n<\n\
         oak\n* Connection #0 to host a.example left intact\n",
    );
    assert!(reduced.starts_with("Note: Unnecessary use"), "{reduced}");
    assert_eq!(reduced.matches("> POST /trees").count(), 1, "{reduced}");
    assert!(!reduced.contains("> Host"), "{reduced}");
}

#[test]
fn headers_end_where_carriage_returns_were_taken_away_too() {
    let rows = "a row of many\n".repeat(200);
    let text = format!(
        "> GET /trees HTTP/1.1\n> \n< HTTP/1.1 200 OK\n< Server: a\n< \n{{ [9 bytes data]\n{rows}"
    );
    let (reduced, _) = reduced(&text);
    assert!(
        reduced.contains("\n< Server: a\na row of many \u{d7}200"),
        "{reduced}"
    );
    assert!(reduced.len() < 700, "{reduced}");
}

#[test]
fn a_refused_connection_is_told() {
    let text = "*   Trying 10.0.0.1:80...\n* connect to 10.0.0.1 port 80 failed: Connection refused\n\
        * Closing connection 0\ncurl: (7) Failed to connect to 10.0.0.1 port 80\n";
    assert_eq!(
        reduced(text),
        (
            "* connect to 10.0.0.1 port 80 failed: Connection refused\n\
             curl: (7) Failed to connect to 10.0.0.1 port 80"
                .to_owned(),
            true
        )
    );
}

#[test]
fn a_body_of_json_is_told_by_its_shape() {
    let items: Vec<String> = (0..200)
        .map(|number| format!("{{\"id\": {number}}}"))
        .collect();
    let text = format!(
        "HTTP/2 200\ncontent-type: application/json\n\n[{}]\n",
        items.join(",")
    );
    assert_eq!(
        reduced(&text).0,
        "HTTP/2 200\ncontent-type: application/json\n[200 × {\"id\": 0}]"
    );
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
fn a_download_is_told_by_its_answer_and_its_file() {
    let text = "--2026-11-21 20:10:40--  http://a.example/oak\nResolving a.example... 10.0.0.1\n\
        Connecting to a.example|10.0.0.1|:80... connected.\n\
        HTTP request sent, awaiting response... 200 OK\nLength: 5120 (5.0K) [text/plain]\n\
        Saving to: ‘oak’\n\n     0K .....   100% 5.00M=0.001s\n\n\
        2026-11-21 20:10:41 (5.00 MB/s) - ‘oak’ saved [5120/5120]\n";
    let (reduced, _) = reduced(text);
    assert!(reduced.contains("response... 200 OK"), "{reduced}");
    assert!(reduced.contains("‘oak’ saved [5120/5120]"), "{reduced}");
    assert!(!reduced.contains("Resolving"), "{reduced}");
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
fn of_very_many_answers_the_first_bodies_and_the_last_are_told() {
    let answer =
        |number: usize| format!("HTTP/1.1 200 OK\nContent-Length: 9\n\nleaf-{number:04}\n\n");
    let (reduced, _) = reduced(&(1..=200).map(answer).collect::<Vec<_>>().concat());
    for (body, told) in [
        ("leaf-0001", true),
        ("leaf-0020", true),
        ("leaf-0100", false),
        ("leaf-0200", true),
    ] {
        assert_eq!(reduced.contains(body), told, "{body}");
    }
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
fn rows_of_dots_are_no_body_and_the_last_one_stays_where_nothing_was_saved() {
    let head = "--2026-05-04 10:00:00--  http://oak.test/leaf.bin\nHTTP request sent, awaiting response... 200 OK\n\
                Length: 102400 (100K) [application/octet-stream]\nSaving to: 'leaf.bin'\n\n";
    let rows = "     0K .......... .......... .......... .......... .......... 50%  483M 0s\n    50K .......... .......... \
                ..........                       80%  453M=0.1s\n\n";
    let saved = "2026-05-04 10:00:01 (5.27 MB/s) - 'leaf.bin' saved [102400/102400]\n";
    let (short, _) = reduced(&format!("{head}{rows}{saved}"));
    assert!(!short.contains("....."), "{short}");
    assert!(short.contains("saved [102400/102400]"), "{short}");
    let (short, _) = reduced(&format!("{head}{rows}"));
    assert!(
        short.contains("80%  453M=0.1s") && !short.contains("50%"),
        "{short}"
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
fn what_a_server_says_stands_above_the_answer_that_it_gives() {
    let items: Vec<String> = (0..200)
        .map(|number| format!("{{\"id\": {number}}}"))
        .collect();
    let items = format!("[{}]", items.join(","));
    let answer = |path: &str, status: &str, body: &str| {
        format!(
            "12:00 GET {path}\nHTTP/1.1 {status}\nContent-Type: application/json\nContent-Length: {}\n\n{body}\n",
            body.len()
        )
    };
    let text =
        answer("/oaks", "200 OK", &items) + &answer("/elms", "500 Oh", "{\"error\": \"no elm\"}");
    let (told, _) = reduced(&text);
    assert_eq!(
        told,
        "12:00 GET /oaks\nHTTP/1.1 200 OK\nContent-Type: application/json\nContent-Length: 2291\n[200 × {\"id\": 0}]\n\
         12:00 GET /elms\nHTTP/1.1 500 Oh\nContent-Type: application/json\nContent-Length: 19\n{\"error\": \"no elm\"}"
    );
}

#[test]
fn behind_very_many_answers_what_is_bad_stays() {
    let answer = |number: usize| {
        let log = if number == 70 {
            "ValueError: no leaf"
        } else {
            "a leaf fell"
        };
        format!("HTTP/1.1 200 OK\nContent-Length: 7\n\nleaf-{number:02}\n{log}\n")
    };
    let (told, _) = reduced(&(0..100).map(answer).collect::<String>());
    assert!(told.contains("\nleaf-07\na leaf fell\n"), "{told}");
    assert!(told.contains("\nValueError: no leaf\n"), "{told}");
    assert!(!told.contains("leaf-71"), "{told}");
}

#[test]
fn what_stands_behind_a_body_without_a_told_length_is_told_where_the_body_ends() {
    let log = format!("{}ValueError: no leaf 7\n", "a leaf fell\n".repeat(200));
    let items: Vec<String> = (0..200)
        .map(|number| format!("{{\"id\": {number}}}"))
        .collect();
    for body in [
        format!("[{}]\n", items.join(",")),
        format!("<html><h1>Oaks</h1>{}</html>\n", "<p>leaf</p>".repeat(200)),
        String::new(),
    ] {
        let (told, _) = reduced(&format!(
            "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n{body}{log}"
        ));
        assert!(told.contains("ValueError: no leaf 7"), "{told}");
        assert!(told.len() < 1_500, "{told}");
    }
}

#[test]
fn a_body_goes_on_behind_what_the_client_said_in_the_middle_of_it() {
    let items: Vec<String> = (0..200)
        .map(|number| format!("{{\"id\": {number}}}"))
        .collect();
    let body = format!("[{}]", items.join(","));
    let (begun, rest) = body.split_at(900);
    let text = format!(
        "> GET /a HTTP/1.1\n< HTTP/1.1 200 OK\n< Content-Length: {}\n< \n{{ [900 bytes data]\n{begun}\n\
         100  2290  100  2290    0     0   135k      0 --:--:-- --:--:-- --:--:--  137k\n\
         * Connection #0 to host oak left intact\n{rest}\nexit: 7\n",
        body.len()
    );
    assert_eq!(
        reduced(&text).0,
        "> GET /a HTTP/1.1\n< HTTP/1.1 200 OK\n< Content-Length: 2291\n[200 × {\"id\": 0}]\nexit: 7"
    );
}

#[test]
fn behind_a_body_that_is_all_there_the_client_ends_it() {
    let body = "leaf ".repeat(200);
    let text = format!(
        "< HTTP/1.1 200 OK\n< Content-Length: {}\n< \n{{ [900 bytes data]\n{body}\n\
         * Connection #0 to host oak left intact\nexit: 7\n",
        body.len()
    );
    assert!(
        reduced(&text).0.contains("\nexit: 7"),
        "{}",
        reduced(&text).0
    );
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

#[test]
fn what_a_certificate_proved_stays() {
    let text = "* Connected to oak (127.0.0.1) port 8443\n* TLSv1.3 (OUT), TLS handshake, Client hello (1):\n* SSL connection using TLSv1.3 / AES\n* Server certificate:\n*  subject: CN=oak\n*  issuer: CN=elm\n*  SSL certificate verify result: self-signed certificate (18), continuing anyway.\n> GET / HTTP/1.1\n> Host: oak\n>\n< HTTP/1.1 200 OK\n<\nleaf\n";
    let (told, failed) = reduced(text);
    assert!(!failed);
    for fact in [
        "SSL connection using TLSv1.3 / AES",
        "subject: CN=oak",
        "verify result: self-signed certificate (18), continuing anyway.",
    ] {
        assert!(told.contains(fact), "{fact}: {told}");
    }
    assert!(!told.contains("handshake"), "{told}");
}
