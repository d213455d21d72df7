import { assertSentences, messageOf } from "../../tests/fixtures/assert_sentences.ts";
import { createBitReader, createBitWriter } from "./bit_text.ts";
import { interpolatedQuantile } from "./interpolated_quantile.ts";
import { millisecondsOf } from "./recorded_values.ts";
import { distributionOfSamples } from "./samples.ts";
import { sealText, unsealText } from "./sealed_text.ts";
import { uncensored } from "./throttling.ts";
import { truncatedProduct } from "./truncated_product.ts";
import { createUsageRing } from "./usage_ring.ts";

const USAGE = distributionOfSamples([{ atMs: 1, value: 1 }], { nowMs: 1, windowMs: 1 });

/** Message of the error that reading a text as a note of version 1 throws. */
const unsealed = (text: string) => () =>
  messageOf(() => unsealText(text, { version: 1, what: "note" }));

Deno.test({
  name: "sentences of errors about numbers and texts",
  permissions: "none",
  fn: () =>
    assertSentences([
      [
        "bits, character",
        () => messageOf(() => createBitReader("A*").fixed(12)),
        "Cannot read numbers: character 1 of 2 is not one of the alphabet",
      ],
      [
        "bits, too many",
        () => messageOf(() => createBitReader("A".repeat(20)).small()),
        "Cannot read numbers: one has more than 53 bits",
      ],
      [
        "bits, more",
        () => messageOf(() => createBitReader("AA").end()),
        "Cannot read numbers: more follows than was expected",
      ],
      [
        "bits, number",
        () => messageOf(() => createBitWriter().sized(0.5)),
        "Cannot write number: 0.5 is not whole and from 0 to 2^53 - 1",
      ],
      [
        "sealed, other version",
        unsealed(sealText("a", 2)),
        "Cannot read note: its version is 2, expected 1",
      ],
      ["sealed, no version", unsealed("a"), "Cannot read note: it does not begin with a version"],
      [
        "sealed, length",
        unsealed(sealText("a".repeat(2 ** 20), 1)),
        "Cannot read note: it has 1048584 characters, expected at most 1048576",
      ],
      [
        "sealed, check sum",
        unsealed(`${sealText("a", 1)}A`),
        "Cannot read note: its check sum is another, so it was cut or changed",
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
        "Cannot look back 2 ms: the ring covers 1 ms",
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
