import assert from "node:assert/strict";
import { structuredOutput } from "./structured_output.ts";

Deno.test({
  name: "structuredOutput() writes JSON and YAML without absent members, and no table",
  permissions: "none",
  fn() {
    const value = { pod: "web", limit: undefined, price: null, containers: [{ name: "app" }] };
    assert.equal(
      structuredOutput(value, "yaml"),
      "pod: web\nprice: null\ncontainers:\n  - name: app\n",
    );
    assert.deepEqual(JSON.parse(structuredOutput(value, "json") ?? ""), {
      pod: "web",
      price: null,
      containers: [{ name: "app" }],
    });
    assert.equal(structuredOutput(value, "table"), undefined);
    assert.equal(structuredOutput(value, "wide"), undefined);
  },
});
