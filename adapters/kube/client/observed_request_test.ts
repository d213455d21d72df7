import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { serveCanned, statusAnswer } from "../../../tests/fixtures/canned_server.ts";
import { type ObservedRequest, verbAndResource } from "./observed_request.ts";

pure("verbAndResource() are those of RBAC", () => {
  const core = "/api/v1";
  const ours = "/apis/allocation.mbcas.io/v1alpha1";
  for (
    const [request, verb, resource] of [
      [{ path: `${core}/pods` }, "list", "pods"],
      [{ path: `${core}/pods`, query: { watch: "true" } }, "watch", "pods"],
      [{ path: `${core}/namespaces` }, "list", "namespaces"],
      [{ path: `${core}/namespaces/shop` }, "get", "namespaces"],
      [{ path: `${core}/namespaces/shop/pods` }, "list", "pods"],
      [
        { path: `${core}/namespaces/shop/pods/web/resize`, method: "PATCH" },
        "patch",
        "pods/resize",
      ],
      [
        { path: `${ours}/namespaces/shop/podallocations`, method: "POST" },
        "create",
        "podallocations",
      ],
      [
        { path: `${ours}/namespaces/shop/podallocations/a`, method: "DELETE" },
        "delete",
        "podallocations",
      ],
      [
        { path: `${ours}/namespaces/shop/podallocations/a/status`, method: "PUT" },
        ...["update", "podallocations/status"] as const,
      ],
      [{ path: ours }, "get", "none"],
      [{ path: "/version" }, "get", "none"],
    ] as const
  ) assert.deepEqual(verbAndResource(request), { verb, resource }, request.path);
});

Deno.test("createHTTPConnection() observes each request with the status of its response", async () => {
  const seen: ObservedRequest[] = [];
  await using server = serveCanned(
    ({ path }) =>
      path.endsWith("gone") ? statusAnswer(404, { reason: "NotFound" }) : new Response("{}\n"),
    { observe: (request) => void seen.push(request) },
  );
  const { connection } = server;
  await connection.request({ path: "/api/v1/nodes/a" });
  await connection.request({ path: "/api/v1/nodes/gone" }).catch(() => {});
  await connection.request({ path: "/api/v1/nodes/a", signal: AbortSignal.abort() }).catch(
    () => {},
  );
  for await (const _ of connection.lines({ path: "/api/v1/pods", query: { watch: "true" } }));
  assert.deepEqual(seen.map(({ verb, resource, status }) => [verb, resource, status]), [
    ["get", "nodes", 200],
    ["get", "nodes", 404],
    ["get", "nodes", 0],
    ["watch", "pods", 200],
  ]);
  assert.ok(seen.every(({ tookMs }) => tookMs >= 0));
});
