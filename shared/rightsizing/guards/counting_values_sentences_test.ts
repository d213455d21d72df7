import { assertSentences } from "../../../tests/fixtures/assert_sentences.ts";
import {
  autoPolicy,
  type FactsChoice,
  MI,
  rightsizingFacts,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import type { ValuesInForce } from "../workload_record.ts";
import { countingValues } from "./counting_values.ts";

/** Reasons why new pods get other values than those in force. */
const counted = (
  inForce: Partial<ValuesInForce>,
  { strategy = { updateRequestsOnly: false }, ...choice }: FactsChoice = {},
) =>
(): string =>
  countingValues([{ container: "app", ...inForce }], rightsizingFacts({ strategy, ...choice }))
    .words.join("; ");

Deno.test({
  name: "sentences about values in force that new pods don't get",
  permissions: "none",
  fn: () =>
    assertSentences([
      ["container", counted({ container: "log", cpu: 150 }), "the template has no container log"],
      [
        "edit",
        counted({ cpu: 150, adoptedOn: { cpu: 99, cpuLimit: 200 } }),
        "the template has other cpu values of app by now",
      ],
      [
        "updateRequestsOnly",
        counted({ cpu: 150, cpuLimit: 180 }, { strategy: {} }),
        "the policy updates requests only: app cpu limit 180m left as it is",
      ],
      [
        "bounds",
        counted({ cpu: 150 }, {
          policy: autoPolicy({}, {
            bounds: { cpu: { min: 10, max: 120 }, memory: { min: MI, max: 1024 * MI } },
          }),
        }),
        "the policy's bounds: app cpu request 150m to 120m",
      ],
      [
        "memory peak",
        counted({ memory: 48 * MI }, { memoryPeaks: new Map([["app", 100 * MI]]) }),
        "the recent peak + 15 %: app memory request 48Mi to 64Mi",
      ],
    ]),
});
