import assert from "node:assert/strict";
import { serverURLKind } from "./server_url_kind.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("serverURLKind takes addresses of HTTP servers, without the slash at the end", () => {
  for (
    const [text, value] of [
      ["http://prometheus.monitoring:9090", "http://prometheus.monitoring:9090"],
      ["https://metrics.example.com/", "https://metrics.example.com"],
      ["http://10.0.0.7/prometheus/", "http://10.0.0.7/prometheus"],
      ["http://[fd00::1]:9090", "http://[fd00::1]:9090"],
    ] as const
  ) assert.equal(serverURLKind.parse(text), value);
});

test("serverURLKind refuses what is no such address", () => {
  for (
    const text of [
      "",
      "prometheus:9090",
      "file:///etc/passwd",
      "http://",
      "http://host?query=up",
      "http://host/#part",
    ]
  ) {
    assert.equal(serverURLKind.parse(text), undefined, text);
    assert.equal(serverURLKind.explain?.(text), undefined, text);
  }
});

test("serverURLKind refuses a login, and does not repeat it", () => {
  for (const text of ["http://me:secret@host", "http://me@host"]) {
    assert.equal(serverURLKind.parse(text), undefined);
    const said = serverURLKind.explain?.(text) ?? "";
    assert.match(said, /user or password/);
    assert.ok(!said.includes("secret"));
  }
});
