import assert from "node:assert/strict";
import { reportProblem } from "./file_problem.ts";

const { errors } = Deno;

Deno.test({
  name: "reportProblem() says why and what helps, without the system's numbers",
  permissions: "none",
  fn() {
    const said = (cause: unknown) => reportProblem("a/b.html", cause).message;
    const cases: readonly (readonly [Error, string])[] = [
      [
        new errors.NotFound("No such file or directory (os error 2)"),
        "its folder is not there; create the folder or give another path",
      ],
      [
        new errors.IsADirectory("Is a directory (os error 21)"),
        "it is a directory; give the path of a file in it",
      ],
      [
        new errors.NotADirectory("Not a directory (os error 20)"),
        "a file stands where its folder should be; give another path",
      ],
      [
        new errors.PermissionDenied("Permission denied (os error 13)"),
        "you may not write there, see ls -l; give another path",
      ],
      [
        new errors.NotCapable("Requires write access"),
        "the task may write below the project and /tmp only; give another path",
      ],
      [
        new errors.WriteZero("No space left on device (os error 28), write 'a/b.html'"),
        "No space left on device",
      ],
    ];
    for (const [cause, reason] of cases) {
      assert.equal(said(cause), `Cannot write report "a/b.html": ${reason}`);
    }
    assert.throws(() => said(new TypeError("a fault")), /^TypeError: a fault$/);
  },
});
