import assert from "node:assert/strict";
import { parseRecording } from "./recording.ts";

const HEAD = ",load,avg_latency,p99,stddev_latency,allocs,event_start_time,event_end_time\n";

function row(figures: string, units: string): string {
  return `1650178757.7,${figures},"{${units}}",1650178757.7,1650178788.2\n`;
}

Deno.test({
  name: "parseRecording() reads figures and units, and finds steady runs",
  permissions: "none",
  fn() {
    const runs = parseRecording(
      HEAD + row("955.0,5239.203,7865.246,-1.0", "'root--consul': 5.59, 'root--geo': 8.0") +
        row("89320.0,50.5,101.2,2.5", "'root--consul': 8.0, 'root--geo': 8.0") +
        row("89321.0,50.6,101.3,2.6", "'root--consul': 8.0, 'root--geo': 8.0") +
        row("89322.0,50.7,101.4,2.7", "'root--consul': 7.0, 'root--geo': 9.0"),
    );
    assert.deepEqual(runs[0], {
      completed: 955,
      meanMs: 5239.203,
      p99Ms: 7865.246,
      spreadMs: undefined,
      units: new Map([["consul", 5.59], ["geo", 8]]),
      steady: false,
    });
    assert.deepEqual(runs.map((run) => run.steady), [false, false, true, false]);
    assert.equal(runs[1]?.spreadMs, 2.5);
  },
});

Deno.test({
  name: "parseRecording() names the line that it can't read",
  permissions: "none",
  fn() {
    for (
      const bad of [
        "garbage\n",
        row("1,2,3,x", "'root--a': 1.0"),
        row("1,2,3,4", "'consul': 1.0"),
      ]
    ) {
      assert.throws(() => parseRecording(HEAD + row("1,2,3,4", "'root--a': 1.0") + bad), {
        name: "SyntaxError",
        message: /: line 3 is "/,
      });
    }
  },
});
