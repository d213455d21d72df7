import assert from "node:assert/strict";
import { errorMessage } from "./error_message.ts";
import { lintSource } from "./lint_source.ts";

const inShared = (source: string): string[] =>
  lintSource(errorMessage, { path: "shared/a.ts", source });

const PREFIX = 'The error message does not begin with "Cannot "';
const PERIOD = "The error message ends with a period";

Deno.test("errorMessage accepts what cannot be done, and messages that come from elsewhere", () => {
  for (
    const source of [
      'throw new RangeError("Cannot clear: capacity is NaN");',
      "throw new RangeError(`Cannot clear: capacity is ${capacity}`);",
      'throw new TypeError("Cannot clear: " + `capacity is ${capacity}`);',
      "throw new Error(message, { cause });",
      'throw new ApiError(404, "NotFound", "no such pod.");',
    ]
  ) {
    assert.deepEqual(inShared(source), [], source);
  }
});

Deno.test("errorMessage refuses another beginning, a period and no message", () => {
  assert.deepEqual(inShared('throw new Error("Bad capacity");'), [PREFIX]);
  assert.deepEqual(inShared("throw new Error(`${name} is bad`);"), [PREFIX]);
  assert.deepEqual(inShared('f(new TypeError("Cannot clear: no bids."));'), [PERIOD]);
  assert.deepEqual(inShared('throw new Error("Cannot clear: " + "no bids.");'), [PERIOD]);
  assert.deepEqual(inShared("throw new Error();"), ["The error has no message"]);
});

Deno.test("errorMessage leaves tests alone", () => {
  const source = 'throw new Error("boom");';
  assert.deepEqual(lintSource(errorMessage, { path: "shared/a_test.ts", source }), []);
});
