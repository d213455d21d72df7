import { pure } from "../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { createJSONLog, type JSONLogOptions } from "./json_log.ts";

function lines(options: Partial<JSONLogOptions>): string[] {
  const written: string[] = [];
  const log = createJSONLog({
    write: (line) => void written.push(line),
    clock: { wall: () => Date.UTC(2026, 0, 2, 3, 4, 5, 678) },
    program: "controller",
    ...options,
  });
  log.debug("Looked");
  log.info("Changed {x}", { pod: "shop/web", count: 2, reason: undefined });
  log.warn("Lost");
  log.error("Broken", { error: "a\nb" });
  return written;
}

pure("createJSONLog() writes one JSON object a line, with the fields beside the message", () => {
  const written = lines({ level: "debug" });
  assert.equal(written.length, 4);
  for (const line of written) assert.match(line, /^\{[^\n]*\}\n$/);
  assert.deepEqual(JSON.parse(written[1] ?? ""), {
    "@timestamp": "2026-01-02T03:04:05.678Z",
    level: "INFO",
    message: "Changed {x}",
    logger: "controller",
    pod: "shop/web",
    count: 2,
  });
  assert.equal(JSON.parse(written[3] ?? "").error, "a\nb");
});

pure("createJSONLog() leaves out what is below its level", () => {
  assert.equal(lines({}).length, 3);
  assert.equal(lines({ level: "error" }).length, 1);
});

pure("createJSONLog() writes text for people", () => {
  const [line = ""] = lines({ format: "text" });
  assert.match(line, /^03:04:05\.678 INF Changed \{x\} pod=shop\/web count=2\n$/);
});

pure("createJSONLog() writes a line of text for each message, whatever is in it", () => {
  let written = "";
  const log = createJSONLog({
    write: (line) => void (written += line),
    clock: { wall: () => 0 },
    program: "agent",
    format: "text",
  });
  log.info("Read\n00:00:00.000 INF Forged", { pod: "a\r\nForged\u2028Forged", "k\n": "\x1b[2J" });
  assert.match(written, /^00:00:00\.000 INF [^\n]*\n$/);
  assert.doesNotMatch(written.trimEnd(), /[\p{Cc}\p{Zl}\p{Zp}]/u);
});
