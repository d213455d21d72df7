/** Whoever is on the board, what is told is true, and nothing held back is missing. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { ContainerSample, NodeSample } from "../shared/cgroup/sample.ts";
import type { CgroupTree } from "../shared/cgroup/tree.ts";
import { rowsOf } from "../tests/fixtures/counter_rows.ts";
import { createMemoryTree } from "../tests/fixtures/memory_tree.ts";
import { CALM_SAMPLE_MS } from "./calm_board.ts";
import { createNodeSampler } from "./node_sampler.ts";

const LOOK_MS = 250;
const QUOTA_MS = 20;
/** After this many looks without use nothing is held back any more. */
const LAST_LOOKS = 20;

interface Container {
  readonly pod: string;
  readonly id: string;
  usage: number;
  throttled: number;
  periods: number;
}

/** The containers of pods that have one or two with a limit of 200 m. */
function containersOf(sizes: readonly number[]): Container[] {
  return sizes.flatMap((size, pod) =>
    Array.from({ length: size }, (_, place) => ({
      pod: `kubepods/burstable/pod0a4f7c1e-5d0b-4f6e-9a51-${String(pod).padStart(12, "0")}`,
      id: `${pod}${place}`.padStart(64, "a"),
      usage: 0,
      throttled: 0,
      periods: 0,
    }))
  );
}

/** What a container had used by the time of each look, ms. */
type History = ReadonlyMap<string, readonly number[]>;

/** Checks what a sampler tells of each container against what was used, and adds up what was lost. */
function createLedger(history: History) {
  const sums = new Map<string, { heldBackMs: number; at: number }>();
  const check = ({ containerID, at, intervalMs, usage }: ContainerSample): void => {
    const used = history.get(containerID) ?? [];
    const [before, now] = [used[(at - intervalMs) / LOOK_MS], used[at / LOOK_MS]];
    const usedMs = (now ?? NaN) - (before ?? NaN);
    assert.ok(Math.abs(usage * intervalMs / 1000 - usedMs) < 1e-6, `${usedMs} ms by ${at}`);
  };
  return {
    sums,
    take({ containers }: NodeSample): void {
      for (const id of [...sums.keys()]) if (!containers.has(id)) sums.delete(id);
      for (const [id, sample] of containers) {
        const sum = sums.get(id) ?? { heldBackMs: 0, at: -Infinity };
        if (sample.at === sum.at) continue;
        check(sample);
        // What a burst interrupts is not told: less than a second in which nothing was held back.
        const missedMs = sample.at - sample.intervalMs - sum.at;
        assert.ok(!(missedMs < 0) && (sum.at < 0 || missedMs < CALM_SAMPLE_MS), `${missedMs} ms`);
        sum.heldBackMs += sample.heldBack * sample.intervalMs / 1000;
        sum.at = sample.at;
        sums.set(id, sum);
      }
    },
  };
}

/** What happens before one look. */
interface Step {
  /** By container, ms. */
  readonly used: readonly number[];
  readonly event: { readonly pod: number; readonly kind: "gone" | "back" | "quota" } | null;
}

const step: fc.Arbitrary<Step> = fc.record({
  used: fc.array(fc.constantFrom(0, 0, 0, 1, 4, 9, 14, 30), { minLength: 8, maxLength: 8 }),
  event: fc.option(
    fc.record({
      pod: fc.nat(3),
      kind: fc.constantFrom("gone" as const, "back" as const, "quota" as const),
    }),
    { freq: 8 },
  ),
});

Deno.test({
  name:
    "createCalmBoard() tells what was used, and all that was held back, whoever comes, goes and bursts",
  permissions: "none",
  fn() {
    fc.assert(fc.property(
      fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 1, maxLength: 4 }),
      fc.array(step, { minLength: 10, maxLength: 60 }),
      agrees,
    ));
  },
});

function agrees(sizes: readonly number[], steps: readonly Step[]): void {
  const tree = createMemoryTree();
  const containers = containersOf(sizes);
  const gone = new Set<string>();
  const quotas = new Map<string, number>();

  const put = (directory: string, one: Omit<Container, "pod" | "id">, quota: number): void => {
    tree.write(
      `cpu/${directory}/cpu.stat`,
      `nr_periods ${one.periods}\nnr_throttled ${one.periods}\n` +
        `throttled_time ${one.throttled * 1e6}\n`,
    );
    tree.write(`cpu/${directory}/cpu.cfs_quota_us`, `${quota}\n`);
    tree.write(`cpu/${directory}/cpu.cfs_period_us`, "100000\n");
    tree.write(`cpu/${directory}/cpu.shares`, "102\n");
    tree.write(`cpuacct/${directory}/cpuacct.usage`, `${one.usage * 1e6}\n`);
  };
  const write = (): void => {
    for (const pod of new Set(containers.map((one) => one.pod))) {
      if (gone.has(pod)) continue;
      const inside = containers.filter((one) => one.pod === pod);
      const usage = inside.reduce((sum, one) => sum + one.usage, 0);
      put(pod, { usage, throttled: 0, periods: 0 }, -1);
      for (const one of inside) {
        put(`${pod}/${one.id}`, one, (quotas.get(pod) ?? QUOTA_MS) * 1000);
      }
    }
  };
  write();
  const fast: CgroupTree = { ...tree, counterRows: () => rowsOf(tree) };
  const named = new Set(containers.map(({ id }) => id));
  const short = createNodeSampler({ tree: fast, cores: 2 });
  const long = createNodeSampler({ tree, cores: 2 });
  const history = new Map(containers.map(({ id }): [string, number[]] => [id, []]));
  const [told, whole] = [createLedger(history), createLedger(history)];

  const idle: Step = { used: Array.from({ length: 8 }, () => 0), event: null };
  [...steps, ...Array.from({ length: LAST_LOOKS }, () => idle)].forEach(({ used, event }, look) => {
    const at = look * LOOK_MS;
    const pod = containers.find((one) => one.pod.endsWith(String(event?.pod ?? "none")))?.pod;
    if (pod !== undefined && event?.kind === "gone") {
      gone.add(pod);
      for (const root of ["cpu", "cpuacct"]) tree.remove(`${root}/${pod}`);
    } else if (pod !== undefined && event?.kind === "back") gone.delete(pod);
    else if (pod !== undefined) quotas.set(pod, (quotas.get(pod) ?? QUOTA_MS) === 20 ? 40 : 20);
    containers.forEach((one, index) => {
      if (gone.has(one.pod)) return;
      const ms = used[index] ?? 0;
      one.usage += ms;
      if (ms < QUOTA_MS) return;
      one.periods += 2;
      one.throttled += 50;
    });
    for (const { id, usage } of containers) history.get(id)?.push(usage);
    write();
    told.take(short.sample(at, named));
    whole.take(long.sample(at, named));
    assert.deepEqual([...told.sums.keys()].sort(), [...whole.sums.keys()].sort(), `at ${at}`);
  });
  for (const [id, { heldBackMs }] of whole.sums) {
    const sum = told.sums.get(id);
    assert.ok(
      Math.abs((sum?.heldBackMs ?? NaN) - heldBackMs) < 1e-6,
      `${sum?.heldBackMs} of ${heldBackMs} ms held back`,
    );
  }
}
