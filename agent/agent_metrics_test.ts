import assert from "node:assert/strict";
import { Registry } from "prom-client";
import type { ContainerView, NodeView, PodView } from "../shared/view/node_view.ts";
import { createAgentMetrics } from "./agent_metrics.ts";

function container(name: string, fields: Partial<ContainerView> = {}): ContainerView {
  const figures = { need: 0, share: 0, target: 0, floor: 0, ceiling: 0, weight: 1, credit: 1 };
  return { name, id: `id-of-${name}`, ...figures, ownLimit: 0, limit: 0, ...fields };
}

function podOf(name: string, containers: readonly ContainerView[]): PodView {
  const figures = { demand: 0, need: 0, limit: 0, floor: 0, ceiling: 0, ownLimit: 0 };
  const bounds = { revision: 1, reason: "" };
  const uid = `uid-of-${name}`;
  return {
    namespace: "shop",
    pod: name,
    uid,
    ...figures,
    price: null,
    bounds,
    containers: [...containers],
  };
}

Deno.test({
  name:
    "mbcas_pod_unenforced_limits counts a pod's containers without a quota, and names no others",
  permissions: "none",
  async fn() {
    const registry = new Registry();
    const pods = [
      podOf("web", [container("app", { quotaOff: true }), container("log", { enforced: 100 })]),
      podOf("db", [container("app", { enforced: 100 })]),
    ];
    const node = { allocatable: 1000, capacity: 900, unmanaged: 0, committed: 0 };
    const view = {
      node: "n",
      at: "2026-01-01T00:00:00Z",
      mode: "uncongested",
      price: 0,
      ...node,
      pods,
    } as const;
    createAgentMetrics({ registry, view: () => view, throttledSeconds: () => new Map() });
    const series = (await registry.metrics()).split("\n")
      .filter((line) => line.startsWith("mbcas_pod_unenforced_limits"));
    assert.deepEqual(series, ['mbcas_pod_unenforced_limits{namespace="shop",pod="web"} 1']);
  },
});

Deno.test({
  name: "createAgentMetrics() counts scarce time and the limits that changed for it",
  permissions: "none",
  async fn() {
    const registry = new Registry();
    const figures = { allocatable: 1000, capacity: 900, unmanaged: 0, committed: 0, price: 1 };
    const named = { node: "n", at: "2026-01-01T00:00:00Z" };
    const congested = { mode: "congested", state: "scarce" } as const;
    let held: Pick<NodeView, "held"> = {};
    const metrics = createAgentMetrics({
      registry,
      view: () => ({ ...named, ...congested, ...figures, ...held, pods: [] }),
      throttledSeconds: () => new Map(),
    });
    const heldSeries = async (): Promise<string[]> =>
      (await registry.metrics()).split("\n").filter((line) => /^mbcas_node_limits_held/.test(line));
    assert.deepEqual(await heldSeries(), []);
    held = { held: "SchedExt" };
    assert.deepEqual(await heldSeries(), ['mbcas_node_limits_held{reason="SchedExt"} 1']);
    held = {};
    assert.deepEqual(await heldSeries(), []);
    const scarce = { state: "scarce", since: 0 } as const;
    const ample = { state: "ample", since: 3000 } as const;
    const lowered = { from: 800, limit: 450, changedFor: "NodeCongested" } as const;
    const released = { from: 450, limit: 800, changedFor: "CPUFree" } as const;
    metrics.decided({ now: 1000, state: scarce, seats: [lowered, lowered] });
    metrics.decided({ now: 1500, state: scarce, seats: [] });
    metrics.decided({ now: 3000, state: ample, seats: [released] });
    metrics.decided({
      now: 9000,
      state: ample,
      seats: [{ ...lowered, changedFor: "CeilingFell" }],
    });
    const series = (await registry.metrics()).split("\n")
      .filter((line) => /^mbcas_(node_scarce|limits)/.test(line)).sort();
    assert.deepEqual(series, [
      "mbcas_limits_lowered_total 2",
      "mbcas_limits_to_ceiling_total 1",
      "mbcas_node_scarce 1",
      "mbcas_node_scarce_seconds_total 2",
    ]);
  },
});
