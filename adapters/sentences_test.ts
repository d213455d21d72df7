import * as z from "zod";
import { numberKind, textKind } from "../shared/config/kinds.ts";
import { assertSentences, messageOf } from "../tests/fixtures/assert_sentences.ts";
import { serveCanned } from "../tests/fixtures/canned_server.ts";
import { createCustomUsageClient } from "./custom_usage_client.ts";
import { createHTTPLogin } from "./http_login.ts";
import { readProgramSettings } from "./program_settings.ts";
import { createInstantQueries } from "./prometheus/instant_queries.ts";
import { createRangeQueries } from "./prometheus/range_queries.ts";
import { systemClock } from "./system_clock.ts";
import { setting } from "../shared/config/setting.ts";

const SIGNAL = new AbortController().signal;

Deno.test("sentences of command lines and logins", () => {
  const schema = z.object({
    config: setting("config", {
      kind: textKind("a file"),
      default: "c",
      description: "",
    }),
    workers: setting("controller.workers", {
      kind: numberKind({ least: 1, most: 64, whole: true }),
      default: "8",
      description: "",
    }),
  });
  const run = (...args: readonly string[]): string => {
    const read = readProgramSettings({ name: "controller", description: "", schema }, {
      args,
      env: {},
      readFile() {
        throw new Deno.errors.NotFound("no such file");
      },
    });
    return "text" in read ? read.text : "";
  };
  const login = (files: Parameters<typeof createHTTPLogin>[0]) =>
    messageOf(() => createHTTPLogin(files, { clock: systemClock }).parts({ refresh: false }));
  return assertSentences([
    [
      "file",
      () => run("--config", "/none"),
      "Cannot run controller: --config /none: no such file\n",
    ],
    [
      "argument",
      () => run("more"),
      'Cannot run controller: argument "more" is not expected; see --help\n',
    ],
    [
      "flag",
      () => run("--worker"),
      "Cannot run controller: flag --worker is not known; did you mean --workers?\n",
    ],
    [
      "flag's value",
      () => run("--workers", "0"),
      'Cannot run controller: flag --workers is "0", expected a whole number from 1 to 64\n',
    ],
    [
      "no value",
      () => run("--workers"),
      "Cannot run controller: option '--workers <value>' argument missing\n",
    ],
    [
      "token",
      () => login({ tokenFile: "README.md" }),
      "Cannot log in: README.md holds no token of visible characters",
    ],
    [
      "authorities",
      () => login({ caFile: "README.md" }),
      "Cannot log in: README.md holds no certificates",
    ],
    [
      "no file",
      () => login({ tokenFile: "/none" }),
      "Cannot log in with /none: there is no such file",
    ],
  ]);
});

Deno.test("sentences of answers of Prometheus and of usage sources", () => {
  async function prometheus(answer: unknown, mostBytes = 1000): Promise<string> {
    await using server = serveCanned(() => answer);
    const question = { server: server.url, query: "up" };
    const answered = await createInstantQueries({ mostBytes }).ask(question, SIGNAL);
    return "message" in answered ? answered.message : "";
  }
  async function range(answer: unknown): Promise<string> {
    await using server = serveCanned(() => answer);
    const question = { server: server.url, query: "up", startMs: 0, endMs: 1, stepMs: 1 };
    const answered = await createRangeQueries({}).ask(question, SIGNAL);
    return "message" in answered ? answered.message : "";
  }
  async function usage(answer: unknown): Promise<string> {
    await using server = serveCanned(() => answer);
    const answered = await createCustomUsageClient({ url: server.url }).ask({
      namespace: "shop",
      workload: { kind: "Deployment", name: "web", uid: "u" },
      pods: [],
      containers: [],
      window: { fromMs: 1000, toMs: 2000 },
    }, SIGNAL);
    return "message" in answered ? answered.message : "";
  }
  const away = () => new Response(null, { status: 307, headers: { location: "http://b" } });
  const matrix = { status: "success", data: { resultType: "matrix", result: [] } };
  const vector = { status: "success", data: { resultType: "vector", result: [] } };
  return assertSentences([
    ["redirect", () => prometheus(away()), 'HTTP 307: it sends on to "http://b"'],
    ["length", () => prometheus(matrix, 8), "the answer has more than 8 bytes"],
    ["no Prometheus", () => prometheus({}), "the answer is not one of Prometheus's query API"],
    [
      "no vector",
      () => prometheus(matrix),
      "the query gives no instant vector of numbers and no scalar",
    ],
    ["no matrix", () => range(vector), "the query gives no series of numbers over time"],
    [
      "partial",
      () => range({ ...matrix, warnings: ["no store"] }),
      'the answer is a partial one: "no store"',
    ],
    ["redirect of usage", () => usage(away()), "HTTP 307: it sends on to another place"],
    [
      "no usage",
      () => usage({ version: 1, containers: { app: { cpuMillicores: 1 } } }),
      'the answer is none of a usage source: "containers.app.cpuMillicores: Invalid input: expected ' +
      'array, received number"',
    ],
  ]);
});
