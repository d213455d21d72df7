import assert from "node:assert/strict";
import { type EnvyInput, largestEnvy } from "./envy.ts";

/** Two minutes at 1 s. */
function pod(got: number, wanted: number, weight = 100): EnvyInput {
  const usage = new Float32Array(120).fill(got);
  return { usage, demand: new Float32Array(120).fill(wanted), weight };
}

function envy(...pods: EnvyInput[]): number {
  return Number(largestEnvy(pods, 1).toFixed(6));
}

Deno.test({
  name: "largestEnvy() is the share of its wishes that a pod would have got from the other's CPU",
  permissions: "none",
  fn() {
    // With 600 m in place of its 400 m the first would have a fifth of its 1000 m more.
    assert.equal(envy(pod(400, 1000), pod(600, 1000)), 0.2);
    // It wants no more than 450 m.
    assert.equal(envy(pod(400, 450), pod(600, 1000)), 0.111111);
    assert.equal(envy(pod(500, 1000), pod(500, 1000)), 0);
  },
});

Deno.test({
  name: "largestEnvy() compares at the pods' weights",
  permissions: "none",
  fn() {
    assert.equal(envy(pod(300, 1000, 100), pod(600, 1000, 200)), 0);
    // The heavier one would have had twice 450 m.
    assert.equal(envy(pod(450, 1000, 100), pod(450, 1000, 200)), 0.45);
  },
});

Deno.test({
  name: "largestEnvy() is 0 for one pod, and for one that wants nothing",
  permissions: "none",
  fn() {
    assert.equal(envy(pod(1, 1000)), 0);
    assert.equal(envy(pod(0, 0), pod(500, 500)), 0);
    assert.equal(envy(), 0);
  },
});
