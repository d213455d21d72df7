import assert from "node:assert/strict";
import fc from "fast-check";
import { ApiError } from "../../api/api_error.ts";
import { applyFailure } from "./apply_failure.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const RBAC = (resource: string, group: string, where: string): string =>
  `${resource} "web" is forbidden: User "system:serviceaccount:mbcas-system:mbcas-controller" ` +
  `cannot patch resource "${resource}" in API group "${group}"${where}`;

test("applyFailure() says which permission is missing", () => {
  const inShop = ' in the namespace "shop"';
  const denied = (...about: Parameters<typeof RBAC>) => {
    const failure = applyFailure(new ApiError(403, "Forbidden", RBAC(...about)));
    const { next, reason, message, permission = "" } = failure;
    assert.deepEqual([next, reason, message], ["leave", "RBACError", `missing: ${permission}`]);
    return permission;
  };
  assert.match(denied("deployments", "apps", inShop), /^patch deployments\.apps .*shop$/);
  assert.match(denied("pods/resize", "", inShop), /^patch pods\/resize .*shop$/);
  const inCluster = " at the cluster scope";
  assert.equal(denied("nodes", "", inCluster), "patch nodes");
});

test("applyFailure() tells a policy engine's no, a quota and a missing right apart", () => {
  const of = (message: string) => {
    const { next, reason, permission } = applyFailure(new ApiError(403, "Forbidden", message));
    return [next, reason, permission];
  };
  const engine = 'admission webhook "guard.example.com" denied the request: ';
  assert.deepEqual(of(`${engine}no`), ["leave", "AdmissionDenied", undefined]);
  assert.deepEqual(of(engine + RBAC("pods", "", "")), ["leave", "AdmissionDenied", undefined]);
  assert.deepEqual(of("exceeded quota: q"), ["leave", "QuotaExceeded", undefined]);
  assert.deepEqual(of("no"), ["leave", "Refused", undefined]);
});

test("applyFailure() forgets 404, reads anew after 409, and backs off from a busy server", () => {
  const next = (status: number) => applyFailure(new ApiError(status, "", "words"));
  assert.deepEqual([next(404).next, next(404).reason], ["forget", "WorkloadGone"]);
  assert.equal(next(409).next, "fresh");
  for (const status of [429, 500, 503, 0]) {
    assert.deepEqual([next(status).next, next(status).reason], ["back-off", "ServerBusy"]);
  }
  const asked = new ApiError(429, "", "words", { retryAfterMs: 2000 });
  assert.equal(applyFailure(asked).retryAfterMs, 2000);
  assert.equal(next(422).next, "leave");
});

test("applyFailure() tries no 403 again in the cycle, whatever its words and causes", () => {
  const words = fc.oneof(
    fc.string(),
    fc.tuple(fc.string(), fc.string(), fc.string()).map(([resource, group, where]) =>
      RBAC(resource, group, where)
    ),
    fc.string().map((text) => `admission webhook "w" denied the request: ${text}`),
  );
  const anything = fc.tuple(words, fc.array(fc.string(), { maxLength: 2 }));
  fc.assert(
    fc.property(anything, ([message, causes]) => {
      const failure = applyFailure(new ApiError(403, "Forbidden", message, { causes }));
      // A webhook that can't be reached is no answer of 403, but its words may be quoted in one.
      assert.equal(failure.next, "leave");
      assert.equal(failure.permission !== undefined, failure.reason === "RBACError");
      assert.ok(failure.message.length > 0 || message === "");
    }),
  );
});
