import assert from "node:assert/strict";
import { DEFAULT_MARKET_CONFIG } from "../../../controller/config.ts";
import { CORES, CROWD, type CrowdMember, PERFORMERS, PLACES, PRIORITIES } from "./crowd.ts";

const most = ({ replicas, mostReplicas = replicas }: CrowdMember): number => mostReplicas;

Deno.test("CROWD fits the node by its requests, with every replica and room for the product", () => {
  const requests = CROWD.reduce((sum, member) => sum + member.request * most(member), 0);
  assert.ok(requests + 200 <= 1000 * CORES, `${requests} m`);
});

Deno.test("CROWD fits its quotas by original limits and a pod more, and not by the limits that the market may set", () => {
  for (const { name, limitsCPU, requestsCPU, container } of PLACES) {
    const here = CROWD.filter(({ place }) => place === name);
    const sum = (of: (member: CrowdMember) => number): number =>
      here.reduce((total, member) => total + of(member) * most(member), 0);
    assert.ok(sum(({ request }) => request) <= requestsCPU, name);
    const largest = Math.max(...here.map(({ limit }) => limit));
    assert.ok(sum(({ limit }) => limit) + largest < limitsCPU, name);
    const ceiling = ({ limit, optedOut = false }: CrowdMember): number =>
      optedOut
        ? limit
        : Math.min(DEFAULT_MARKET_CONFIG.burstFactor * limit, container?.max ?? Infinity);
    assert.ok(sum(ceiling) + largest > limitsCPU, name);
    for (const { request, limit } of here) {
      assert.ok(request >= (container?.min ?? 0) && limit <= (container?.max ?? Infinity), name);
    }
  }
});

Deno.test("CROWD has eight equal workers, two priorities, one scaled, one opted out, one never Ready", () => {
  assert.equal(PERFORMERS.filter(({ member }) => member.name === "worker").length, 8);
  assert.deepEqual([...PRIORITIES].sort((a, b) => a - b), [1000, 4000]);
  assert.equal(CROWD.filter(({ mostReplicas }) => mostReplicas !== undefined).length, 1);
  assert.equal(CROWD.filter(({ optedOut }) => optedOut).length, 1);
  assert.equal(CROWD.filter(({ neverReady }) => neverReady).length, 1);
  assert.deepEqual(PERFORMERS.length, new Set(PERFORMERS.map(({ name }) => name)).size);
});
