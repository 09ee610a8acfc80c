// What the operations belong to: the sections of docs/http.md, and the tags of the document.
import type * as v from 'valibot';
import type { Body } from '../../routes/http/describe.ts';
import type { Route } from '../../routes/http/route.ts';

/** The sections in their order, each with the paths of its operations. */
const FAMILIES: readonly (readonly [name: string, paths: RegExp])[] = [
  ['Proving an address', /^\/(?:api\/verify\/|pass$)/],
  ['Sessions', /^\/api\/sessions/],
  ['DIDs', /^\/api\/(?:dids|aliases)/],
  ['Accounts and balances', /^\/api\/(?:accounts|balance)/],
  ['Recoveries', /^\/api\/recoveries/],
  ['Sign-up for apps', /^\/(?:(?:api\/)?register|authorize)/],
  ['The bundler', /^\/api\/bundler/],
  ['The index of the chain', /^\/api\/indexer/],
  ['Payments', /^\/(?:pay\/|\.well-known\/payment-method)/],
  ['The console', /^\/v1\/console\//],
  ['About the vault', /^\//],
];

/** The sections' names. */
export const FAMILY_NAMES: readonly string[] = [...FAMILIES.map(([name]) => name), 'Pages and files'];

/** The section that an operation is in. Files of pages have one of their own. */
export function familyOf({ method, path, answers }: Pick<Route, 'method' | 'path' | 'answers'>): string {
  if (method === 'GET' && (isFile(answers) || path.endsWith('.txt'))) return 'Pages and files';
  return FAMILIES.find(([, paths]) => paths.test(path))?.[0] ?? '';
}

function isFile(answers: Route['answers']): boolean {
  return Object.values(answers).some((one) => isBody(one) && /html|css|script|image|wasm/.test(one.media ?? ''));
}

/** Whether an answer is anything but JSON of a schema. */
export function isBody(answer: v.GenericSchema | Body): answer is Body {
  return 'media' in answer;
}
