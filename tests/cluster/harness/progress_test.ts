import assert from "node:assert/strict";
import { seconds, withProgress } from "./progress.ts";

Deno.test({
  name: "seconds() writes tenths below ten seconds and minutes from two on",
  permissions: "none",
  fn() {
    assert.equal(seconds(40), "0.0 s");
    assert.equal(seconds(9_940), "9.9 s");
    assert.equal(seconds(9_960), "10 s");
    assert.equal(seconds(119_400), "119 s");
    assert.equal(seconds(200_400), "3 min 20 s");
  },
});

Deno.test({
  name: "withProgress() says what begins and how long it took, and passes result and error on",
  permissions: "none",
  async fn() {
    const said: string[] = [];
    let time = 0;
    const progress = { say: (line: string) => said.push(line), now: () => time += 2_000 };
    assert.equal(await withProgress(progress, "building x, long", () => Promise.resolve(7)), 7);
    assert.deepEqual(said, ["building x, long …", "done building x: 2.0 s"]);
    const fail = () => Promise.reject(new RangeError("Cannot build x: no disk"));
    await assert.rejects(withProgress(progress, "building x", fail), RangeError);
  },
});
