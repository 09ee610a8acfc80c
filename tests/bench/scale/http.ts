import { closeSync, openSync, readSync } from 'node:fs';
import { type Finding, load, type RequestOf, request } from '../frame/load.ts';
import type { Case } from '../frame/rounds.ts';
import type { Target } from '../frame/target.ts';
import { credentialOf, hexOf, KINDS } from './keys.ts';

/** A vault on a file of so many registrations. */
export interface Sized {
  readonly size: number;
  readonly path: string;
  readonly target: Target;
}

/** A route that is measured at each size. */
export interface Route {
  readonly name: string;
  readonly writes: boolean;
  /** Requests for one vault, each of other rows. */
  readonly requests: (size: number) => { readonly of: RequestOf; readonly count?: () => number };
}

/** What `randomCode` makes of bytes that are all 7. */
const CODE = String(0x07070707 % 1_000_000).padStart(6, '0');

/** Addresses that no file has. */
const stranger = (n: number) => ({ identifier: `${hexOf(n, 2, KINDS.did)}@example.net`, channel: 'email' });
const ipOf = (n: number) => `11.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
/** Numbers that differ from run to run, so that a second run on a kept file finds no row of the first. */
let next = 5_000_000 + Math.floor(Math.random() * 1_000_000_000);
const fresh = () => next++;

/** The routes, reading ones first. */
export const ROUTES: readonly Route[] = [
  { name: 'GET /api/status', writes: false, requests: () => ({ of: () => request('GET', '/api/status') }) },
  {
    name: 'GET /api/dids/lookup',
    writes: false,
    requests: (size) => {
      const all = picks(size, (n) => request('GET', `/api/dids/lookup?credentialId=${credentialOf(n)}`));
      return { of: (n) => all[n % all.length] ?? '' };
    },
  },
  {
    name: 'GET /api/verify/status',
    writes: false,
    requests: (size) => {
      const address = (n: number) => `${hexOf(n - (n % 4) + 2, 2, KINDS.identifier)}@example.com`;
      const all = picks(size, (n) => request('GET', `/api/verify/status?channel=email&identifier=${address(n)}`));
      return { of: (n) => all[n % all.length] ?? '' };
    },
  },
  {
    name: 'GET /api/sessions/check',
    writes: false,
    requests: (size) => {
      const handle = (n: number) => `u${hexOf(n - (n % 4) + 4, 2, KINDS.identifier)}`;
      const all = picks(size, (n) => request('GET', `/api/sessions/check?channel=handle&identifier=${handle(n)}`));
      return { of: (n) => all[n % all.length] ?? '' };
    },
  },
  ...sendAndCheck(),
  {
    name: 'POST /api/sessions',
    writes: true,
    requests: () => ({
      of: () => {
        const n = fresh();
        return request('POST', '/api/sessions', {
          body: { handle: `s${hexOf(n, 2, KINDS.did)}`, did: 'did:key:z' },
          ip: ipOf(n),
        });
      },
    }),
  },
  {
    name: 'POST /api/dids',
    writes: true,
    requests: () => ({
      of: () => {
        const n = fresh();
        const txHash = `0x${hexOf(n, 8, KINDS.block)}`;
        const body = { credentialId: hexOf(n, 4, KINDS.did), handle: `d${hexOf(n, 2, KINDS.did)}`, txHash };
        return request('POST', '/api/dids', { body: { ...body, did: `did:key:z${n}` }, ip: ipOf(n) });
      },
    }),
  },
];

/** Each code is checked once, so a round of checks stops when those sent are used up. */
function sendAndCheck(): readonly Route[] {
  const sent = new Map<number, number[]>();
  const open = (size: number) => sent.get(size) ?? sent.set(size, []).get(size) ?? [];
  return [
    {
      name: 'POST /api/verify/send',
      writes: true,
      requests: (size) => ({
        of: () => {
          const n = fresh();
          open(size).push(n);
          return request('POST', '/api/verify/send', { body: stranger(n), ip: ipOf(n) });
        },
      }),
    },
    {
      name: 'POST /api/verify/check',
      writes: true,
      requests: (size) => ({
        of: () => {
          const n = open(size).shift() ?? 0;
          return request('POST', '/api/verify/check', { body: { ...stranger(n), code: CODE }, ip: ipOf(n) });
        },
        count: () => open(size).length,
      }),
    },
  ];
}

/** How many of the registrations are asked for, at random: the people of a day. */
export const PICKS = 20_000;

/** Made once: the load should not be busy with it. */
function picks(size: number, of: (n: number) => string): string[] {
  return Array.from({ length: PICKS }, () => of(1 + Math.floor(Math.random() * (size - 4))));
}

/** The name of a route's case at a size. */
export const caseName = (route: string, size: number) => `${route}, ${size.toLocaleString('en')}`;

/**
 * Each route at each size. Before each run a reading one asks for all that it will ask for, and a writing one's file is
 * read: meanwhile the system may have given its memory to others.
 */
export function casesOf(routes: readonly Route[], sized: readonly Sized[], ms: number): readonly Case<Finding>[] {
  return routes.flatMap(({ name, writes, requests }) =>
    sized.map(({ size, path, target }) => {
      const { of, count } = requests(size);
      const run = async () => {
        if (writes) readWhole(path);
        else await load(target, of, { ms: WARM_UP_MS, count: PICKS });
        return load(target, of, { ms, ...(count && { count: count() }) });
      };
      return { name: caseName(name, size), run };
    }),
  );
}

const WARM_UP_MS = 60_000;

/** Not in the process that has the database open: to close any descriptor of the file gives back SQLite's locks. */
function readWhole(path: string): void {
  const file = openSync(path, 'r');
  const part = new Uint8Array(8 * 1024 * 1024);
  while (readSync(file, part) > 0);
  closeSync(file);
}
