import assert from "node:assert/strict";
import type { PolicySelector } from "./policy_spec.ts";
import { scopeNote } from "./scope_note.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const ALONE = "; it acts on its own namespace shop alone, since the controller's setting " +
  "policyNamespaces does not have that";

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
  assert.equal(noteOf({ namespaces }), `its selector asks for b, c${ALONE}`);
  assert.equal(noteOf({ namespaceSelector }), `it has a namespaceSelector${ALONE}`);
  const many = { allow: ["a", "b", "c", "d", "e", "f", "g"], deny: [] };
  assert.match(
    noteOf({ namespaces: many }) ?? "",
    /^its selector asks for a, b, c, d, e and 2 more;/,
  );
  const policyNamespaces = ["shop"];
  assert.equal(noteOf({ namespaces, namespaceSelector }, { policyNamespaces }), undefined);
});

test("scopeNote() says that nothing matches, and that a policy's reach may be why", () => {
  assert.equal(noteOf({}, { matched: 0 }), `it matches no workload${ALONE}`);
  assert.equal(
    noteOf({}, { matched: 0, policyNamespaces: ["shop"] }),
    "it matches no workload",
  );
});
