// The families of the operations: the sections of docs/http.md, and the tags of the document.
import type * as v from 'valibot';
import type { Body } from '../../routes/http/describe.ts';
import type { Route } from '../../routes/http/route.ts';

/** The sections in their order, each with the paths of its operations and a line about them. */
const FAMILIES: readonly (readonly [name: string, paths: RegExp, about: string])[] = [
  [
    'Proving an address',
    /^\/(?:api\/verify\/|pass$)/,
    'One-time codes by mail and SMS, and the attestation of an address',
  ],
  ['Sessions', /^\/api\/sessions/, 'Identifiers that are held for a DID until it is registered'],
  [
    'DIDs',
    /^\/(?:api\/(?:dids|aliases)|1\.0\/identifiers)/,
    'Registrations of DIDs, look-ups by passkey, and resolution',
  ],
  [
    'Credentials',
    /^\/(?:api\/credentials$|credentials\/|\.well-known\/jwt-vc-issuer)/,
    'Short-lived statements that an address was proven, for others to check',
  ],
  ['Accounts and balances', /^\/api\/(?:accounts|balance)/, 'Accounts of passkeys, as the chain has them'],
  ['Recoveries', /^\/api\/recoveries/, 'New keys for accounts whose owners named this vault their guardian'],
  [
    'Sign-up for apps',
    /^\/(?:authorize|token$|userinfo|jwks|\.well-known\/(?:openid|oauth))/,
    'Codes that the server of an app exchanges for the person who signed up or in',
  ],
  ['The bundler', /^\/api\/bundler/, 'ERC-4337 by JSON-RPC'],
  ['The index of the chain', /^\/api\/indexer/, 'Registry and factory, as the vault has read their events'],
  ['Payments', /^\/(?:pay\/|\.well-known\/payment-method)/, 'Payments for shops, and the check of one'],
  ['The console', /^\/v1\/console\//, 'For the operator'],
  ['About the vault', /^\//, 'Its state, its health, and its measurements'],
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

/** The subject of a section; undefined for a name without one. */
export function aboutFamily(family: string): string | undefined {
  return FAMILIES.find(([name]) => name === family)?.[2];
}

/** Whether an answer is anything but JSON of a schema. */
export function isBody(answer: v.GenericSchema | Body): answer is Body {
  return 'media' in answer;
}
