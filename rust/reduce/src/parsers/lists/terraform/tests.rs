#![expect(clippy::unwrap_used, reason = "tests may panic")]

use crate::input::Exit;
use crate::pipeline::terminal;

fn reduced(text: &str, exit: Exit) -> String {
    let text = format!(
        "{text}{}",
        "oak.elm: Refreshing state... [id=7]\n".repeat(30)
    );
    terminal::reduce(&text, Some("terraform plan"), exit, usize::MAX)
        .unwrap()
        .0
}

const PLAN: &str = "
Terraform used the selected providers to generate the following execution
plan. Resource actions are indicated with the following symbols:
  + create
-/+ destroy and then create replacement

Terraform will perform the following actions:

  # oak.elm[\"a\"] will be created
  + resource \"oak\" \"elm\" {
      + id    = (known after apply)
      + rings = 7
      + moss  = [
          + 1,
        ]
    }

  # oak.elm[\"b\"] will be created
  + resource \"oak\" \"elm\" {
      + id    = (known after apply)
      + rings = 7
    }

  # oak.ash must be replaced
-/+ resource \"oak\" \"ash\" {
      ~ id    = \"x1\" -> (known after apply)
      ~ rings = 3 -> 4 # forces replacement
        # (2 unchanged attributes hidden)
    }

  # oak.yew will be destroyed
  # (because oak.yew is not in configuration)
  - resource \"oak\" \"yew\" {
      - id = \"x2\" -> null
    }

Plan: 3 to add, 0 to change, 2 to destroy.

Changes to Outputs:
  + rings = 7
  ~ moss  = {
      + a = (known after apply)
    }
";

#[test]
fn a_plan_keeps_every_address_every_change_and_the_verdict() {
    assert_eq!(
        reduced(PLAN, Exit::Success),
        "[8 lines left out]\n# oak.elm[\"a\"] will be created\n[2 lines left out]\n+ rings = 7\n\
        [5 lines left out]\n# oak.elm[\"b\"] will be created\n[5 lines left out]\n\
        # oak.ash must be replaced\n[2 lines left out]\n~ rings = 3 -> 4 # forces replacement\n\
        [3 lines left out]\n# oak.yew will be destroyed\n\
        # (because oak.yew is not in configuration)\n[4 lines left out]\n\
        Plan: 3 to add, 0 to change, 2 to destroy.\nChanges to Outputs:\n+ rings = 7\n~ moss = {\n\
        [32 lines left out]\n[62 of 73 lines left out]"
    );
}

#[test]
fn a_message_keeps_its_place_and_not_its_source() {
    let text = "╷\n│ Error: Unsupported argument\n│ \n│   on main.tf line 14, in output \"bad\":\n│   14: output \"bad\" { valu = 3 }\n│     ├────────────────\n│     │ var.rings is 3\n│ \n│ An argument named \"valu\" is not expected here. Did you mean \"value\"?\n╵\n";
    assert_eq!(
        reduced(text, Exit::Failure),
        "Error: Unsupported argument\non main.tf line 14, in output \"bad\":\n[2 lines left out]\n\
        var.rings is 3\nAn argument named \"valu\" is not expected here. Did you mean \"value\"?\n\
        [31 lines left out]\n[36 of 40 lines left out]"
    );
}

#[test]
fn a_run_keeps_what_is_complete_and_what_came_out() {
    let text = "oak.elm: Creating...\noak.elm: Still creating... [10s elapsed]\noak.elm: Creation complete after 12s [id=x7]\n\nApply complete! Resources: 1 added, 0 changed, 0 destroyed.\n\nOutputs:\n\nrings = 7\n";
    let text = format!(
        "{}{text}",
        "oak.ash: Refreshing state... [id=7]\n".repeat(30)
    );
    assert_eq!(
        terminal::reduce(&text, Some("tofu apply"), Exit::Success, usize::MAX)
            .unwrap()
            .0,
        "[32 lines left out]\noak.elm: Creation complete after 12s [id=x7]\n\
        Apply complete! Resources: 1 added, 0 changed, 0 destroyed.\nOutputs:\nrings = 7\n\
        [35 of 39 lines left out]"
    );
}

#[test]
fn a_failed_run_without_a_failure_in_sight_is_not_called_planned() {
    let text = format!("{PLAN}killed\n");
    let reduced = reduced(&text, Exit::Failure);
    assert!(reduced.contains("killed"), "{reduced}");
    assert!(reduced.contains("+ create"), "{reduced}");
}

#[test]
fn each_object_that_is_there_keeps_its_own_values() {
    let object = |number: usize| {
        format!(
            "# oak.elm[{number}]:\nresource \"oak\" \"elm\" {{\n    id    = \"{number}a-9\"\n    rings = {}\n    moss  = [\n        {number},\n    ]\n}}\n\n",
            number * 3
        )
    };
    let text: String =
        "oak.elm[0]\noak.elm[1]\n".to_owned() + &(0..30).map(object).collect::<String>();
    let text = text + "\nOutputs:\n\nrings = 7\n";
    let (told, family) = terminal::reduce(
        &text,
        Some("terraform show; terraform output"),
        Exit::Success,
        usize::MAX,
    )
    .unwrap();
    assert_eq!(family, Some("terraform"));
    for fact in [
        "oak.elm[1]\n",
        "# oak.elm[7]: id = \"7a-9\" rings = 21 moss = [ 7, ]\n",
        "rings = 7\n",
    ] {
        assert!(told.contains(fact), "{fact}: {told}");
    }
}
