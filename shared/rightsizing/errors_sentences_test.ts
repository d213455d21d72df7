import { assertSentences, messageOf } from "../../tests/fixtures/assert_sentences.ts";
import { truncatedProduct } from "./amounts.ts";
import { distributionOfSamples, interpolatedQuantile } from "./distribution.ts";
import { uncensored } from "./estimator.ts";
import { createUsageRing, restoredRings, type StoredRings } from "./usage_ring.ts";
import { millisecondsOf } from "./workload_record.ts";

const USAGE = distributionOfSamples([{ atMs: 1, value: 1 }], { nowMs: 1, windowMs: 1 });

Deno.test({
  name: "sentences of errors about numbers and texts",
  permissions: "none",
  fn: () =>
    assertSentences([
      [
        "ring, buckets",
        () => {
          const cpu: StoredRings["cpu"] = [[1, 1, 1, 1, 0, 694, [1]]];
          const options = { shape: { windowMs: 1 }, nowMs: 1 };
          return messageOf(() => restoredRings({ cpu, memory: [] }, options));
        },
        "Cannot read cpu usage: it has 695 buckets, expected at most 694",
      ],
      [
        "ring, window",
        () => messageOf(() => createUsageRing("cpu", { windowMs: 0.5 })),
        "Cannot make a ring: windowMs is 0.5, expected a whole number of at least 1",
      ],
      [
        "ring, slots",
        () => messageOf(() => createUsageRing("cpu", { windowMs: 1, slots: 257 })),
        "Cannot make a ring: slots is 257, expected 1 to 256",
      ],
      [
        "ring, longer window",
        () =>
          messageOf(() =>
            createUsageRing("cpu", { windowMs: 1 }).distribution({ nowMs: 1, windowMs: 2 })
          ),
        "Cannot answer for 2 ms: the ring covers 1 ms",
      ],
      [
        "quantile, fraction",
        () => messageOf(() => interpolatedQuantile({ count: 1, valueAt: () => 1 }, 1.1)),
        "Cannot take a quantile: 1.1 is not between 0 and 1",
      ],
      [
        "quantile, samples",
        () => messageOf(() => interpolatedQuantile({ count: 0, valueAt: () => 1 }, 1)),
        "Cannot take a quantile: there are 0 samples",
      ],
      [
        "throttling, share",
        () => messageOf(() => uncensored(USAGE, { share: 1.1 })),
        "Cannot correct for throttling: share is 1.1, expected 0 to 1",
      ],
      [
        "throttling, demand",
        () => messageOf(() => uncensored(USAGE, { share: 1, demand: -1 })),
        "Cannot correct for throttling: demand is -1, expected at least 0",
      ],
      [
        "product, amount",
        () => messageOf(() => truncatedProduct(-1, 1)),
        "Cannot multiply -1: expected an amount of at least 0",
      ],
      [
        "product, factor",
        () => messageOf(() => truncatedProduct(1, 1e-9)),
        "Cannot multiply by 1e-9: expected a decimal number above a millionth",
      ],
      ["time", () => messageOf(() => millisecondsOf("soon")), "Cannot parse time: soon is no date"],
    ]),
});
