import assert from "node:assert/strict";
import { demo, type DemoWorld } from "./demo.ts";

/** A world that keeps what is written. */
function recordedWorld(): DemoWorld & {
  output: string;
  errors: string;
  files: Map<string, string>;
} {
  const files = new Map<string, string>();
  let now = 0;
  const world = {
    output: "",
    errors: "",
    files,
    out: (text: string) => void (world.output += text),
    err: (text: string) => void (world.errors += text),
    outIsTerminal: false,
    errIsTerminal: false,
    columns: 120,
    noColor: undefined,
    now: () => now++,
    writeFile: (path: string, text: string) => {
      files.set(path, text);
      return Promise.resolve();
    },
    probeFile: () => Promise.resolve(),
  };
  return world;
}

const SMALL = ["--minutes", "2", "--pods", "5"];

Deno.test("demo() shows progress, charts and the table, and writes the report", async () => {
  const world = recordedWorld();
  assert.equal(await demo(SMALL, world), 0);
  assert.match(world.errors, /market 50 %/);
  assert.match(world.errors, /fixed, same cores 100 %/);
  for (
    const part of [
      "Σ limits",
      "Throttled ms/s",
      "Jain's",
      "fixed, 2 x request",
      "Report: report.html",
    ]
  ) {
    assert.ok(world.output.includes(part), `"${part}" is missing`);
  }
  const report = world.files.get("report.html") ?? "";
  assert.match(report, /^<!doctype html>/i);
});

Deno.test("demo() prints one JSON object with changes that all carry a reason", async () => {
  const world = recordedWorld();
  assert.equal(await demo([...SMALL, "--json", "--no-report"], world), 0);
  const { runs } = JSON.parse(world.output);
  assert.deepEqual(runs.map((run: Record<string, unknown>) => run["algorithm"]), [
    "market",
    "fixed, 2 x request",
    "fixed, P95",
    "fixed, same cores",
  ]);
  const [market] = runs;
  const counts = Object.values(market.changesByReason as Record<string, number>);
  const changes = market.pods.reduce(
    (sum: number, pod: { changes: number }) => sum + pod.changes,
    0,
  );
  assert.ok(changes > 0);
  assert.equal(counts.reduce((sum, count) => sum + count, 0), changes);
  assert.equal(world.files.size, 0);
});

Deno.test("demo() names a wrong flag and its remedy, and exits with 2", async () => {
  const world = recordedWorld();
  assert.equal(await demo(["--pods", "0"], world), 2);
  assert.match(world.errors, /--pods.*0.*1 to 200/s);
  assert.equal(world.output, "");
});

Deno.test("demo() keeps its figures when the report can't be written, and exits with 1", async () => {
  const world = {
    ...recordedWorld(),
    writeFile: () => Promise.reject(new Deno.errors.NotADirectory("Not a directory")),
  };
  const written: string[] = [];
  const errors: string[] = [];
  const out = (text: string) => void written.push(text);
  const err = (text: string) => void errors.push(text);
  assert.equal(await demo([...SMALL, "--report", "x/y"], { ...world, out, err }), 1);
  assert.match(written.join(""), /Jain's/);
  assert.match(errors.join(""), /Cannot write report "x\/y": .*folder/);
});

Deno.test("demo() says before it plays that the report can't be written, and exits with 1", async () => {
  const world = Object.assign(recordedWorld(), {
    probeFile: () => Promise.reject(new Deno.errors.IsADirectory("(os error 21)")),
  });
  assert.equal(await demo([...SMALL, "--report", "x"], world), 1);
  assert.match(world.errors, /^Cannot write report "x": .*directory; .*\n$/);
  assert.equal(world.output, "");
});

Deno.test("demo() takes its flags behind -- too, as deno task hands them on", async () => {
  const world = recordedWorld();
  assert.equal(await demo(["--", ...SMALL, "--json", "--no-report"], world), 0);
  assert.equal(JSON.parse(world.output).runs[0].pods.length, 5);
});

Deno.test("demo() plays a trace of the user's own", async () => {
  const path = await Deno.makeTempFile({ suffix: ".txt" });
  try {
    await Deno.writeTextFile(path, Array.from({ length: 120 }, (_, s) => 20 + s % 30).join("\n"));
    const world = recordedWorld();
    assert.equal(await demo([...SMALL, "--trace", path], world), 0);
    assert.ok(world.files.get("report.html")?.includes(path));
    assert.match(world.errors, /^Trace ".*" .* rps; .*--format/);
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("demo() says what is wrong with a trace, and exits with 1", async () => {
  const path = await Deno.makeTempFile({ suffix: ".csv" });
  try {
    const missing = recordedWorld();
    assert.equal(await demo(["--trace", `${path}.gone`], missing), 1);
    assert.ok(missing.errors.includes(`Cannot read trace "${path}.gone"`));
    await Deno.writeTextFile(path, "12\n13\ntwelve\n");
    const malformed = recordedWorld();
    assert.equal(await demo(["--trace", path], malformed), 1);
    assert.match(malformed.errors, /line 3.*twelve/s);
    await Deno.writeTextFile(path, "0\n0\n0\n");
    const idle = recordedWorld();
    assert.equal(await demo(["--trace", path], idle), 1);
    assert.match(idle.errors, /^Cannot read trace .* is 0, /);
  } finally {
    await Deno.remove(path);
  }
});
