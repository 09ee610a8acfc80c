import { type Finding, load, type RequestOf, request, type Span } from './frame/load.ts';
import type { Target } from './frame/target.ts';
import { credentialOf, REGISTRATIONS } from './rivals/work.ts';

/** What a vault of `tests/bench/server.ts` is asked for, as measurements of `ms` each. */
export interface VaultWork {
  status(): Promise<Finding>;
  /** Of one registration after the other, of those that `register` made. */
  lookup(): Promise<Finding>;
  /** To a new address from a new client each time. */
  send(): Promise<Finding>;
  /** The codes of the last `send`, each once: stops when they are used up, and sends some first when none is left. */
  check(): Promise<Finding>;
  session(): Promise<Finding>;
}

/** Registers as many as look-ups go through. */
export async function register(vault: Target): Promise<void> {
  const one = (n: number) =>
    request('POST', '/api/dids', {
      body: { credentialId: credentialOf(n), handle: `bench${n}`, did: `did:key:z${n}`, txHash: `0x${'1'.repeat(64)}` },
      ip: ipOf(n),
    });
  mustBeOk(await load(vault, one, { ms: 60_000, connections: 8, count: REGISTRATIONS }));
}

/** The work on one vault. */
export function vaultWork(vault: Target, ms: number, { connections = 64 } = {}): VaultWork {
  let [sent, unchecked, opened, found] = [0, 0, 0, 0];
  const run = async (requestOf: RequestOf, span: Partial<Span>) =>
    mustBeOk(await load(vault, requestOf, { ms, connections, ...span }));
  const post = (path: string, n: number, body: unknown) => request('POST', path, { body, ip: ipOf(n) });
  const send = () => {
    unchecked = sent;
    return run(() => sendRequest(sent++), { holds: '"ok":true' });
  };
  return {
    status: () => run(() => request('GET', '/api/status'), { holds: '"chainId":84532' }),
    lookup: () => run(() => lookupRequest(found++), { holds: '"did":"did:key:z' }),
    send,
    async check() {
      if (unchecked === sent) await send();
      const first = unchecked;
      unchecked = sent;
      const one = (n: number) => post('/api/verify/check', first + n, { ...who(first + n), code: CODE });
      return run(one, { count: sent - first, holds: '"verified":true' });
    },
    session: () => run(() => post('/api/sessions', opened, { handle: `open${opened++}`, did: 'did:key:z' }), {}),
  };
}

/** Looks up one of the registrations. */
export function lookupRequest(n: number): string {
  return request('GET', `/api/dids/lookup?credentialId=${credentialOf(n % REGISTRATIONS)}`);
}

/** A code to a new address. */
export function sendRequest(n: number): string {
  return request('POST', '/api/verify/send', { body: who(n), ip: ipOf(n) });
}

/** The code of every send: what the vault's `randomCode` makes of bytes that are all 7. */
export const CODE = String(0x07070707 % 1_000_000).padStart(6, '0');

/** A client's address, by its number. */
export function ipOf(n: number): string {
  return `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
}

/** Throws unless every answer was 200: the time of a refusal is no result. */
export function mustBeOk(finding: Finding): Finding {
  const statuses = Object.keys(finding.statuses);
  if (statuses.length === 1 && statuses[0] === '200') return finding;
  throw new Error(`not every answer was 200: ${JSON.stringify(finding.statuses)}`);
}

function who(n: number): { readonly identifier: string; readonly channel: string } {
  return { identifier: `user${n}@example.com`, channel: 'email' };
}
