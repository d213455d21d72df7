import assert from "node:assert/strict";
import { connectKubeconfig } from "../../../adapters/kube/client/connect.ts";
import { type KubeconfigPlace, kubeconfigProblem } from "./kubeconfig_problem.ts";

async function problem(place: KubeconfigPlace): Promise<string | undefined> {
  const { path, env } = place;
  const error = await connectKubeconfig({ ...(path === undefined ? {} : { path }), env })
    .then(() => undefined, (reason: unknown) => reason);
  return kubeconfigProblem(error, place);
}

const among = (variables: Record<string, string>) => (name: string) => variables[name];

Deno.test("kubeconfigProblem() names the kubeconfig that is missing, and what to do", async () => {
  const home = await Deno.makeTempDir();
  const named = `${home}/k`;
  for (
    const [place, file] of [
      [{ env: among({ HOME: home }) }, `${home}/.kube/config`],
      [{ env: among({ HOME: home, KUBECONFIG: "" }) }, `${home}/.kube/config`],
      [{ env: among({ KUBECONFIG: named }) }, named],
      [{ env: among({ KUBECONFIG: `${named}:` }) }, named],
      [{ path: named, env: among({}) }, named],
    ] as const
  ) {
    const sentence = await problem(place) ?? "";
    assert.ok(sentence.includes(` ${file}: `), sentence);
    assert.match(sentence, /there; .*--kubeconfig/);
  }
  assert.match(await problem({ path: home, env: among({}) }) ?? "", /: Is a directory .*; /);
  await Deno.remove(home);
});

Deno.test("kubeconfigProblem() leaves other files and other errors alone", () => {
  const place = { path: "/k", env: among({}) };
  const other = new Deno.errors.NotFound("No such file or directory: readfile '/ca.crt'");
  assert.equal(kubeconfigProblem(other, place), undefined);
  assert.equal(
    kubeconfigProblem(new SyntaxError("Cannot read kubeconfig /k: x"), place),
    undefined,
  );
  assert.equal(kubeconfigProblem("text", place), undefined);
});
