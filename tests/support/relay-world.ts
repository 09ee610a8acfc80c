// A vault that relays behind a node whose answers a test changes, and what people and operators see of it.
import { expect } from 'bun:test';
import { type Candidate, createCandidate, type RelayChain } from './candidates.ts';
import { testClock } from './clock.ts';
import { type Forwarder, startForwarder } from './forwarder.ts';
import { startVault, type TestVault } from './vault.ts';

/** More than the pause between two looks at anything that is watched. */
const PAUSE = 30_000;

/** Changes the result of a node's call: its method, parameters and result; undefined leaves it as it is. */
export type Lie = (method: string, params: readonly unknown[], result: unknown) => unknown;

/** A vault with a registrar's key, and its node. */
export interface RelayWorld {
  readonly t: TestVault;
  readonly node: Forwarder;
  /** Lets the node answer something else, until it is honest again. */
  lie(lie: Lie): void;
  beHonest(): void;
  /** Somebody asks to be registered; the answer may come when it will. Resolves once the relay is signed, or stored. */
  submit(
    status?: 'signed' | 'stored',
  ): Promise<Candidate & { readonly reply: Promise<{ status: number; body: unknown }> }>;
  /** Somebody who has not asked yet. */
  candidate(): Promise<Candidate>;
  relayOf(candidate: Candidate): Promise<Record<string, unknown>>;
  /** What the look-up shows of a registration. */
  told(candidate: Candidate): Promise<string>;
  /** Lets all be due that is watched, and does the background work. */
  look(ms?: number): Promise<void>;
  /** What `/readyz` says of the relay. */
  relayState(): Promise<string>;
  logged(event: string): readonly Readonly<Record<string, unknown>>[];
  stop(): Promise<void>;
}

let people = 0;

/** Opens one on a chain, with settings on top. */
export async function openRelayWorld(
  chain: RelayChain,
  vars: Record<string, string> = {},
  options: Parameters<typeof startVault>[1] = {},
): Promise<RelayWorld> {
  const node = startForwarder(chain.url);
  const settings = { ...chain.vars, RPC_URL: node.url, ...vars };
  const t = await startVault(settings, { clock: testClock(), ...options });
  await t.call('GET /api/sessions/status');
  const relayOf = (one: Pick<Candidate, 'did'>) => readRelay(t, one);
  const candidate = () => createCandidate(chain, `person${++people}`, t.clock.now());
  return {
    t,
    node,
    lie: (lie) => {
      node.trouble = (forward, _methods, body) => answerWith(lie, forward, body);
    },
    beHonest: () => {
      node.trouble = undefined;
    },
    candidate,
    async submit(status = 'signed') {
      const one = await candidate();
      const reply = t.call('POST /api/dids', one.body);
      reply.catch(() => undefined);
      await t.idle();
      expect(isAt((await relayOf(one))['status'], status)).toBe(true);
      return { ...one, reply };
    },
    relayOf,
    told: (one) => readStatus(t, one),
    look: (ms) => look(t, ms),
    relayState: async () => (await t.call('GET /readyz')).body.relay,
    logged: (event) => t.entries.filter((entry) => entry.event === event),
    async stop() {
      await t.stop();
      await node.stop();
    },
  };
}

/** Lets all be due that a vault watches, and does its background work. */
export async function look(t: TestVault, ms = PAUSE): Promise<void> {
  await t.clock.advance(ms);
  await t.work();
}

/** The newest relay of a registration; `tx_hash` is the registration's. */
export async function readRelay(t: TestVault, { did }: Pick<Candidate, 'did'>): Promise<Record<string, unknown>> {
  const [row] = await t.rows(
    `SELECT relays.*, registrations.tx_hash, registrations.final AS registration_final FROM relays
      JOIN registrations ON registrations.id = registration_id WHERE did = :did ORDER BY relays.id DESC`,
    { did },
  );
  return row ?? {};
}

/** What the look-up shows of a registration. */
export async function readStatus(t: TestVault, { credentialId }: Candidate): Promise<string> {
  const { status, body } = await t.call('GET /api/dids/lookup', { credentialId });
  return status === 404 ? 'failed' : `${body.status}${body.proven ? ', proven' : ''}`;
}

function isAt(status: unknown, wanted: 'signed' | 'stored'): boolean {
  return wanted === 'stored' ? status !== undefined : status === wanted;
}

/** The answer of a node, with the results that a lie changes. */
export async function answerWith(lie: Lie, forward: () => Promise<Response>, body: string): Promise<Response> {
  const calls = [JSON.parse(body)].flat() as { id: number; method: string; params: unknown[] }[];
  const answers = [await (await forward()).json()].flat() as { id: number; result?: unknown }[];
  const told = answers.map((answer) => {
    const call = calls.find(({ id }) => id === answer.id);
    const result = call && lie(call.method, call.params, answer.result);
    return result === undefined ? answer : { jsonrpc: '2.0', id: answer.id, result };
  });
  return Response.json(Array.isArray(JSON.parse(body)) ? told : told[0]);
}
