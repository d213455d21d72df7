import assert from "node:assert/strict";
import { openCgroupTree } from "../../adapters/cgroup_files.ts";
import { systemClock } from "../../adapters/system_clock.ts";
import { createNodeSampler } from "../../agent/sampling/node_sampler.ts";
import { BENCH_NODE, startAgentAPI } from "../../lab/bench/agent/api.ts";
import { hostOffer, makeOwnCgroup } from "./own_cgroup.ts";

const QUOTA = 200;
const TICK_MS = 250;
const TICKS = 12;
const TRIES = 6;

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

/** A version 1 hierarchy without pods. */
async function emptyHierarchy(): Promise<string> {
  const root = await Deno.makeTempDir({ prefix: "agent-end-" });
  for (const folder of ["cpuset", "cpu/kubepods", "cpuacct/kubepods"]) {
    await Deno.mkdir(`${root}/${folder}`, { recursive: true });
  }
  for (
    const [file, text] of [
      ["cpuset/cpuset.effective_cpus", "0-3\n"],
      ["cpu/kubepods/cpu.stat", "nr_periods 1\nnr_throttled 1\nthrottled_time 7\n"],
      ["cpu/kubepods/cpu.shares", "512\n"],
      ["cpuacct/kubepods/cpuacct.usage", "1\n"],
    ] as const
  ) await Deno.writeTextFile(`${root}/${file}`, text);
  return root;
}

/** The line of the log that has the address. */
const STARTED = /"message":"Agent started".*"listen":"([^"]+)"/;

Deno.test("the agent ends in time and well at SIGTERM while a client does not read", async () => {
  await using api = await startAgentAPI({ allocations: [], allocatable: 4000, onDesired() {} });
  const root = await emptyHierarchy();
  const agent = new URL("../../agent/main.ts", import.meta.url).pathname;
  const paths = ["--kubeconfig", api.kubeconfig, "--cgroup-root", root];
  const args = [...paths, "--node-name", BENCH_NODE, "--listen", "127.0.0.1:0"];
  await using child = new Deno.Command("sh", {
    args: ["-c", 'exec "$0" "$@"', Deno.execPath(), "run", "-qA", "--no-check", agent, ...args],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let log = "";
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    log += text;
    const [, address] = STARTED.exec(log) ?? [];
    if (address === undefined) continue;
    const { hostname, port } = new URL(`http://${address}`);
    using client = await Deno.connect({ hostname, port: Number(port) });
    const requests = "GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n".repeat(2000);
    // More answers than buffers hold: the agent stops reading, and this write does not end.
    client.write(new TextEncoder().encode(requests)).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const late = setTimeout(() => child.kill("SIGKILL"), 8000);
    child.kill("SIGTERM");
    const { code, signal } = await child.status;
    clearTimeout(late);
    assert.deepEqual([code, signal], [0, null]);
    break;
  }
  await Deno.remove(root, { recursive: true });
  assert.match(log, STARTED);
});
