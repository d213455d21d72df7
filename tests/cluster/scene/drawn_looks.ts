/**
 * Random looks at random workloads, in which there is something to do.
 *
 * @module
 */
import fc from "fast-check";
import type { PodContainer } from "../../../shared/api/pod.ts";
import { decideRightsizing } from "../../../shared/rightsizing/guards/decide_rightsizing.ts";
import type { RightsizingFacts } from "../../../shared/rightsizing/guards/rightsizing_facts.ts";
import type { UpdateStrategy } from "../../../shared/rightsizing/policy_spec.ts";
import { anyContainers, factsOf } from "../../fixtures/rightsizing/rightsizing_arbitrary.ts";
import type { WrittenAs } from "./rightsized_world.ts";

/** The strategies that leave one way alone, by how their values come to the server. */
export const WAYS: Readonly<Record<string, Partial<UpdateStrategy>>> = {
  "resized in place": { allowInPlaceResize: true, allowRecreate: false },
  "applied to the template": {
    allowInPlaceResize: false,
    allowRecreate: true,
    useServerSideApply: true,
  },
  "merged into the template": {
    allowInPlaceResize: false,
    allowRecreate: true,
    useServerSideApply: false,
  },
};

/** In whatever form. */
export const writtenAs: fc.Arbitrary<WrittenAs> = fc.record({
  kind: fc.constantFrom("Deployment", "StatefulSet", "DaemonSet"),
  limitsAlone: fc.boolean(),
});

/** A workload, and two looks at it, of which the first, at least, finds something to do. */
export interface Drawn {
  readonly as: WrittenAs;
  readonly looks: readonly [RightsizingFacts, RightsizingFacts];
}

/** Workloads of these containers under this strategy. */
export function drawnLooks(
  strategy: Partial<UpdateStrategy>,
  containers: fc.Arbitrary<readonly PodContainer[]> = anyContainers,
): fc.Arbitrary<Drawn> {
  const looks = containers.chain((all) => fc.tuple(factsOf(all), factsOf(all)))
    .map(([first, second]) =>
      [withStrategy(first, strategy), withStrategy(second, strategy)] as const
    )
    .filter(([first]) => decideRightsizing(first).outcome === "apply");
  return fc.record({ as: writtenAs, looks });
}

function withStrategy(
  facts: RightsizingFacts,
  strategy: Partial<UpdateStrategy>,
): RightsizingFacts {
  const { updateStrategy } = facts.policy;
  return {
    ...facts,
    policy: { ...facts.policy, updateStrategy: { ...updateStrategy, ...strategy } },
  };
}
