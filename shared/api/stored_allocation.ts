/**
 * Reads allocations as the server has them: written by this version, an older or a newer one.
 *
 * @module
 */
import * as z from "zod";
import {
  boundRuleSchema,
  boundsSchema,
  conditionSchema,
  marketSchema,
  MOST_RULES,
  type PodAllocation,
  podAllocationSchema,
} from "./pod_allocation.ts";

/** A word of whatever version; what may be written is for the server's own schema to say. */
const word = z.string();

/** What the server gives every object that it stores. */
const given = z.string().min(1);

const { metadata, spec, status } = podAllocationSchema.shape;

/** Conditions of types that this version does not know are left out. */
const knownConditions = z.preprocess(
  (list) =>
    Array.isArray(list)
      ? list.filter((one) => conditionSchema.shape.type.safeParse(Object(one).type).success)
      : list,
  z.array(conditionSchema.extend({ reason: word })),
);

/**
 * `podAllocationSchema`, but that any reason word will do: versions of controller, agent and command
 * line differ during an upgrade and after a rollback, and an allocation must not vanish for one that
 * is older because of a word that it does not know.
 */
export const storedAllocationSchema: z.ZodType<PodAllocation> = podAllocationSchema.extend({
  metadata: metadata.extend({
    name: given,
    namespace: given,
    uid: given,
    resourceVersion: given,
  }),
  spec: spec.extend({ market: marketSchema.extend({ reason: word }).optional() }),
  status: status.unwrap().extend({
    bounds: boundsSchema.extend({
      rules: z.array(boundRuleSchema.extend({ reason: word })).max(MOST_RULES).optional(),
    }).optional(),
    reason: word.optional(),
    conditions: knownConditions.optional(),
  }).optional(),
});
