import assert from "node:assert/strict";
import { FORGOTTEN_ROUTE, peerRoutes, QUESTIONS_ROUTE } from "./peer_routes.ts";

Deno.test("peerRoutes() refuses what is no question in words, and repeats nothing of it", async () => {
  const forgotten: string[] = [];
  const app = peerRoutes({
    answer: () => Promise.resolve({ class: "spot" }),
    forget: (id) => void forgotten.push(id),
  });
  const post = (route: string, body: string) => app.request(route, { method: "POST", body });
  for (const body of ["", "secret", '{"id":"secret"}', "x".repeat(70_000)]) {
    const answer = await post(QUESTIONS_ROUTE, body);
    const text = await answer.text();
    assert.equal(answer.status, 400);
    assert.match(text, /^Cannot read a question of placement: /);
    assert.ok(!text.includes("secret"));
  }
  assert.equal((await post(FORGOTTEN_ROUTE, "1")).status, 204);
  assert.deepEqual(forgotten, ["1"]);
  assert.equal((await app.request(QUESTIONS_ROUTE)).status, 404);
});
