import { equalBytes } from '../base/bytes.ts';

/** The IPLD data model: integers within 53 bits, maps as objects without a prototype, links as `Link`. */
export type Ipld = null | boolean | number | string | Uint8Array | Link | readonly Ipld[] | IpldMap;

/** A map; its keys may be any text, including `__proto__`. */
export interface IpldMap {
  readonly [key: string]: Ipld;
}

const CID = Symbol('cid');

/** A link: a binary CID, by which a token names another. */
export interface Link {
  readonly [CID]: Uint8Array;
}

/** A link to a binary CID. */
export function link(cid: Uint8Array): Link {
  return { [CID]: cid };
}

/** The binary CID of a link; undefined for other values. */
export function cidOf(value: Ipld): Uint8Array | undefined {
  return typeof value === 'object' && value !== null && CID in value ? (value as Link)[CID] : undefined;
}

/** Whether a value is a map: not a list, a link or bytes. */
export function isMap(value: Ipld | undefined): value is IpldMap {
  return (
    typeof value === 'object' &&
    value !== null &&
    !(value instanceof Uint8Array) &&
    !Array.isArray(value) &&
    !(CID in value)
  );
}

/** Whether a value is a list. */
export function isList(value: Ipld | undefined): value is readonly Ipld[] {
  return Array.isArray(value);
}

/** Deep equality; 1 and 1.0 are equal. */
export function equalIpld(a: Ipld, b: Ipld): boolean {
  if (a === b) return true;
  if (a instanceof Uint8Array || b instanceof Uint8Array)
    return a instanceof Uint8Array && b instanceof Uint8Array && equalBytes(a, b);
  const [one, other] = [cidOf(a), cidOf(b)];
  if (one || other) return one !== undefined && other !== undefined && equalBytes(one, other);
  if (isList(a)) return isList(b) && a.length === b.length && a.every((item, i) => equalIpld(item, b[i] ?? null));
  if (!isMap(a) || !isMap(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equalIpld(a[key] ?? null, b[key] ?? null))
  );
}
