import assert from "node:assert/strict";
import { errorMessage } from "./error_message.ts";
import { lintSource } from "./lint_source.ts";

const inShared = (source: string): string[] =>
  lintSource(errorMessage, { path: "shared/a.ts", source });

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
  const cases = [
    ['throw new Error("Bad capacity");', /begin .*"Cannot "/],
    ["throw new Error(`${name} is bad`);", /begin .*"Cannot "/],
    ['f(new TypeError("Cannot clear: no bids."));', /period/],
    ['throw new Error("Cannot clear: " + "no bids.");', /period/],
    ["throw new Error();", /no message/],
  ] as const;
  for (const [source, message] of cases) {
    assert.equal(inShared(source).length, 1, source);
    assert.match(inShared(source).join(), message);
  }
});

Deno.test("errorMessage leaves tests alone", () => {
  const source = 'throw new Error("boom");';
  assert.deepEqual(lintSource(errorMessage, { path: "shared/a_test.ts", source }), []);
});
