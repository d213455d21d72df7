import assert from "node:assert/strict";
import { castText, parseCast } from "./cast.ts";
import { drawTerminal, framesOf } from "./draw.ts";

const CLEAR = "\x1b[2J\x1b[H";
const CAST = {
  width: 30,
  height: 3,
  events: [
    { at: 0, text: `${CLEAR}\x1b[1mPOD   LIMIT\x1b[0m\r\n` },
    { at: 0.01, text: "a<b   \x1b[32m200m\x1b[0m" },
    { at: 1, text: `${CLEAR}\x1b[1mPOD   LIMIT\x1b[0m\r\na<b   \x1b[32m300m\x1b[0m` },
    { at: 2, text: "" },
    { at: 60, text: `${CLEAR}end` },
  ],
};

Deno.test("framesOf() keeps screens that differ, and shortens what does not move", async () => {
  const frames = await framesOf(CAST);
  assert.deepEqual(frames.map(({ at }) => at), [0.01, 1, 4.5]);
  assert.deepEqual(frames[0]?.rows.map((row) => row.replaceAll(/<tspan [^>]*>|<\/tspan>/g, "|")), [
    "|POD||LIMIT|",
    "|a&lt;b||200m|",
    "",
  ]);
});

Deno.test("drawTerminal() has each line once, in looks of its own", async () => {
  const picture = await drawTerminal(CAST, { title: "a & b" });
  assert.equal(picture.match(/>POD</g)?.length, 1);
  assert.equal(picture.match(/<use /g)?.length, 5);
  assert.match(picture, /<tspan x="46.8" class="g">300m</);
  assert.match(picture, /<title>a &amp; b</);
});

Deno.test("drawTerminal() begins with a full screen, which is there without animations", async () => {
  const picture = await drawTerminal(CAST, { title: "a" });
  const [first = ""] = /<g id="f0">.*<\/g>/.exec(picture) ?? [];
  assert.equal(first.match(/<use /g)?.length, 2);
  assert.deepEqual(
    [0, 1, 2].map((index) => picture.includes(`#f${index}{visibility:hidden;`)),
    [false, true, true],
  );
  // Typing comes last: the recording's first screen has one line.
  const events = [
    { at: 0, text: "$ top" },
    ...CAST.events.map((one) => ({ ...one, at: one.at + 1 })),
  ];
  const typed = await drawTerminal({ ...CAST, events }, { title: "a" });
  const groups = [...typed.matchAll(/<g id="f\d">.*<\/g>/g)].map(([group]) => group);
  assert.deepEqual(groups.map((group) => group.match(/<use /g)?.length), [2, 2, 1, 1]);
});

Deno.test("parseCast() reads what castText() writes", () => {
  assert.deepEqual(parseCast(castText(CAST)), CAST);
});
