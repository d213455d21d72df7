import assert from "node:assert/strict";
import { reportProblem } from "./file_problem.ts";

Deno.test({
  name: "reportProblem() leaves out the system's numbers, and throws faults of the program on",
  permissions: "none",
  fn() {
    const full = new Deno.errors.WriteZero("No space left (os error 28), write 'a/b.html'");
    assert.match(reportProblem("a/b.html", full).message, /"a\/b\.html": No space left$/);
    assert.throws(() => reportProblem("a", new TypeError("a fault")), /^TypeError: a fault$/);
  },
});
