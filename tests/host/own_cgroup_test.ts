import assert from "node:assert/strict";
import { openCgroupTree } from "../../adapters/cgroup_files.ts";
import { systemClock } from "../../adapters/system_clock.ts";
import { createNodeSampler } from "../../agent/node_sampler.ts";
import { hostOffer, makeOwnCgroup } from "./own_cgroup.ts";

const QUOTA = 200;
const TICK_MS = 250;
const TICKS = 12;

const offer = hostOffer();
if ("reason" in offer) {
  console.log(`createNodeSampler() is not tried on this host: ${offer.reason}`);
}

Deno.test({
  name: "createNodeSampler() reads on this kernel what a busy process got and what held it back",
  ignore: "reason" in offer,
  async fn() {
    assert.ok("version" in offer);
    await using own = await makeOwnCgroup(offer.version, { quota: QUOTA });
    using tree = openCgroupTree(own.root);
    const sampler = createNodeSampler({ tree, cores: navigator.hardwareConcurrency });
    assert.equal(sampler.layout.version, offer.version);
    const look = () =>
      sampler.sample(systemClock.monotonic(), new Set([own.containerID]))
        .containers.get(own.containerID);

    // The first second is left out: the shell starts, the quota of the first periods is unspent.
    await systemClock.sleep(1000);
    look();
    const sum = { wallMs: 0, usedMs: 0, heldBackMs: 0, periods: 0, throttledPeriods: 0 };
    for (let tick = 0; tick < TICKS; tick++) {
      await systemClock.sleep(TICK_MS);
      const sample = look();
      assert.ok(sample, "a container that runs undisturbed has a sample at each look");
      assert.equal(sample.quota, QUOTA);
      assert.equal(sample.podUID, own.podUID);
      sum.wallMs += sample.intervalMs;
      sum.usedMs += sample.usage / 1000 * sample.intervalMs;
      sum.heldBackMs += sample.heldBack / 1000 * sample.intervalMs;
      sum.periods += sample.periods;
      sum.throttledPeriods += sample.throttledPeriods;
    }
    const entitledMs = sum.wallMs * QUOTA / 1000;
    const idleMs = sum.wallMs - sum.usedMs;
    const seen = JSON.stringify(sum);
    assert.ok(Math.abs(sum.usedMs - entitledMs) <= 0.05 * entitledMs, seen);
    assert.ok(Math.abs(sum.heldBackMs - idleMs) <= 0.15 * idleMs, seen);
    assert.ok(sum.throttledPeriods >= 0.8 * sum.periods && sum.periods > 0, seen);
  },
});
