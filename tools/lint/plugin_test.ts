import assert from "node:assert/strict";
import plugin from "./plugin.ts";

Deno.test("plugin reports a file's faults under the names of its rules", () => {
  const source = "export default function f(a, b, c) { throw new Error('boom.'); }\n";
  const ids = Deno.lint.runPlugin(plugin, "shared/utils.ts", source).map(({ id }) => id);
  assert.deepEqual(
    ids.toSorted(),
    ["error-message", "error-message", "file-name", "module-doc", "no-default-export"]
      .concat("return-type").map((name) => `house/${name}`),
  );
});
