/**
 * Which changes of an object concern its pods.
 *
 * @module
 */
import type { Informer } from "../../../shared/control/informer.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import { objectKey } from "../../../shared/control/object_key.ts";

/**
 * The function says whether the object under this key is for its pods another one than when it was
 * last asked, by what `tellingOf` makes of it. One that is gone is another one, once, and forgotten.
 */
export function createChangeMemory<T extends ApiObject>(
  copy: Pick<Informer<T>, "all" | "get">,
  tellingOf: (object: T) => string,
): (key: string) => boolean {
  const known = new Map<string, string>();
  for (const object of copy.all()) known.set(objectKey(object.metadata), tellingOf(object));
  return (key) => {
    const object = copy.get(key);
    const before = known.get(key);
    if (object === undefined) return known.delete(key);
    const now = tellingOf(object);
    known.set(key, now);
    return now !== before;
  };
}
