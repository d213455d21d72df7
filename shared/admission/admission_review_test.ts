import assert from "node:assert/strict";
import fc from "fast-check";
import { parseAdmissionReview } from "./admission_review.ts";

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

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
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

pure("parseAdmissionReview() reads or refuses by name whatever it is given", () => {
  fc.assert(
    fc.property(
      fc.json(),
      fc.dictionary(fc.constantFrom(...Object.keys(REQUEST)), fc.jsonValue()),
      (
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
      },
    ),
  );
});
