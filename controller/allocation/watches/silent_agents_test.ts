import assert from "node:assert/strict";
import fc from "fast-check";
import { agentLeaseRef, type Lease } from "../../../shared/api/lease.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { type AgentsView, createSilentAgents } from "./silent_agents.ts";

const SILENCE_MS = 300_000;

function lease(nodeName: string, renewTimeMs: number): Lease {
  return {
    metadata: { ...agentLeaseRef(nodeName), uid: nodeName, resourceVersion: `${renewTimeMs}` },
    holder: nodeName,
    durationSeconds: 60,
    acquireTimeMs: 0,
    renewTimeMs,
    transitions: 0,
  };
}

function view(nowMs: number, change: Partial<AgentsView> = {}): AgentsView {
  const usual = { synced: true, leases: [], managedNodes: [], isReady: () => true };
  return { nowMs, silentAfterMs: SILENCE_MS, ...usual, ...change };
}

pure("look() calls an agent silent 5 min after the last renewal that it saw", () => {
  const agents = createSilentAgents();
  const stuck = { leases: [lease("a", 7)] };
  assert.deepEqual([...agents.look(view(1000, stuck)).silent], []);
  assert.deepEqual([...agents.look(view(1000 + SILENCE_MS - 1, stuck)).silent], []);
  assert.deepEqual([...agents.look(view(1000 + SILENCE_MS, stuck)).silent], ["a"]);
  const back = agents.look(view(2000 + SILENCE_MS, { leases: [lease("a", 8)] }));
  assert.deepEqual(back, { silent: new Set(), overdue: 0, agents: 1 });
});

pure("look() goes by its own clock: what a lease says of time proves nothing", () => {
  const agents = createSilentAgents();
  for (const [nowMs, renewTimeMs] of [[0, 9e12], [SILENCE_MS, -9e12], [2 * SILENCE_MS, 5]]) {
    const leases = [lease("a", renewTimeMs ?? 0)];
    assert.equal(agents.look(view(nowMs ?? 0, { leases })).silent.size, 0);
  }
});

pure("look() begins anew after each time without leases in sync", () => {
  const agents = createSilentAgents();
  const stuck = { leases: [lease("a", 7)] };
  agents.look(view(0, stuck));
  assert.equal(agents.look(view(SILENCE_MS, { ...stuck, synced: false })).silent.size, 0);
  assert.equal(agents.look(view(SILENCE_MS + 1, stuck)).silent.size, 0);
  assert.equal(agents.look(view(2 * SILENCE_MS, stuck)).silent.size, 0);
  assert.equal(agents.look(view(2 * SILENCE_MS + 1, stuck)).silent.size, 1);
});

pure("look() expects an agent where there are managed pods, from when it first saw them", () => {
  const agents = createSilentAgents();
  agents.look(view(0));
  const managed = { managedNodes: ["a"] };
  assert.equal(agents.look(view(100, managed)).silent.size, 0);
  assert.equal(agents.look(view(SILENCE_MS, managed)).silent.size, 0);
  assert.deepEqual([...agents.look(view(SILENCE_MS + 100, managed)).silent], ["a"]);
});

pure("look() expects nothing of a node that is not Ready, nor of another's lease", () => {
  const agents = createSilentAgents();
  const leader = {
    ...lease("a", 1),
    metadata: { ...lease("a", 1).metadata, name: "mbcas-controller" },
  };
  const change = { leases: [lease("a", 1), leader], isReady: () => false };
  agents.look(view(0, change));
  assert.deepEqual(agents.look(view(SILENCE_MS, change)), {
    silent: new Set(),
    overdue: 0,
    agents: 0,
  });
});

pure(
  "look() keeps an agent silent until it renews its lease, even if the controller loses its caches",
  () => {
    const agents = createSilentAgents();
    const silentAt = (nowMs: number, change: Partial<AgentsView>): string[] => [
      ...agents.look(view(nowMs, change)).silent,
    ];
    const stuck = { leases: [lease("a", 7), lease("b", 1)] };
    agents.look(view(0, stuck));
    const aloneSilent = { leases: [lease("a", 7), lease("b", 2)] };
    assert.deepEqual(silentAt(SILENCE_MS, aloneSilent), ["a"]);
    // The copy of the leases breaks and comes back.
    assert.deepEqual(silentAt(SILENCE_MS + 1, { ...aloneSilent, synced: false }), ["a"]);
    assert.deepEqual(silentAt(SILENCE_MS + 2, aloneSilent), ["a"]);
    // Another agent dies: two of two are too many, for the second one.
    assert.deepEqual(silentAt(2 * SILENCE_MS + 2, aloneSilent), ["a"]);
    // The node is not Ready for a while, and its lease is gone.
    assert.deepEqual(silentAt(2 * SILENCE_MS + 3, { ...aloneSilent, isReady: () => false }), ["a"]);
    const gone = { leases: [lease("b", 2)], managedNodes: ["a"] };
    assert.deepEqual(silentAt(2 * SILENCE_MS + 4, gone), ["a"]);
    assert.deepEqual(silentAt(2 * SILENCE_MS + 5, stuck), ["a"]);
    const renewed = { leases: [lease("a", 8), lease("b", 3)] };
    assert.deepEqual(silentAt(2 * SILENCE_MS + 6, renewed), []);
  },
);

pure(
  "look() counts silent agents as overdue, also those of nodes that are not Ready any more",
  () => {
    const agents = createSilentAgents();
    const renewals = Array.from({ length: 20 }, () => 0);
    /** All but the first `unheard` agents have renewed their leases since the last look. */
    const look = (nowMs: number, unheard: number, isReady = (_: string): boolean => true) => {
      const leases = renewals.map((renewal, index) => {
        renewals[index] = index < unheard ? renewal : nowMs;
        return lease(`n${index}`, renewals[index] ?? NaN);
      });
      const { silent, overdue } = agents.look(view(nowMs, { leases, isReady }));
      return { silent: silent.size, overdue };
    };
    look(0, 20);
    assert.deepEqual(look(SILENCE_MS, 2), { silent: 2, overdue: 2 });
    const down = (name: string): boolean => name !== "n0" && name !== "n1";
    assert.deepEqual(look(SILENCE_MS + 1, 2, down), { silent: 2, overdue: 2 });
    // Two more of the eighteen that are left are too many to fall silent.
    assert.deepEqual(look(2 * SILENCE_MS + 1, 4, down), { silent: 2, overdue: 4 });
    assert.deepEqual(look(2 * SILENCE_MS + 2, 0, down), { silent: 0, overdue: 0 });
  },
);

pure(
  "look() finds an agent silent beside a silent one with a node that is not Ready any more",
  () => {
    const agents = createSilentAgents();
    const look = (nowMs: number, renewals: readonly number[], down?: string) => {
      const leases = renewals.map((renewal, index) => lease(`n${index}`, renewal));
      return agents.look(view(nowMs, { leases, isReady: (name) => name !== down }));
    };
    look(0, [1, 1, 1]);
    const first = { silent: new Set(["n0"]), overdue: 1, agents: 3 };
    assert.deepEqual(look(SILENCE_MS, [1, 2, 2]), first);
    const second = { silent: new Set(["n0", "n1"]), overdue: 2, agents: 2 };
    assert.deepEqual(look(2 * SILENCE_MS, [1, 2, 3], "n0"), second);
    // Its node is Ready again: for the third, three of three are too many.
    const third = { silent: new Set(["n0", "n1"]), overdue: 3, agents: 3 };
    assert.deepEqual(look(3 * SILENCE_MS, [1, 2, 3]), third);
  },
);

pure("look() finds no agent silent while more than one and more than 10 % are overdue", () => {
  const silentOf = (count: number, overdue: number): number => {
    const agents = createSilentAgents();
    const leases = (renewTimeMs: number) =>
      Array.from(
        { length: count },
        (_, index) => lease(`n${index}`, index < overdue ? 0 : renewTimeMs),
      );
    agents.look(view(0, { leases: leases(0) }));
    const verdict = agents.look(view(SILENCE_MS, { leases: leases(1) }));
    assert.equal(verdict.overdue, overdue);
    assert.equal(verdict.agents, count);
    return verdict.silent.size;
  };
  assert.deepEqual([silentOf(1, 1), silentOf(5, 1), silentOf(5, 2)], [1, 1, 0]);
  assert.deepEqual([silentOf(30, 3), silentOf(30, 4), silentOf(1000, 100)], [3, 0, 100]);
});

pure(
  "look() finds an agent silent after 5 min, never too many at once, and until it renews its lease",
  () => {
    const step = fc.record({
      afterMs: fc.integer({ min: 0, max: SILENCE_MS }),
      synced: fc.boolean(),
      renewed: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
      ready: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const agents = createSilentAgents();
        const renewedMs = new Map<string, number>();
        const unseen = new Set<string>();
        const renewals = Array.from({ length: 12 }, () => 0);
        let nowMs = 0;
        let before = new Set<string>();
        for (const { afterMs, synced, renewed, ready } of steps) {
          nowMs += afterMs;
          const spoke = new Set<string>();
          renewed.forEach((yes, index) => {
            const name = `n${index}`;
            if (yes) {
              renewals[index] = (renewals[index] ?? 0) + 1;
              unseen.add(name);
            }
            if (synced && unseen.delete(name) && renewedMs.has(name)) spoke.add(name);
            if (!synced) renewedMs.set(name, Infinity);
            else if (spoke.has(name) || (renewedMs.get(name) ?? Infinity) === Infinity) {
              renewedMs.set(name, nowMs);
            }
          });
          const { silent, overdue, agents: expected } = agents.look(view(nowMs, {
            synced,
            leases: renewals.map((renewal, index) => lease(`n${index}`, renewal)),
            isReady: (name) => ready[Number(name.slice(1))] ?? false,
          }));
          // Nothing is expected of a node that is not Ready: an agent there is not one of too many.
          const late = renewals.flatMap((_, index) => {
            const name = `n${index}`;
            const isLate = nowMs - (renewedMs.get(name) ?? Infinity) >= SILENCE_MS;
            const staysSilent = before.has(name) && !spoke.has(name);
            return synced && ready[index] === true && (isLate || staysSilent) ? [name] : [];
          });
          assert.equal(expected, synced ? ready.filter((yes) => yes).length : 0);
          const believed = late.length <= Math.max(1, expected / 10) ? late : [];
          const still = before.difference(spoke);
          assert.deepEqual(new Set(silent), still.union(new Set(believed)));
          assert.equal(overdue, synced ? still.union(new Set(late)).size : 0);
          before = new Set(silent);
        }
      }),
    );
  },
);
