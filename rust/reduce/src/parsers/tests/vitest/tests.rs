#![expect(clippy::unwrap_used, reason = "tests may panic")]

use crate::input::Exit;
use crate::tested::unmarked as terminal;

const FAILING: &str = "
> shop@2.1.0 test
> vitest run

 RUN  v3.0.1 /home/dev/shop

 ❯ test/cart.spec.ts (3 tests | 1 failed) 12ms
   ✓ cart > is empty 1ms
   × cart > totals 9ms
     → expected 3 to be 4 // Object.is equality
 ✓ test/tax.spec.ts (40 tests) 8ms

⎯⎯⎯⎯⎯⎯ Failed Suites 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  test/ship.spec.ts [ test/ship.spec.ts ]
Error: Failed to load url ./rates
 ❯ test/ship.spec.ts:1:1
      1| import { rates } from './rates';
       | ^

⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  test/cart.spec.ts > cart > totals
AssertionError: expected 3 to be 4 // Object.is equality

- Expected
+ Received

- 4
+ 3

 ❯ total src/cart.ts:9:11
      7| export function total() {
 ❯ test/cart.spec.ts:14:22
 ❯ node_modules/vitest/dist/run.js:1:2

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[2/2]⎯

 Test Files  2 failed | 1 passed (3)
      Tests  1 failed | 42 passed (43)
   Duration  1.20s (transform 71ms)

npm error Lifecycle script `test` failed with error:
";

#[test]
fn totals_that_a_test_prints_are_none_of_the_run() {
    let printed = "stdout | test/tax.spec.ts > tax > sums\n      Tests  5 passed (5)\n\n";
    let text = FAILING.replace(
        "\n\u{23af}\u{23af}\u{23af}\u{23af}\u{23af}\u{23af} Failed Suites",
        &format!("\n{printed}\u{23af}\u{23af}\u{23af}\u{23af}\u{23af}\u{23af} Failed Suites"),
    );
    assert_ne!(text, FAILING);
    let told = terminal::reduce(&text, Some("vitest run"), Exit::Failure, usize::MAX)
        .unwrap()
        .0;
    assert!(!told.contains("5 passed (5)"), "{told}");
}
