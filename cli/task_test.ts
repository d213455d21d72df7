import assert from "node:assert/strict";
import { taskInMemory } from "../tests/fixtures/cli/task_world.ts";
import { pure } from "../tests/fixtures/pure.ts";
import { reportProblem, traceProblem } from "./file_problem.ts";
import { probeFile, runTask, type TaskFlags, type TaskWorld } from "./task.ts";

const { IsADirectory, NotADirectory, NotFound } = Deno.errors;
const WANTED = { kind: "flags", flags: { report: "x/y" } } as const;

/** Exit code, output and errors of a task that prints "played"; and its page. */
async function ran(
  read: Parameters<typeof runTask<TaskFlags>>[0],
  { change = {}, play = () => {} }: {
    readonly change?: Partial<TaskWorld>;
    readonly play?: () => void;
  } = {},
) {
  const world = taskInMemory(change);
  const code = await runTask(read, {
    world,
    play: () => {
      world.out("played ");
      play();
      return Promise.resolve({ page: () => "page", note: "noted" });
    },
  });
  const { out, err, page } = world.written;
  return [code, out, err, page];
}

pure("runTask() writes the page after the figures, and ends with a code", async () => {
  assert.deepEqual(await ran(WANTED), [0, "played noted", "", "page"]);
  const none = { kind: "flags", flags: { report: false } } as const;
  assert.deepEqual(await ran(none), [0, "played ", "", ""]);
  assert.deepEqual(await ran({ kind: "help", text: "help" }), [0, "help", "", ""]);
  const wrong = { kind: "usage-error", message: "wrong", exitCode: 2 } as const;
  assert.deepEqual(await ran(wrong), [2, "", "wrong\n", ""]);
});

pure("runTask() finds out before the work whether the page can be written", async () => {
  const lacking = new NotFound("no entity (os error 2)");
  const before = await ran(WANTED, { change: { probeFile: () => Promise.reject(lacking) } });
  assert.deepEqual(before, [1, "", `${reportProblem("x/y", lacking).message}\n`, ""]);
  const cause = new NotADirectory("Not a directory");
  const after = await ran(WANTED, { change: { writeFile: () => Promise.reject(cause) } });
  assert.deepEqual(after, [1, "played ", `${reportProblem("x/y", cause).message}\n`, ""]);
});

pure("runTask() ends with 1 for a file, and throws faults of the program on", async () => {
  const throwing = (error: Error) => () => {
    throw error;
  };
  const problem = traceProblem("f", new SyntaxError("line 2"));
  assert.deepEqual(await ran(WANTED, { play: throwing(problem) }), [1, "played ", "line 2\n", ""]);
  await assert.rejects(ran(WANTED, { play: throwing(new TypeError("a fault")) }), /a fault/);
  assert.throws(() => reportProblem("a", new TypeError("a fault")), /^TypeError: a fault$/);
  const full = new Deno.errors.WriteZero("No space left (os error 28), write 'a/b.html'");
  assert.match(reportProblem("a/b.html", full).message, /"a\/b\.html": No space left$/);
});

Deno.test("probeFile() leaves all as it was, and rejects what can't be written", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/old.html`, "kept");
    await probeFile(`${folder}/old.html`);
    await probeFile(`${folder}/new.html`);
    assert.equal(await Deno.readTextFile(`${folder}/old.html`), "kept");
    assert.deepEqual((await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name), [
      "old.html",
    ]);
    await assert.rejects(probeFile(`${folder}/missing/a.html`), NotFound);
    await assert.rejects(probeFile(folder), IsADirectory);
    await assert.rejects(probeFile(`${folder}/old.html/a.html`), NotADirectory);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
