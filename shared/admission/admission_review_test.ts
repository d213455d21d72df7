import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { forAll } from "../../tests/fixtures/for_all.ts";
import fc from "fast-check";
import {
  admissionAnswer,
  LONGEST_WARNING,
  LONGEST_WARNINGS,
  parseAdmissionReview,
} from "./admission_review.ts";
import type { JSONPatchOperation } from "./json_patch.ts";

const REQUEST = {
  uid: "0df28fbd",
  kind: { group: "", version: "v1", kind: "Pod" },
  resource: { group: "", version: "v1", resource: "pods" },
  requestKind: { group: "", version: "v1", kind: "Pod" },
  namespace: "shop",
  operation: "CREATE",
  userInfo: { username: "system:serviceaccount:kube-system:replicaset-controller" },
  object: { metadata: { generateName: "web-" }, spec: {} },
  oldObject: null,
  dryRun: false,
  options: { kind: "CreateOptions" },
};

function text(request: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: { ...REQUEST, ...request },
  });
}

pure("parseAdmissionReview() reads what a server sends for a pod that is made", () => {
  assert.deepEqual(parseAdmissionReview(text()), {
    uid: "0df28fbd",
    kind: "Pod",
    resource: "pods",
    operation: "CREATE",
    namespace: "shop",
    name: "",
    dryRun: false,
    object: REQUEST.object,
  });
});

pure("parseAdmissionReview() reads dry runs, subresources, and questions without an object", () => {
  const read = parseAdmissionReview(
    text({ dryRun: true, subResource: "resize", object: null, name: "web", namespace: undefined }),
  );
  assert.deepEqual(
    [read.dryRun, read.resource, read.name, read.namespace],
    [true, "pods/resize", "web", ""],
  );
  assert.ok(!("object" in read));
});

pure("parseAdmissionReview() names the field that is wrong, with its value", () => {
  const wrong: readonly (readonly [Readonly<Record<string, unknown>>, RegExp])[] = [
    [{ uid: "" }, /request\.uid is ""/],
    [{ uid: undefined }, /request\.uid is not/],
    [{ uid: "x".repeat(129) }, /request\.uid is "x+…" \(129/],
    [{ operation: "PATCH" }, /request\.operation is "PATCH".*"CREATE"/],
    [{ kind: { group: "" } }, /request\.kind\.kind is not/],
    [{ object: [] }, /request\.object is a list: /],
    [{ object: "x" }, /request\.object is "x": /],
    [{ dryRun: "no" }, /request\.dryRun is "no"/],
  ];
  for (const [request, message] of wrong) {
    assert.throws(() => parseAdmissionReview(text(request)), (error: unknown) => {
      assert.ok(error instanceof TypeError);
      assert.match(error.message, message);
      return true;
    });
  }
  const old = JSON.stringify({ apiVersion: "admission.k8s.io/v1beta1", kind: "AdmissionReview" });
  assert.throws(() => parseAdmissionReview(old), /apiVersion is "admission\.k8s\.io\/v1beta1"/);
  for (const body of ["null", "[]", "5"]) {
    assert.throws(() => parseAdmissionReview(body), /the body is /);
  }
});

pure("parseAdmissionReview() repeats nothing of a body that is no JSON", () => {
  assert.throws(() => parseAdmissionReview("secret: {"), (error: unknown) => {
    assert.ok(error instanceof SyntaxError);
    assert.match(error.message, / 9 characters /);
    return !error.message.includes("secret");
  });
});

forAll("parseAdmissionReview() reads or refuses by name whatever it is given", [
  fc.json(),
  fc.dictionary(fc.constantFrom(...Object.keys(REQUEST)), fc.jsonValue()),
], (
  any,
  changes,
) => {
  for (const body of [any, text(changes)]) {
    try {
      assert.equal(typeof parseAdmissionReview(body).uid, "string");
    } catch (error) {
      assert.ok(error instanceof TypeError && error.message.startsWith("Cannot read"), body);
    }
  }
}, 1);

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

forAll("admissionAnswer() keeps warnings within bounds, whatever they are", [
  fc.array(fc.string({ unit: "binary", maxLength: 400 }), { maxLength: 60 }),
], (warnings) => {
  const said = admissionAnswer("u1", { patch: [], warnings }).response.warnings ?? [];
  assert.equal(new Set(said).size, said.length);
  let total = 0;
  for (const text of said) {
    assert.ok(text !== "" && [...text].length <= LONGEST_WARNING);
    assert.doesNotMatch(text, /[\p{Cc}\p{Cs}]/u);
    total += [...text].length;
  }
  assert.ok(total <= LONGEST_WARNINGS);
}, 1);
