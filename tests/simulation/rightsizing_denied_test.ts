/**
 * Property 28 in place: a right that is missing in the middle of a workload's pods.
 *
 * @module
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { ApiError } from "../../shared/api/api_error.ts";
import { MI } from "../fixtures/rightsizing/rightsizing_facts.ts";
import {
  freeContainers,
  inWorld,
  ownContainers,
  workloadsOf,
  worldProperty,
} from "../fixtures/rightsizing/rightsizing_worlds.ts";

const MINUTE_MS = 60_000;
const PODS = 3;

worldProperty(
  "property 28: after a 403 at one of several pods no other is tried in the cycle, what was done is in force, and the others go on",
  [workloadsOf(freeContainers), fc.nat(2), fc.nat(PODS - 1)],
  (workloads, index, at) => {
    const usage = { cpu: 3000, memory: 800 * MI };
    const all = workloads.map((one) => ({ ...one, pods: PODS, usage }));
    const denied = all[index % all.length] ?? assert.fail("no workload");
    const name = `${denied.name}-${at}`;
    return inWorld(all, async (scene) => {
      const message = `pods "${name}" is forbidden: User "u" cannot patch resource ` +
        '"pods/resize" in API group "" in the namespace "shop"';
      scene.refusals.set(name, new ApiError(403, "Forbidden", message));
      const before = scene.podsOf(denied.name);
      const requestsOf = (workload: string): number[][] =>
        scene.podsOf(workload).map(({ containers }) =>
          containers.filter((one) => !one.sidecar).map(({ requests: { cpu: requestCPU = 0 } }) =>
            requestCPU
          )
        );
      scene.policy("all", { intervalMs: 60 * MINUTE_MS });
      await scene.run(50 * MINUTE_MS);
      const tried = scene.resizes.filter((pod) => pod.startsWith(`${denied.name}-`));
      assert.deepEqual(tried, Array.from({ length: at + 1 }, (_, pod) => `${denied.name}-${pod}`));
      const { status, reason, message: reported, inForce = [], recommendations = [] } =
        scene.recordOf(denied.name) ?? {};
      assert.deepEqual([status, reason], ["Error", "RBACError"]);
      assert.match(reported ?? "", new RegExp(`${name}: missing: patch pods/resize .*shop$`));
      const wanted = recommendations.map(({ cpu }) => cpu);
      assert.equal(wanted.length, ownContainers(denied).length);
      assert.deepEqual(requestsOf(denied.name).slice(0, at), Array(at).fill(wanted));
      // The one that was refused and those behind it are untouched.
      assert.deepEqual(scene.podsOf(denied.name).slice(at), before.slice(at));
      assert.deepEqual(inForce.map(({ cpu }) => cpu), at === 0 ? [] : wanted);
      const others = all.filter((one) => one !== denied);
      for (const other of others) {
        assert.equal(scene.recordOf(other.name)?.status, "Applied");
        const due = scene.recordOf(other.name)?.recommendations.map(({ cpu }) => cpu);
        assert.deepEqual(requestsOf(other.name), Array(PODS).fill(due));
      }
      scene.refusals.clear();
      await scene.run(60 * MINUTE_MS);
      assert.deepEqual(requestsOf(denied.name), Array(PODS).fill(wanted));
      assert.equal(scene.recordOf(denied.name)?.status, "Applied");
    });
  },
);
