import assert from "node:assert/strict";
import { postTo } from "../../tests/fixtures/post_to.ts";
import { FORGOTTEN_ROUTE, peerRoutes, QUESTIONS_ROUTE } from "./peer_routes.ts";

Deno.test("peerRoutes() refuses what is no question in words, and repeats nothing of it", async () => {
  const forgotten: string[] = [];
  const app = peerRoutes({
    answer: () => Promise.resolve({ class: "spot" }),
    forget: (id) => void forgotten.push(id),
  });
  const post = (route: string, body: string) => postTo(app, { target: route, body });
  for (const body of ["", "secret", '{"id":"secret"}', "x".repeat(70_000)]) {
    const answer = await post(QUESTIONS_ROUTE, body);
    const { status, text } = answer;
    assert.equal(status, 400);
    assert.match(text, /^Cannot read .*placement: /);
    assert.ok(!text.includes("secret"));
  }
  assert.equal((await post(FORGOTTEN_ROUTE, "1")).status, 204);
  assert.deepEqual(forgotten, ["1"]);
  const get = { method: "GET", target: QUESTIONS_ROUTE, body: new Uint8Array() };
  assert.equal((await app.answer(get)).status, 404);
});
