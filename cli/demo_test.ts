import assert from "node:assert/strict";
import { taskInMemory, withFile } from "../tests/fixtures/cli/task_world.ts";
import { demo } from "./demo.ts";

/** Exit code, output, errors and page of a small demo. */
async function played(...args: string[]) {
  const world = taskInMemory();
  const code = await demo(["--", "--minutes", "2", "--pods", "5", ...args], world);
  return { code, ...world.written };
}

Deno.test("demo() shows progress, charts and the table, and writes the report", async () => {
  const { code, out, err, page } = await played();
  assert.equal(code, 0);
  assert.match(err, /CoAllocator 50 %.*equal sum 100 %/s);
  for (const part of ["Σ limits", "Throttled ms/s", "Jain's", "limits at 2x request"]) {
    assert.ok(out.includes(part), `"${part}" is missing`);
  }
  assert.match(out, /Report: report\.html\n$/);
  assert.match(page, /^<!doctype html>/i);
});

Deno.test("demo() prints one JSON object with changes that all carry a reason", async () => {
  const { code, out, page } = await played("--json", "--no-report");
  assert.deepEqual([code, page], [0, ""]);
  const { runs } = JSON.parse(out);
  const names = ["CoAllocator", "limits at 2x request", "limits at P95", "limits at equal sum"];
  assert.deepEqual(runs.map((run: Record<string, unknown>) => run["algorithm"]), names);
  const [market] = runs;
  assert.equal(market.pods.length, 5);
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  const changes = sum(market.pods.map((pod: { changes: number }) => pod.changes));
  assert.ok(changes > 0);
  assert.equal(sum(Object.values(market.changesByReason)), changes);
});

Deno.test("demo() plays a trace of the user's own", () =>
  withFile(Array.from({ length: 120 }, (_, s) => 20 + s % 30).join("\n"), async (path) => {
    const { code, err, page } = await played("--trace", path);
    assert.equal(code, 0);
    assert.ok(page.includes(path));
    assert.match(err, /^Trace ".*" .* rps; .*--format/);
  }));

Deno.test("demo() says what is wrong with a trace, and exits with 1", () =>
  withFile("0\n0\n0\n", async (path) => {
    const { code, out, err } = await played("--trace", path);
    assert.deepEqual([code, out], [1, ""]);
    assert.match(err, /^Cannot read trace .* is 0, /);
  }));
