import assert from "node:assert/strict";
import fc from "fast-check";
import { admissionAnswer, LONGEST_WARNING, LONGEST_WARNINGS } from "./admission_answer.ts";
import type { JSONPatchOperation } from "./json_patch.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("admissionAnswer() lets pass without a patch, and says nothing of one", () => {
  assert.deepEqual(admissionAnswer("u1", { patch: [], warnings: [] }), {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid: "u1", allowed: true },
  });
});

pure("admissionAnswer() writes the patch as base64 of UTF-8", () => {
  const patch: readonly JSONPatchOperation[] = [{ op: "add", path: "/x", value: "größer 🦕" }];
  const { response } = admissionAnswer("u1", { patch, warnings: [] });
  assert.equal(response.patchType, "JSONPatch");
  const bytes = Uint8Array.fromBase64(response.patch ?? "");
  assert.deepEqual(JSON.parse(new TextDecoder().decode(bytes)), patch);
});

pure(
  "admissionAnswer() says each warning once, on one line, and no longer than a server takes",
  () => {
    const warnings = ["a\r\nb\u0000c", "a b c", "", "🦕".repeat(300)];
    const [first, second, ...more] = admissionAnswer("u1", { patch: [], warnings }).response
      .warnings ?? [];
    assert.equal(first, "a b c");
    assert.equal([...second ?? ""].length, LONGEST_WARNING);
    assert.ok(second?.endsWith("🦕…"));
    assert.deepEqual(more, []);
  },
);

pure("admissionAnswer() keeps warnings within bounds, whatever they are", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "binary", maxLength: 400 }), { maxLength: 60 }),
      (warnings) => {
        const said = admissionAnswer("u1", { patch: [], warnings }).response.warnings ?? [];
        assert.equal(new Set(said).size, said.length);
        let total = 0;
        for (const text of said) {
          assert.ok(text !== "" && [...text].length <= LONGEST_WARNING);
          assert.doesNotMatch(text, /[\p{Cc}\p{Cs}]/u);
          total += [...text].length;
        }
        assert.ok(total <= LONGEST_WARNINGS);
      },
    ),
  );
});
