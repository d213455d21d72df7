import assert from "node:assert/strict";
import { MARKET_KEYS } from "./market_keys.ts";

Deno.test("MARKET_KEYS has the keys of the guide's table, in the places that it names", async () => {
  const guide = await Deno.readTextFile(new URL("../../docs/market.md", import.meta.url));
  const rows = new Map<string, Set<string>>();
  for (const [, key = "", on = ""] of guide.matchAll(/^\| `(mbcas\.io\/[^`]+)` +\| ([^|]+) \|/gm)) {
    const [texts = [], holders = []] = [/label|annotation/g, /pod|namespace|workload|HPA/g]
      .map((names) => [...on.matchAll(names)].map(([name]) => name));
    const places = holders.flatMap((holder) => texts.map((text) => `${text} of the ${holder}`));
    rows.set(key, new Set([...rows.get(key) ?? [], ...places]));
  }
  const expected = [...MARKET_KEYS].map(([key, { places }]) => [key, places.toSorted()]);
  assert.deepEqual([...rows].map(([key, on]) => [key, [...on].sort()]).sort(), expected.sort());
});
