// Selectors of UCAN 1.0 policies, a subset of jq's: ".", ".name", "[\"name\"]", "[0]", "[-1]", "[1:3]", "[]", each with
// an optional "?".
import { type Ipld, isList, isMap } from './ipld.ts';

/** One step of a selector. Without a result, an optional step gives null. */
export interface SelectorStep {
  readonly isOptional: boolean;
  readonly take: (value: Ipld) => Ipld | undefined;
}

/** Parses a selector; undefined if the text is not one. */
export function parseSelector(text: string): readonly SelectorStep[] | undefined {
  if (!text.startsWith('.')) return undefined;
  if (text === '.') return [];
  const steps: SelectorStep[] = [];
  // A bracket right after the first dot belongs to it.
  const rest = text.startsWith('.[') ? text.slice(1) : text;
  let at = 0;
  for (const match of rest.matchAll(STEP)) {
    const take = taking(match);
    if (!take) return undefined;
    steps.push({ isOptional: match[0].endsWith('?'), take });
    at += match[0].length;
  }
  return at === rest.length ? steps : undefined;
}

/** Applies the steps to a value; undefined if a step has no result. */
export function select(steps: readonly SelectorStep[], value: Ipld): Ipld | undefined {
  let found: Ipld = value;
  for (const { isOptional, take } of steps) {
    const next = take(found);
    if (next === undefined && !isOptional) return undefined;
    found = next ?? null;
  }
  return found;
}

/** The values of a list or a map; undefined for other values. */
export function valuesOf(value: Ipld): readonly Ipld[] | undefined {
  if (isList(value)) return value;
  return isMap(value) ? Object.values(value) : undefined;
}

// Sticky, so that each step begins where the one before it ended.
const STEP = /\.([A-Za-z_][\w-]*)\??|\[("(?:[^"\\]|\\.)*"|-?\d{1,15}|(?:-?\d{1,15})?:(?:-?\d{1,15})?|)\]\??/gy;

function taking([, name, inside = '']: RegExpMatchArray): SelectorStep['take'] | undefined {
  if (name !== undefined) return member(name);
  if (inside.startsWith('"')) return quoted(inside);
  if (inside === '') return valuesOf;
  if (!inside.includes(':')) return (value) => (isList(value) ? value.at(Number(inside)) : undefined);
  const [start, end] = inside.split(':').map((part) => (part === '' ? undefined : Number(part)));
  return (value) => (isList(value) || value instanceof Uint8Array ? value.slice(start, end) : undefined);
}

function member(name: string): SelectorStep['take'] {
  return (value) => (isMap(value) && Object.hasOwn(value, name) ? value[name] : undefined);
}

function quoted(text: string): SelectorStep['take'] | undefined {
  try {
    return member(JSON.parse(text));
  } catch {
    return undefined;
  }
}
