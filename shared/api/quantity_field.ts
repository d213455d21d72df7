/**
 * Fields that hold a quantity, as text (`250m`) or as a whole number (`2`).
 *
 * @module
 */
import * as z from "zod";
import { parseBytes, parseCPU } from "../quantity.ts";
import { type FieldRule, ruled } from "./field_rule.ts";

/** How a quantity of each resource is read, what is its most, and an example. */
const RESOURCES = {
  cpu: { read: parseCPU, most: `${Number.MAX_SAFE_INTEGER}m`, example: "250m or 2" },
  memory: { read: parseBytes, most: `${Number.MAX_SAFE_INTEGER}`, example: "128Mi or 1Gi" },
} as const;

/** Nobody writes more, and the server bounds the cost of rules by it. */
const LONGEST = 64;

/** A resource that has quantities. */
export type QuantityOf = keyof typeof RESOURCES;

/** A quantity as it stands in an object. */
export type WrittenQuantity = string | number;

/** Millicores or bytes; undefined for what is no quantity, or not above 0. */
export function countedQuantity(of: QuantityOf, written: WrittenQuantity): number | undefined {
  try {
    const counted = RESOURCES[of].read(String(written));
    return counted > 0 ? counted : undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/** A quantity above 0. */
export function positiveQuantity(
  of: QuantityOf,
  description: string,
): z.ZodType<WrittenQuantity, WrittenQuantity> {
  const { most, example } = RESOURCES[of];
  const message = `must be a quantity above 0, for instance ${example}`;
  return ruled(z.union([z.int(), z.string().max(LONGEST)], { error: message }), {
    description,
    "x-kubernetes-int-or-string": true,
    maxLength: LONGEST,
    rules: [{
      rule: "isQuantity(string(self)) && quantity(string(self)).isGreaterThan(quantity('0')) && " +
        `quantity(string(self)).compareTo(quantity('${most}')) <= 0`,
      message,
      holds: (written) => countedQuantity(of, written) !== undefined,
    }],
  });
}

/** `min` is not above `max`, where both are quantities. */
export function orderRule(
  of: QuantityOf,
): FieldRule<{ readonly min: WrittenQuantity; readonly max: WrittenQuantity }> {
  return {
    rule: "!isQuantity(string(self.min)) || !isQuantity(string(self.max)) || " +
      "quantity(string(self.min)).compareTo(quantity(string(self.max))) <= 0",
    message: "must not be above max",
    field: "min",
    holds({ min, max }) {
      const [least, most] = [countedQuantity(of, min), countedQuantity(of, max)];
      return least === undefined || most === undefined || least <= most;
    },
  };
}
