/**
 * Properties of what is read from labels and annotations of placement, whatever stands in them.
 *
 * @module
 */
import { pure } from "../fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import * as keys from "../../shared/api/placement_keys.ts";
import { placementFaultText, readPlacementSpec } from "../../shared/placement/eligibility.ts";

/** Values that are valid somewhere, their neighbours, and text of all kinds. */
const anyText = fc.oneof(
  fc.constantFrom("true", "false", "70%", "70", "0", "100", "101", "-1", "2h", "0s", "0 2 * * *"),
  fc.constantFrom("CRON_TZ=Europe/Berlin 0 2 * * *", "CRON_TZ=x 0 2 * * *", "* * 31 2 *", "1 2 3"),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.integer().map(String),
  fc.stringMatching(/^[0-9*,/?a-zA-Z -]{1,20}$/),
);

const { PLACEMENT_PREFIX: _, ...named } = keys;
const anyTexts = fc.dictionary(
  fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...Object.values(named)) },
    fc.constantFrom("constructor", "__proto__", "app", "spotalis.io/other"),
  ),
  anyText,
);
const enabled = { [keys.ENABLED]: "true" };
const anyWorded = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      labels: fc.oneof(fc.constant(enabled), anyTexts),
      annotations: anyTexts,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      labels: fc.constant(enabled),
      annotations: fc.oneof(
        fc.constant({}),
        fc.integer({ min: 0, max: 120 }).map((share) => ({ [keys.SPOT_PERCENTAGE]: `${share}%` })),
      ),
    }),
  },
  fc.record({ labels: fc.constant({ [keys.ENABLED]: "false" }), annotations: anyTexts }),
);

const anyNamespace = fc.oneof(
  { weight: 4, arbitrary: fc.option(anyWorded, { nil: undefined }) },
  fc.record({ labels: fc.constant({ [keys.ENABLED]: "false" }), annotations: anyTexts }),
);

pure(
  "readPlacement() gives a valid spec, none, or faults that say what to write, and never throws",
  () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(anyWorded, anyNamespace, (workload, namespace) => {
        const reading = readPlacementSpec({ workload, namespace });
        seen.add(reading.is);
        if (reading.is === "invalid") {
          assert.ok(reading.faults.length > 0);
          for (const fault of reading.faults) {
            const { [fault.of]: worded } = { workload, namespace };
            const texts = worded?.[fault.place === "label" ? "labels" : "annotations"];
            assert.equal(Object.hasOwn(texts ?? {}, fault.key), fault.value !== undefined);
            assert.match(
              placementFaultText(fault),
              /^(label|annotation) spotalis\.io\/[a-z-]+ of the \w+ is \P{C}+: must \P{C}+[^.]$/u,
            );
          }
        } else if (reading.is === "valid") {
          const { spotPercentage, minOnDemand, window } = reading.spec;
          assert.ok(Number.isInteger(spotPercentage) && spotPercentage >= 0);
          assert.ok(spotPercentage <= 100);
          assert.ok(Number.isInteger(minOnDemand) && minOnDemand >= 0 && minOnDemand <= 10_000);
          assert.ok(window === undefined || window.durationMs > 0);
        }
      }),
    );
    assert.deepEqual(seen, new Set(["valid", "off", "namespace-off", "untuned", "invalid"]));
  },
);
