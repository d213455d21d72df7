/**
 * The loops of agent, controller and simulation run in virtual time too, so clock, chance and log
 * are passed in. Only `main.ts`, where the real ones are made, and tests are free.
 *
 * @module
 */
import { ambientUses, TIME_AND_CHANCE } from "./ambient.ts";
import { placeOf } from "./place.ts";

const AREAS: readonly string[] = ["agent", "controller", "lab/simulation", "lab/arena"];

/** Refuses ambient time, chance and console in code that must run in a simulated cluster. */
export const injectedWorld: Deno.lint.Rule = {
  create(context) {
    const place = placeOf(context.filename);
    if (!AREAS.includes(place.area) || place.test || place.main) return {};
    return ambientUses([...TIME_AND_CHANCE, "console"], (name, node) => {
      context.report({
        node,
        message: `${place.area}/ also runs in virtual time: it may not use ${name}`,
        hint: "Take a Clock, Random or Log as an argument",
      });
    });
  },
};
