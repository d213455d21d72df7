import assert from "node:assert/strict";
import { lintSource } from "./lint_source.ts";
import { moduleDoc } from "./module_doc.ts";

const refused = (path: string, source: string): boolean =>
  lintSource(moduleDoc, { path, source }).length === 1;

Deno.test("moduleDoc accepts a first comment that ends in @module, after a shebang too", () => {
  const doc = "/**\n * What it is for.\n *\n * @module\n */\nf();\n";
  assert.equal(refused("shared/a.ts", doc), false);
  assert.equal(refused("cli/a.ts", `#!/usr/bin/env -S deno run\n${doc}`), false);
});

Deno.test("moduleDoc refuses no comment, another comment and a later one", () => {
  assert.equal(refused("shared/a.ts", "f();\n"), true);
  assert.equal(refused("shared/a.ts", "/** Does f. */\nf();\n"), true);
  assert.equal(refused("shared/a.ts", "f();\n/**\n * Late.\n *\n * @module\n */\n"), true);
});

Deno.test("moduleDoc asks nothing of tests", () => {
  assert.equal(refused("shared/a_test.ts", "f();\n"), false);
});
