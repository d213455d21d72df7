import assert from "node:assert/strict";
import { relativeLinks, taskNames } from "./markdown_references.ts";

Deno.test({
  name: "relativeLinks() finds inline links, images, references and HTML",
  permissions: "none",
  fn() {
    const markdown = [
      'See [scope](SCOPE.md), [rules](../CONTRIBUTING.md#tests "how") and [why][1].',
      "![picture](docs/demo.svg)",
      '<img alt="x" src="docs/a.png">',
      "[1]: docs/decisions/0001.md",
    ].join("\n");
    assert.deepEqual(relativeLinks(markdown), [
      "SCOPE.md",
      "../CONTRIBUTING.md",
      "docs/demo.svg",
      "docs/a.png",
      "docs/decisions/0001.md",
    ]);
  },
});

Deno.test({
  name: "relativeLinks() leaves out other sites, fragments and code",
  permissions: "none",
  fn() {
    const markdown = "[a](https://a.example) [b](#b) `[c](c.md)`\n```\n[d](d.md)\n```\n";
    assert.deepEqual(relativeLinks(markdown), []);
  },
});

Deno.test({
  name: "taskNames() finds each task once, by either way to start Deno",
  permissions: "none",
  fn() {
    const markdown = "`deno task demo --trace FILE`, `npx -y deno@2.9.6 task test`, deno task demo";
    assert.deepEqual(taskNames(markdown), ["demo", "test"]);
    assert.deepEqual(taskNames("`deno task bench:solver`"), ["bench:solver"]);
  },
});
