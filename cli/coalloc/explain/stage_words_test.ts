import assert from "node:assert/strict";
import { sampleContainerView } from "../../../tests/fixtures/node_views.ts";
import {
  boundsNotes,
  boundsWords,
  clearingWords,
  demandWords,
  pacingWords,
  pressureWords,
  readingWords,
} from "./stage_words.ts";

const CALM = { usage: 30, demand: 40, heldBackMsPerSecond: 0, throttledShare: 0 };

Deno.test({
  name: "pressureWords() names what makes the capacity smaller, and says nothing without",
  permissions: "none",
  fn() {
    assert.equal(pressureWords({}), "");
    assert.equal(pressureWords({ pressures: [] }), "");
    assert.equal(
      pressureWords({ pressures: ["MemoryPressure", "DiskPressure"] }),
      "; the capacity is smaller for MemoryPressure and DiskPressure: each takes a tenth",
    );
  },
});

Deno.test({
  name: "readingWords() and demandWords() tell a throttled container from a calm and a new one",
  permissions: "none",
  fn() {
    const calm = sampleContainerView(CALM);
    assert.equal(readingWords(calm), "uses 30m of a quota of 200m; not held back");
    assert.equal(demandWords(calm), "would use 40m: its recent usage with room for its swings");
    assert.equal(
      demandWords({ ...calm, usage: 40 }),
      "would use 40m: its usage, since nothing holds it back",
    );
    const { usage: _usage, demand: _demand, enforced: _enforced, ...young } = calm;
    assert.equal(readingWords(young), "no readings yet");
    assert.match(demandWords(young), /^unknown/);
    assert.match(readingWords({ ...young, usage: 5 }), /^uses 5m without a quota/);
  },
});

Deno.test({
  name: "clearingWords() explains the share in each mode",
  permissions: "none",
  fn() {
    const view = sampleContainerView({ need: 480, share: 480, target: 600 });
    assert.equal(
      clearingWords(view, { mode: "uncongested", price: 0 }),
      "need 480m, share 480m: all needs fit the node; 120m lent on top",
    );
    assert.match(clearingWords(view, { mode: "overloaded", price: null }), /floors alone exceed/);
    assert.equal(
      clearingWords({ ...view, target: 480 }, { mode: "congested", price: 0.2 }),
      "need 480m, share 480m: weight × credit / price = 100 × 1.20 / 0.2 = 600m, " +
        "enough for its need",
    );
  },
});

Deno.test({
  name: "boundsNotes() names each hold with the rules that hold, and a boost",
  permissions: "none",
  fn() {
    const rules = ["BurstFactor", "HPADamped", "PodNotReady", "HPAScaled", "NodeDraining"]
      .map((reason) => ({ reason, message: "as told" }));
    const note = (held: "half" | "lower" | "both"): string => boundsNotes({ held }, { rules });
    assert.equal(note("half"), "; held, lowered by half steps only: HPADamped");
    assert.equal(note("lower"), "; held, not to be lowered: PodNotReady, HPAScaled");
    assert.equal(note("both"), "; held as it is: NodeDraining");
    assert.equal(boundsNotes({ held: "both" }, {}), "; held as it is");
    assert.match(boundsNotes({ boost: true }, { rules }), /^; boosted while the pod starts/);
    assert.equal(boundsNotes({}, { rules }), "");
  },
});

Deno.test({
  name: "demandWords() says whether a metric or the kernel asks for more",
  permissions: "none",
  fn() {
    const calm = sampleContainerView({ ...CALM, usage: 40 });
    const metric = demandWords({ ...calm, demand: 900 }, 900);
    assert.equal(metric, "would use 900m: a metric asks for 900m");
    assert.equal(
      demandWords(calm, 25),
      "would use 40m: its usage, since nothing holds it back; a metric asks for 25m",
    );
    const { demand: _demand, ...young } = calm;
    assert.match(demandWords(young, 25), /^unknown/);
  },
});

Deno.test({
  name: "boundsWords() and pacingWords() name bounds and the target",
  permissions: "none",
  fn() {
    assert.equal(
      boundsWords(sampleContainerView()),
      "floor 100m, ceiling 800m, weight 100 × credit 1.20",
    );
    assert.equal(pacingWords(sampleContainerView({ limit: 450 })), "limit 450m is at its target");
  },
});
