import assert from "node:assert/strict";
import { requestHeadersKind } from "./request_headers_kind.ts";

const text = (table: Readonly<Record<string, string>>): string => JSON.stringify(table);

Deno.test("requestHeadersKind reads names and what they say", () => {
  assert.deepEqual(requestHeadersKind.parse(""), new Map());
  const table = { "X-Scope-OrgID": "shop|bank", "x-stage": "a b" };
  assert.deepEqual(requestHeadersKind.parse(text(table)), new Map(Object.entries(table)));
});

Deno.test("requestHeadersKind takes no secret, and shows none", () => {
  const names = ["Authorization", "Cookie", "X-Api-Key", "X-Auth", "Private-Token", "Password"];
  for (const name of names) {
    const asked = text({ [name]: "s3cr3t" });
    assert.equal(requestHeadersKind.parse(asked), undefined, name);
    const message = requestHeadersKind.explain?.(asked) ?? "";
    assert.match(message, new RegExp(`^${name} .* secret, `));
    assert.doesNotMatch(message, /s3cr3t/);
  }
});

Deno.test("requestHeadersKind takes nothing that a request can't carry, or has already", () => {
  for (const name of ["Host", "accept-encoding", "Content-Length", "Transfer-Encoding"]) {
    assert.equal(requestHeadersKind.parse(text({ [name]: "x" })), undefined, name);
  }
  for (const name of ["", "X Scope", "X:Scope", "X-Übung", "-x", "x".repeat(64)]) {
    assert.equal(requestHeadersKind.parse(text({ [name]: "x" })), undefined, name);
  }
  for (const value of ["", " ", " a", "a ", "a\nb", "a\r\nHost: b", "ü", "x".repeat(257)]) {
    const asked = text({ "X-Scope": value });
    assert.equal(requestHeadersKind.parse(asked), undefined, value);
    assert.doesNotMatch(requestHeadersKind.explain?.(asked) ?? "", /Host/);
  }
});
