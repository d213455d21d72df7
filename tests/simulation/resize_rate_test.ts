/** More resizes are wanted than may be sent, or than the server takes. */
import assert from "node:assert/strict";
import { type ControllerScene, loopTest } from "./controller_scene.ts";

/** Changes of limits from now on, each with the pod's name and by how much. */
function noteChanges({ tables, api }: ControllerScene): (readonly [string, number])[] {
  const changes: (readonly [string, number])[] = [];
  const limits = new Map<string, number>();
  const note = (): void => {
    for (const { metadata: { name }, containers: [app] } of tables.Pod.all()) {
      const [before, limit = 0] = [limits.get(name), app?.limits.cpu];
      if (before !== undefined && before !== limit) changes.push([name, limit - before]);
      limits.set(name, limit);
    }
  };
  note();
  api.store.onChange(note);
  return changes;
}

loopTest("sends decreases that pay for raises before the raises after an outage", async (scene) => {
  const names = Array.from({ length: 10 }, (_, index) => `web-${index}`);
  const kill = scene.startController();
  for (const name of names) scene.createPod(name);
  for (const [index, name] of names.entries()) scene.want(name, index < 5 ? 200 : 600);
  await scene.pass(10_000);
  kill();
  // What five pods hold goes to the five others, which come first in all lists.
  for (const [index, name] of names.entries()) {
    if (index < 5) scene.want(name, 600, "Throttled");
    else scene.want(name, 200, "FundsRaise");
  }
  await scene.pass(2000);
  const changes = noteChanges(scene);
  scene.startController({ maxResizesPerSecond: 2 });
  await scene.pass(20_000);
  for (const [index, name] of names.entries()) scene.assertLimit(index < 5 ? 600 : 200, name);
  const moves = changes.map(([, change]) => change);
  assert.deepEqual(moves, [...Array<number>(5).fill(-400), ...Array<number>(5).fill(400)]);
});

loopTest("raises throttled pods first, and reports once that the rate binds", async (scene) => {
  const names = (kind: string, count: number): readonly string[] =>
    Array.from({ length: count }, (_, index) => `${kind}-${index}`);
  const [fell, rose, throttled] = [
    names("a-fell", 14),
    names("b-rose", 14),
    names("c-throttled", 5),
  ];
  const kill = scene.startController();
  for (const name of [...fell, ...rose, ...throttled]) {
    scene.createPod(name);
    scene.want(name, 600);
  }
  await scene.pass(20_000);
  kill();
  for (const name of fell) scene.want(name, 550, "DemandFell");
  for (const name of rose) scene.want(name, 700);
  for (const name of throttled) scene.want(name, 800, "Throttled");
  await scene.pass(2000);
  const changes = noteChanges(scene);
  const bottlenecks: boolean[] = [];
  scene.startController({ maxResizesPerSecond: 1 }, {
    observer: { resizeQueue: ({ isBottleneck }) => void bottlenecks.push(isBottleneck) },
  });
  await scene.pass(15_000);
  // The first was sent when no other had been looked at.
  const order = changes.map(([name]) => name.slice(2, 3)).join("");
  assert.match(order, /^.?t{5}r{6,}$|^.t{4}r{6,}$/, order);
  const shared = scene.events("CPULimitHeld").filter(({ about }) => about?.kind === "Namespace");
  assert.deepEqual(shared.map(({ message }) => message.split(":")[0]), ["RateLimited"]);
  await scene.pass(200_000);
  for (const name of fell) scene.assertLimit(550, name);
  assert.ok(bottlenecks.includes(true) && bottlenecks.at(-1) === false);
});
