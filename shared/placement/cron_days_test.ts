import assert from "node:assert/strict";
import { hasDay } from "./cron_days.ts";

function comes(days: string): boolean {
  const [day = "", month = "", weekday = ""] = days.split(" ");
  return hasDay({ day, month, weekday });
}

Deno.test({
  name: "hasDay() knows the days of each month",
  permissions: "none",
  fn() {
    const good = [
      "* * *",
      "? FEB ?",
      "29 2 *",
      "31 1 *",
      "31 2,4,6,7 *",
      "31 2/5 *",
      "31 jan-mar *",
      "31 */6 *",
      "15,31 2 *",
      "28-31 Feb *",
      "*/31 2 *",
      "29-31/2 2 *",
      "31 2-4 *",
      // Either of day and weekday is enough.
      "31 2 1",
      "30 feb mon-fri",
      "30 2 */2",
    ];
    const never = [
      "30 2 *",
      "30 FEB ?",
      "31 2,4,6,9,11 *",
      "31 apr *",
      "30,31 2 *",
      "30-31 2 *",
      "31 4-11/5 *",
      "31 4/7 *",
      "30/1 2 *",
    ];
    for (const days of good) assert.ok(comes(days), days);
    for (const days of never) assert.ok(!comes(days), days);
  },
});
