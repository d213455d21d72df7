import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { parseTestOptions } from "./test_options.ts";

pure("parseTestOptions() draws 100 cases, and thousands in the long tests", () => {
  assert.deepEqual(parseTestOptions([]), {
    kind: "run",
    options: { paths: [], long: false, cases: 100 },
  });
  assert.deepEqual(parseTestOptions(["--", "--long", "--seed", "-7", "shared"]), {
    kind: "run",
    options: { paths: ["shared"], long: true, cases: 2000, seed: -7 },
  });
});

pure("parseTestOptions() names the flag and the value that are wrong", () => {
  for (
    const [args, expected] of [
      [["--seed", "x"], /--seed.*'x'/],
      [["--cases=99"], /--cases.*'99'.* 100 /],
      [["--jobs", "1.5"], /--jobs.*'1\.5'/],
      [["--lang"], /--lang/],
    ] as const
  ) {
    const read = parseTestOptions(args);
    assert.ok(read.kind === "usage-error");
    assert.equal(read.exitCode, 2);
    assert.match(read.message, expected);
  }
});
