import assert from "node:assert/strict";
import { connectKubeconfig } from "../../../adapters/kube/kubeconfig_connection.ts";
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
  const sentence = (file: string): string =>
    `Cannot read the kubeconfig ${file}: it is not there; give --kubeconfig or set KUBECONFIG`;
  const usual = `${home}/.kube/config`;
  assert.equal(await problem({ env: among({ HOME: home }) }), sentence(usual));
  assert.equal(await problem({ env: among({ HOME: home, KUBECONFIG: "" }) }), sentence(usual));
  const named = `${home}/k`;
  assert.equal(await problem({ env: among({ KUBECONFIG: named }) }), sentence(named));
  assert.equal(await problem({ env: among({ KUBECONFIG: `${named}:` }) }), sentence(named));
  assert.equal(await problem({ path: named, env: among({}) }), sentence(named));
  assert.match(
    await problem({ path: home, env: among({}) }) ?? "",
    /^Cannot read the kubeconfig .*: Is a directory \(os error 21\); give --kubeconfig/,
  );
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
