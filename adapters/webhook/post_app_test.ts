import assert from "node:assert/strict";
import { silentLog } from "../../shared/log.ts";
import { postTo } from "../../tests/fixtures/post_to.ts";
import { createPostApp, jsonAnswer, type PostApp } from "./post_app.ts";

function stage(): { readonly app: PostApp; readonly errors: readonly string[] } {
  const errors: string[] = [];
  const app = createPostApp({
    "/length": (body) => Promise.resolve(jsonAnswer({ length: body.length })),
    "/broken": () => Promise.reject(new RangeError("bug")),
  }, {
    mostBytes: 10,
    tooLong: (path) => ({ status: 400, text: `${path}: too long` }),
    log: { ...silentLog, error: (_message, fields = {}) => errors.push(String(fields["error"])) },
  });
  return { app, errors };
}

Deno.test("createPostApp() gives each route the text that was posted, whatever the query", async () => {
  const { app } = stage();
  for (const target of ["/length", "/length?timeout=2s"]) {
    const answer = await postTo(app, { target, body: "\u00e4bc" });
    assert.deepEqual(answer, { status: 200, type: "application/json", text: '{"length":3}' });
  }
});

Deno.test("createPostApp() knows no other path, no other method, and no property of objects", async () => {
  const { app } = stage();
  for (const target of ["/", "/length/", "/lengths", "constructor", "", "?"]) {
    assert.equal((await postTo(app, { target, body: "" })).status, 404, target);
  }
  const get = { method: "GET", target: "/length", body: new Uint8Array() };
  assert.equal((await app.answer(get)).status, 404);
});

Deno.test("createPostApp() counts bytes, not characters, and asks no route about too many", async () => {
  const { app } = stage();
  assert.equal((await postTo(app, { target: "/length", body: "\u00e4".repeat(5) })).status, 200);
  const answer = await postTo(app, { target: "/broken", body: "\u00e4".repeat(6) });
  assert.deepEqual(answer, { status: 400, text: "/broken: too long" });
});

Deno.test("createPostApp() answers 500 without words where a route breaks, and logs why", async () => {
  const { app, errors } = stage();
  const answer = await postTo(app, { target: "/broken", body: "" });
  assert.deepEqual(answer, { status: 500, text: "internal error\n" });
  assert.deepEqual(errors, ["RangeError: bug"]);
});
