import assert from "node:assert/strict";

Deno.test("docs/support.md names each path of Prometheus that is asked", async () => {
  const asked = new Set<string>();
  for await (const { name } of Deno.readDir(new URL(".", import.meta.url))) {
    if (!name.endsWith(".ts") || name.endsWith("_test.ts")) continue;
    const source = await Deno.readTextFile(new URL(name, import.meta.url));
    for (const [, path = ""] of source.matchAll(/path(?: =|:) "(\/api\/v1\/\w+)"/g)) {
      asked.add(path);
    }
  }
  assert.equal(asked.size, 2, [...asked].join());
  const support = await Deno.readTextFile(new URL("../../docs/support.md", import.meta.url));
  const row = support.split("\n").find((line) => line.startsWith("| Prometheus")) ?? "";
  for (const path of asked) assert.match(row, new RegExp(`${path}\`|${path} `), path);
});
