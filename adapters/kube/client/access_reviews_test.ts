import assert from "node:assert/strict";
import { serveCanned, statusAnswer } from "../../../tests/fixtures/canned_server.ts";
import { createAccessReviews } from "./access_reviews.ts";

const USER = { username: "u", uid: "1", groups: ["g"], extra: { "a/b": ["c"] } };
const RULE = { verb: "list", group: "", resource: "pods", namespace: "shop" };

Deno.test("createAccessReviews() asks for a token's user, and for a right of this user with all groups", async () => {
  const bodies: unknown[] = [];
  await using server = serveCanned(({ path, body }) => {
    bodies.push(body);
    const { spec: { token = "" } } = body as { spec: { token?: string } };
    return path.endsWith("/tokenreviews")
      ? { status: token === "good" ? { authenticated: true, user: USER } : { error: "expired" } }
      : { status: { allowed: true } };
  });
  const { userOf, isAllowed } = createAccessReviews(server.connection);
  assert.deepEqual(await userOf("good"), USER);
  assert.equal(await userOf("bad"), undefined);
  assert.equal(await isAllowed(USER, RULE), true);
  const { username: user, ...rest } = USER;
  assert.deepEqual(bodies.at(-1), {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    spec: { user, ...rest, resourceAttributes: RULE },
  });
});

Deno.test("createAccessReviews() takes a refusal for an error, and no answer for no permission", async () => {
  await using server = serveCanned(() => statusAnswer(403));
  const { userOf, isAllowed } = createAccessReviews(server.connection);
  await assert.rejects(userOf("good"), { status: 403 });
  await assert.rejects(isAllowed(USER, RULE), { status: 403 });
});
