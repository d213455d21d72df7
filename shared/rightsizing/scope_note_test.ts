import assert from "node:assert/strict";
import type { PolicySelector } from "./policy_spec.ts";
import { scopeNote } from "./scope_note.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function noteOf(
  selector: Partial<PolicySelector>,
  { matched = 3, policyNamespaces = [] }: {
    readonly matched?: number;
    readonly policyNamespaces?: readonly string[];
  } = {},
): string | undefined {
  const whole = { workloadKinds: ["Deployment"], ...selector } as const;
  return scopeNote(whole, { policyNamespace: "shop", policyNamespaces, matched });
}

const namespaceSelector = { matchLabels: { team: "a" }, matchExpressions: [] };

test("scopeNote() says which namespaces a policy asks for in vain", () => {
  assert.equal(noteOf({}), undefined);
  assert.equal(noteOf({ namespaces: { allow: ["shop"], deny: ["other"] } }), undefined);
  const namespaces = { allow: ["shop", "b", "c"], deny: [] };
  assert.match(noteOf({ namespaces }) ?? "", /selector .* b, c; .*shop .*policyNamespaces/);
  assert.match(noteOf({ namespaceSelector }) ?? "", /namespaceSelector; .*shop .*policyNamespaces/);
  const many = { allow: ["a", "b", "c", "d", "e", "f", "g"], deny: [] };
  assert.match(noteOf({ namespaces: many }) ?? "", / a, b, c, d, e and 2 more;/);
  const policyNamespaces = ["shop"];
  assert.equal(noteOf({ namespaces, namespaceSelector }, { policyNamespaces }), undefined);
});

test("scopeNote() says that nothing matches, and that a policy's reach may be why", () => {
  assert.match(noteOf({}, { matched: 0 }) ?? "", /no workload; .*shop .*policyNamespaces/);
  assert.match(noteOf({}, { matched: 0, policyNamespaces: ["shop"] }) ?? "", /no workload$/);
});
