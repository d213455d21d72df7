import assert from "node:assert/strict";
import { arena, type ArenaWorld } from "./arena.ts";

/** A world that keeps what is written; everything is played in this thread. */
function recordedWorld(): ArenaWorld & { output: string; errors: string; page: string } {
  let now = 0;
  const world = {
    output: "",
    errors: "",
    page: "",
    out: (text: string) => void (world.output += text),
    err: (text: string) => void (world.errors += text),
    outIsTerminal: false,
    errIsTerminal: false,
    noColor: undefined,
    now: () => now++,
    workers: 0,
    writeFile: (_path: string, text: string) => {
      world.page = text;
      return Promise.resolve();
    },
    probeFile: () => Promise.resolve(),
  };
  return world;
}

/** A minute of requests, and flags that play it quickly. */
async function withTrace(text: string, test: (args: string[]) => Promise<void>): Promise<void> {
  const path = await Deno.makeTempFile({ suffix: ".txt" });
  try {
    await Deno.writeTextFile(path, text);
    await test(["--trace", path, "--seeds", "1", "--algorithms", "mbcas,ours,oracle"]);
  } finally {
    await Deno.remove(path);
  }
}

const MINUTE = Array.from({ length: 60 }, (_, second) => 40 + second).join("\n");

Deno.test("arena() shows a table and the goals, and writes the page", async () => {
  await withTrace(MINUTE, async (args) => {
    const world = recordedWorld();
    assert.equal(await arena(args, world), 0);
    assert.match(world.errors, /^100 % /m);
    for (const name of ["mbcas", "ours", "oracle", "static-equal", "best rival"]) {
      assert.ok(world.output.includes(name), `"${name}" is missing`);
    }
    assert.match(world.output, /Report: arena\.html\n$/);
    assert.match(world.page, /^<!doctype html>/i);
    assert.match(world.page, /mbcas/);
  });
});

Deno.test("arena() prints one JSON object with an entry per setting, the same each time", async () => {
  await withTrace(MINUTE, async (args) => {
    const world = recordedWorld();
    assert.equal(await arena([...args, "--json"], world), 0);
    const found = JSON.parse(world.output);
    assert.equal(found.trace, args[1]);
    assert.equal(found.format, "rps");
    assert.equal(found.seeds, 1);
    assert.ok(found.sloMs > 100);
    const names = (of: Record<string, unknown>[]) => of.map((one) => one["algorithm"]);
    assert.deepEqual(names(found.algorithms), ["mbcas", "ours", "ours-tight", "oracle"]);
    assert.deepEqual(names(found.yardsticks), ["static-equal", "unlimited"]);
    for (const { algorithm, setting } of [...found.algorithms, ...found.yardsticks]) {
      assert.notEqual(setting, "", algorithm);
    }
    const [, ours] = found.algorithms;
    assert.equal(ours.setting, "default");
    assert.equal(typeof ours.sloHeld, "boolean");
    const figures = ["cores", "p50Ms", "p99Ms", "throttledMsPerS", "changesPerPodMinute", "slack"];
    for (const name of [...figures, "jain", "overCapacityS"]) {
      assert.equal(typeof ours[name], "number", name);
    }
    for (const name of ["reactionMsMedian", "reactionMsP95"]) assert.ok(name in ours, name);
    assert.equal(world.page, "");
    const again = recordedWorld();
    await arena([...args, "--json", "--no-report"], again);
    assert.equal(again.output, world.output);
  });
});

Deno.test("arena() says what is wrong with a trace, and exits with 1", async () => {
  await withTrace("12\ntwelve\n", async (args) => {
    const malformed = recordedWorld();
    assert.equal(await arena(args, malformed), 1);
    assert.match(malformed.errors, /line 2.*twelve/);
    const missing = recordedWorld();
    assert.equal(await arena(["--trace", `${args[1]}.gone`], missing), 1);
    assert.ok(missing.errors.includes(`Cannot read trace "${args[1]}.gone"`));
  });
  for (
    const [text, problem] of [
      ["1\n2\n3\n", / 3 s long, .*minute: export/],
      ["0\n".repeat(60), / load .* 0: export/],
      ["90000000\n".repeat(60), /scale-p95/],
    ] as const
  ) {
    await withTrace(text, async (args) => {
      const world = recordedWorld();
      assert.equal(await arena(args, world), 1);
      assert.match(world.errors, problem);
      assert.equal(world.output, "");
    });
  }
});

Deno.test("arena() names a wrong flag, and exits with 2", async () => {
  const world = recordedWorld();
  assert.equal(await arena(["--algorithms", "magic"], world), 2);
  assert.match(world.errors, /--algorithms.*magic/);
  const help = recordedWorld();
  assert.equal(await arena(["--help"], help), 0);
  assert.match(help.output, /--scale-p95/);
});

Deno.test("arena() keeps its figures when the page can't be written, and exits with 1", async () => {
  await withTrace(MINUTE, async (args) => {
    const world = {
      ...recordedWorld(),
      writeFile: () => Promise.reject(new Deno.errors.NotADirectory("Not a directory")),
    };
    const written: string[] = [];
    const out = (text: string) => void written.push(text);
    const err = (text: string) => void written.push(text);
    assert.equal(await arena([...args, "--report", "x/y"], { ...world, out, err }), 1);
    assert.match(written.join(""), /mbcas.*Cannot write report "x\/y": .*folder/s);
  });
});

Deno.test("arena() says before it plays that the page can't be written, and exits with 1", async () => {
  await withTrace(MINUTE, async (args) => {
    const world = Object.assign(recordedWorld(), {
      probeFile: () => Promise.reject(new Deno.errors.NotFound("no entity (os error 2)")),
    });
    assert.equal(await arena([...args, "--report", "gone/a.html"], world), 1);
    assert.equal(world.output, "");
    assert.match(world.errors, /^Cannot write report "gone\/a\.html": .*folder .*\n$/);
  });
});

Deno.test("arena() plays a quarter of an hour of a longer trace when it is to be quick", async () => {
  await withTrace("1\n".repeat(16 * 60), async (args) => {
    const world = recordedWorld();
    assert.equal(await arena([...args, "--algorithms", "mbcas", "--quick", "--json"], world), 0);
    assert.equal(JSON.parse(world.output).minutes, 15);
    assert.match(world.errors, /^Trace ".*" .* rps; .*--format/);
    assert.equal(world.page, "");
  });
});
