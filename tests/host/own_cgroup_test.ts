import assert from "node:assert/strict";
import { openCgroupTree } from "../../adapters/cgroup_files.ts";
import { systemClock } from "../../adapters/system_clock.ts";
import { createNodeSampler } from "../../agent/sampling/node_sampler.ts";
import { hostOffer, makeOwnCgroup } from "./own_cgroup.ts";

const QUOTA = 200;
const TICK_MS = 250;
const TICKS = 12;
const TRIES = 6;

/** Sums over the ticks of one measurement. */
interface Sum {
  readonly wallMs: number;
  readonly usedMs: number;
  readonly throttledMs: number;
  readonly periods: number;
  readonly throttledPeriods: number;
}

/** The figure that is not as a process that always wants more than its quota should have it. */
function fault(
  { wallMs, usedMs, throttledMs, periods, throttledPeriods }: Sum,
): string | undefined {
  const entitledMs = wallMs * QUOTA / 1000;
  const idleMs = wallMs - usedMs;
  if (Math.abs(usedMs - entitledMs) > 0.05 * entitledMs) return "usage";
  if (Math.abs(throttledMs - idleMs) > 0.15 * idleMs) return "throttled time";
  return periods > 0 && throttledPeriods >= 0.8 * periods ? undefined : "throttled periods";
}

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

    const measured = async (): Promise<Sum> => {
      look();
      const sum = { wallMs: 0, usedMs: 0, throttledMs: 0, periods: 0, throttledPeriods: 0 };
      for (let tick = 0; tick < TICKS; tick++) {
        await systemClock.sleep(TICK_MS);
        const sample = look();
        assert.ok(sample, "a container that runs undisturbed has a sample at each look");
        assert.equal(sample.quota, QUOTA);
        sum.wallMs += sample.intervalMs;
        sum.usedMs += sample.usage / 1000 * sample.intervalMs;
        sum.throttledMs += sample.throttledMsPerS / 1000 * sample.intervalMs;
        sum.periods += sample.periods;
        sum.throttledPeriods += sample.throttledPeriods;
      }
      return sum;
    };
    look();
    assert.deepEqual(sampler.pods().map(({ uid }) => uid), [own.podUID]);
    // The first second is left out: the shell starts, the quota of the first periods is unspent.
    await systemClock.sleep(1000);
    // Where other programs want the CPUs, too, the process waits for one: it neither runs nor is it
    // throttled. One time of six without them will do.
    const faults: string[] = [];
    while (faults.length < TRIES) {
      const sum = await measured();
      const found = fault(sum);
      if (found === undefined) return;
      faults.push(`${found}: ${JSON.stringify(sum)}`);
    }
    assert.fail(faults.join("\n"));
  },
});
