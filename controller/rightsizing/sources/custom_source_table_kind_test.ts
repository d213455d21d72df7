import assert from "node:assert/strict";
import { customSourceTableKind } from "./custom_source_table_kind.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("customSourceTableKind reads addresses and logins by name", () => {
  const text = JSON.stringify({
    billing: "https://billing:8443/v1/ tokenFile=/etc/mbcas/token caFile=/etc/mbcas/ca",
    plain: " http://plain ",
  });
  assert.deepEqual(
    customSourceTableKind.parse(text),
    new Map([
      ["billing", {
        url: "https://billing:8443/v1",
        login: { tokenFile: "/etc/mbcas/token", caFile: "/etc/mbcas/ca" },
      }],
      ["plain", { url: "http://plain", login: {} }],
    ]),
  );
  assert.deepEqual(customSourceTableKind.parse(""), new Map());
});

test("customSourceTableKind names what is wrong, and shows no secret", () => {
  const faults: Readonly<Record<string, readonly [string, string]>> = {
    "a name": ["No_Name", "http://a"],
    "an address": ["a", "billing"],
    "a login in it": ["a", "http://me:hunter2@host"],
    "a login after it": ["a", "http://a hunter2"],
  };
  for (const [what, [name, words]] of Object.entries(faults)) {
    const text = JSON.stringify({ fine: "http://fine", [name]: words });
    assert.equal(customSourceTableKind.parse(text), undefined, what);
    const fault = customSourceTableKind.explain?.(text) ?? "";
    assert.ok(fault.includes(name) && !fault.includes("hunter2"), fault);
    assert.ok(!fault.includes("fine"), fault);
  }
});
