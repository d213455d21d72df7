import assert from "node:assert/strict";
import { steadyAdmissions } from "./steady_admissions.ts";
import { until } from "../until.ts";

Deno.test({
  name: "steadyAdmissions() counts what was placed and what was not, until its end",
  permissions: "none",
  async fn() {
    let asked = 0;
    const ask = (): Promise<string | undefined> =>
      Promise.resolve(asked++ % 3 === 0 ? undefined : "spot");
    const load = steadyAdmissions({ ask }, { perSecond: 1000 });
    await until("30 questions", () => asked >= 30 || undefined, { everyMs: 1 });
    assert.deepEqual(await load.end(), { asked, unplaced: Math.ceil(asked / 3) });
  },
});

Deno.test({
  name: "steadyAdmissions() hides no failure",
  permissions: "none",
  async fn() {
    const load = steadyAdmissions({ ask: () => Promise.reject(new Error("refused")) }, {
      perSecond: 1000,
    });
    await assert.rejects(load.end(), /refused/);
  },
});
