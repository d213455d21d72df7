import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { type Kind, refusalOf, valueOf } from "./kinds.ts";
import {
  labelMatchersKind,
  loginFilesKind,
  requestHeadersKind,
  serverURLKind,
} from "./server_kinds.ts";

const header = (name: string, value: string): string => JSON.stringify({ [name]: value });

pure("kinds of servers read their values", () => {
  const read: readonly (readonly [Kind<unknown>, string, unknown])[] = [
    [serverURLKind, "http://prometheus.monitoring:9090", "http://prometheus.monitoring:9090"],
    [serverURLKind, "https://metrics.example.com/", "https://metrics.example.com"],
    [serverURLKind, "http://10.0.0.7/prometheus/", "http://10.0.0.7/prometheus"],
    [serverURLKind, "http://[fd00::1]:9090", "http://[fd00::1]:9090"],
    [loginFilesKind, "", {}],
    [loginFilesKind, "tokenFile=/a/token  caFile=/a/ca.crt", {
      tokenFile: "/a/token",
      caFile: "/a/ca.crt",
    }],
    [loginFilesKind, "passwordFile=/a/b=c user=reader", {
      user: { name: "reader", passwordFile: "/a/b=c" },
    }],
    [requestHeadersKind, "", new Map()],
    [
      requestHeadersKind,
      header("X-Scope-OrgID", "shop|bank"),
      new Map([["X-Scope-OrgID", "shop|bank"]]),
    ],
    [requestHeadersKind, header("x-stage", "a b"), new Map([["x-stage", "a b"]])],
    [labelMatchersKind, "", []],
    [labelMatchersKind, 'cluster="prod"', ['cluster="prod"']],
    [labelMatchersKind, ' cluster = "prod" , stage !~ "dev|te.t" ', [
      'cluster="prod"',
      'stage!~"dev|te.t"',
    ]],
    [labelMatchersKind, 'a!="x",b=~"y,z"', ['a!="x"', 'b=~"y,z"']],
    [labelMatchersKind, 'cluster="say \\"hi\\" \\\\d"', ['cluster="say \\"hi\\" \\\\d"']],
  ];
  for (const [kind, text, value] of read) assert.deepEqual(valueOf(kind, text), value, text);
});

pure("kinds of servers refuse all else", () => {
  const refused: readonly (readonly [Kind<unknown>, readonly string[]])[] = [
    [serverURLKind, [
      "",
      "prometheus:9090",
      "file:///etc/passwd",
      "http://",
      "http://host?query=up",
      "http://host/#part",
    ]],
    [labelMatchersKind, [
      "cluster=prod",
      'cluster="prod"} or up{a="b"',
      'cluster="prod",',
      ',cluster="prod"',
      'cluster="prod" stage="live"',
      "cluster='prod'",
      'cluster=="prod"',
      '1cluster="prod"',
      'cluster="a\nb"',
      'namespace="shop"',
      'cluster="prod",pod=~".*"',
      '__name__="up"',
      " ",
      "prod",
    ]],
  ];
  for (const [kind, texts] of refused) {
    for (const text of texts) {
      assert.equal(valueOf(kind, text), undefined, text);
      assert.equal(refusalOf(kind, text), undefined, text);
    }
  }
  for (const name of ["Host", "accept-encoding", "Content-Length", "Transfer-Encoding"]) {
    assert.equal(valueOf(requestHeadersKind, header(name, "x")), undefined, name);
  }
  for (const name of ["", "X Scope", "X:Scope", "X-Übung", "-x", "x".repeat(64)]) {
    assert.equal(valueOf(requestHeadersKind, header(name, "x")), undefined, name);
  }
  for (const value of ["", " ", " a", "a ", "a\nb", "a\r\nHost: b", "ü", "x".repeat(257)]) {
    assert.equal(valueOf(requestHeadersKind, header("X-Scope", value)), undefined, value);
    assert.doesNotMatch(refusalOf(requestHeadersKind, header("X-Scope", value)) ?? "", /Host/);
  }
});

pure(
  "kinds of servers explain why they refuse a text, and show nothing that may be a secret",
  () => {
    const explained: readonly (readonly [Kind<unknown>, string, RegExp])[] = [
      [serverURLKind, "http://me:hunter2@host", /user or password/],
      [serverURLKind, "http://hunter2@host", /user or password/],
      [loginFilesKind, "hunter2", /tokenFile=, user=, passwordFile=, caFile=$/],
      [loginFilesKind, "token=hunter2", /tokenFile=, user=, passwordFile=, caFile=$/],
      [loginFilesKind, "tokenFile=hunter2", /^tokenFile .* path /],
      [loginFilesKind, "tokenFile=", /^tokenFile .* empty$/],
      [loginFilesKind, "tokenFile=/a tokenFile=/b", /tokenFile twice/],
      [loginFilesKind, "tokenFile=/a user=b passwordFile=/c", /a token and a user/],
      [loginFilesKind, "user=b", /expected both/],
      [loginFilesKind, "passwordFile=/c", /expected both/],
      [loginFilesKind, "user=a:b passwordFile=/c", /without a colon/],
      ...["Authorization", "Cookie", "X-Api-Key", "X-Auth", "Private-Token", "Password"].map((
        name,
      ) =>
        [requestHeadersKind, header(name, "hunter2"), new RegExp(`^${name} .* secret, `)] as const
      ),
    ];
    for (const [kind, text, pattern] of explained) {
      assert.equal(valueOf(kind, text), undefined, text);
      const refusal = refusalOf(kind, text) ?? "";
      assert.match(refusal, pattern);
      assert.doesNotMatch(refusal, /hunter2/);
    }
  },
);
