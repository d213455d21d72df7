import assert from "node:assert/strict";

Deno.test("SYSTEM_NAMESPACE is that of the manifests, or the variable's", async () => {
  const namespaceOf = async (value: string): Promise<unknown> => {
    Deno.env.set("COALLOC_SYSTEM_NAMESPACE", value);
    try {
      return await import(`./system_namespace.ts?${value}`);
    } finally {
      Deno.env.delete("COALLOC_SYSTEM_NAMESPACE");
    }
  };
  assert.equal(Reflect.get(Object(await namespaceOf("")), "SYSTEM_NAMESPACE"), "mbcas-system");
  assert.equal(Reflect.get(Object(await namespaceOf("other")), "SYSTEM_NAMESPACE"), "other");
});
