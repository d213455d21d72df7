import assert from "node:assert/strict";
import { loginFilesKind } from "./login_files.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("loginFilesKind reads files of a token, of a user's password and of authorities", () => {
  assert.deepEqual(loginFilesKind.parse(""), {});
  assert.deepEqual(loginFilesKind.parse("tokenFile=/a/token  caFile=/a/ca.crt"), {
    tokenFile: "/a/token",
    caFile: "/a/ca.crt",
  });
  assert.deepEqual(loginFilesKind.parse("passwordFile=/a/b=c user=reader"), {
    user: { name: "reader", passwordFile: "/a/b=c" },
  });
});

test("loginFilesKind says what is wrong, and shows nothing that may be a secret", () => {
  const faults: Readonly<Record<string, RegExp>> = {
    "hunter2": /tokenFile=, user=, passwordFile=, caFile=$/,
    "token=hunter2": /tokenFile=, user=, passwordFile=, caFile=$/,
    "tokenFile=hunter2": /^tokenFile .* path /,
    "tokenFile=": /^tokenFile .* empty$/,
    "tokenFile=/a tokenFile=/b": /tokenFile twice/,
    "tokenFile=/a user=b passwordFile=/c": /a token and a user/,
    "user=b": /expected both/,
    "passwordFile=/c": /expected both/,
    "user=a:b passwordFile=/c": /without a colon/,
  };
  for (const [text, fault] of Object.entries(faults)) {
    assert.equal(loginFilesKind.parse(text), undefined, text);
    const explained = loginFilesKind.explain?.(text) ?? "";
    assert.match(explained, fault);
    assert.ok(!explained.includes("hunter2"), explained);
  }
  assert.equal(loginFilesKind.explain?.("tokenFile=/a"), undefined);
});
