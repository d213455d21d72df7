// Runs in place of the agent or the controller, in its image, pod and permissions, and tries those
// things that it is asked for. Prints one line of JSON: by name, "allowed", or the error's name, or what
// the server answered.
const account = "/var/run/secrets/kubernetes.io/serviceaccount";
const server = "https://kubernetes.default.svc";
const [namespace, pod, serverAddress, ...asked] = Deno.args;

// With cgroup v1 the CPU's files are in a tree of their own; a controller sees none.
function cpuRoot() {
  try {
    const entries = [...Deno.readDirSync("/host/cgroup")];
    return entries.some(({ name }) => name === "cpu") ? "/host/cgroup/cpu" : "/host/cgroup";
  } catch {
    return "/host/cgroup";
  }
}
const cpu = cpuRoot();

async function attempt(action) {
  try {
    return await action() ?? "allowed";
  } catch (error) {
    return error.name;
  }
}

async function status(path, init = {}) {
  const caCerts = [await Deno.readTextFile(`${account}/ca.crt`)];
  const client = Deno.createHttpClient({ caCerts });
  const token = await Deno.readTextFile(`${account}/token`);
  const headers = { ...init.headers, authorization: `Bearer ${token}` };
  const response = await fetch(server + path, { ...init, client, headers });
  await response.body?.cancel();
  return String(response.status);
}

async function reach(address) {
  const response = await fetch(address);
  await response.body?.cancel();
}

const patch = {
  method: "PATCH",
  headers: { "content-type": "application/strategic-merge-patch+json" },
  body: '{"metadata":{"labels":{"probe":"was-here"}}}',
};
const pods = `/api/v1/namespaces/${namespace}/pods`;
const tries = {
  "read a cgroup file": () => void Deno.readTextFileSync(`${cpu}/cpu.stat`),
  "list the cgroup tree": () => void [...Deno.readDirSync("/host/cgroup")],
  "read its settings": () => void Deno.readTextFileSync("/etc/mbcas/config.yaml"),
  "read its token": () => void Deno.readTextFileSync(`${account}/token`),
  "list nodes": () => status("/api/v1/nodes"),
  "list allocations": () => status("/apis/allocation.mbcas.io/v1alpha1/podallocations"),
  "read /etc/passwd": () => void Deno.readTextFileSync("/etc/passwd"),
  "read /proc/self/environ": () => void Deno.readTextFileSync("/proc/self/environ"),
  "read through a link": () => void Deno.readTextFileSync("/host/cgroup/../../etc/passwd"),
  "read beside its settings": () => void Deno.readTextFileSync("/etc/mbcas/../passwd"),
  "write a cgroup file": () => void Deno.writeTextFileSync(`${cpu}/cgroup.procs`, "2"),
  "write its settings": () => void Deno.writeTextFileSync("/etc/mbcas/config.yaml", ""),
  "write /tmp": () => void Deno.writeTextFileSync("/tmp/x", "x"),
  "reach another host": () => reach(`http://mbcas-controller.${namespace}.svc:8080/`),
  "reach the node": () => reach("https://127.0.0.1:10250/"),
  "reach the server's address": () => reach(`https://${serverAddress}/`),
  "look a name up": async () => void await Deno.resolveDns("example.com", "A"),
  "listen elsewhere": () => void Deno.listen({ port: 9999 }),
  "run a program": () => void new Deno.Command("/deno").outputSync(),
  "load a library": () => void Deno.dlopen("/lib/x86_64-linux-gnu/libc.so.6", {}),
  "read the whole environment": () => void Deno.env.toObject(),
  "ask for more": async () => {
    const { state } = await Deno.permissions.request({ name: "read" });
    return state === "granted" ? "allowed" : state;
  },
  "list pods": () => status(pods),
  "read a pod": () => status(`${pods}/${pod}`),
  "patch a pod": () => status(`${pods}/${pod}`, patch),
  "resize a pod": () => status(`${pods}/${pod}/resize`, patch),
  "delete a pod": () => status(`${pods}/${pod}?dryRun=All`, { method: "DELETE" }),
  "read secrets": () => status(`/api/v1/namespaces/${namespace}/secrets`),
};

const outcome = {};
for (const name of asked) outcome[name] = await attempt(tries[name]);
console.log(JSON.stringify(outcome));
