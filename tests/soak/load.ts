import { type Draw, openDraw } from '../support/draw.ts';
import { QUIET_APP, type SoakedVault } from './vault.ts';

/** What the load found since it was last asked. */
export interface Found {
  /** From the moment a request was due to its whole answer, in order. */
  readonly latencies: readonly number[];
  /** Answers by request and status; what is not 200 is a fault. */
  readonly answers: Readonly<Record<string, number>>;
  /** How long the load itself stood still at most: then its times are not the vault's. */
  readonly ownStallMs: number;
}

/** A load that is offered at a rate, whether or not the vault keeps up. */
export interface Load {
  /** What was found since the last time. */
  take(): Found;
  /** Resolves when the requests that are open have been answered. */
  stop(): Promise<void>;
}

/** One request in so many has a connection of its own. */
const FRESH_ONE_IN = 10;
/** More wait only if the vault stands still; the others are counted as not sent. */
const OPEN_MAX = 2_000;
const TIMEOUT_MS = 30_000;
const TICK_MS = 5;

/** Offers a mix of what people ask for, from ever other clients. */
export function offerMix(vault: SoakedVault, { perSecond, seed }: { perSecond: number; seed: number }): Load {
  const draw = openDraw(seed);
  const people: Known = { sent: [], registered: [], next: 1 };
  let latencies: number[] = [];
  let answers: Record<string, number> = {};
  let [due, open, ownStallMs, last] = [performance.now(), 0, 0, performance.now()];
  const idle: (() => void)[] = [];
  const note = (name: string) => {
    answers[name] = (answers[name] ?? 0) + 1;
  };
  const ask = async (dueAt: number) => {
    const { line, body, headers = {}, done } = pick(vault, people, draw);
    const [method = '', path = ''] = line.split(' ');
    const name = `${method} ${path.split('?')[0]}`;
    open++;
    try {
      const response = await fetch(`${vault.url}${path}`, {
        method,
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: { 'Edge-Connecting-IP': clientOf(draw), 'Content-Type': 'application/json', ...headers },
        keepalive: draw.below(FRESH_ONE_IN) > 0,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      await response.text();
      latencies.push(performance.now() - dueAt);
      note(`${name} ${response.status}`);
      if (response.status === 200) done?.();
    } catch (error) {
      note(`${name} ${error instanceof Error ? error.name : 'failed'}`);
    }
    if (--open === 0) for (const resolve of idle.splice(0)) resolve();
  };
  const timer = setInterval(() => {
    const now = performance.now();
    ownStallMs = Math.max(ownStallMs, now - last - TICK_MS);
    for (last = now; due <= now; due += 1000 / perSecond) {
      if (open < OPEN_MAX) ask(due);
      else note('not sent');
    }
  }, TICK_MS);
  return {
    take() {
      const found = { latencies: latencies.toSorted((a, b) => a - b), answers, ownStallMs };
      [latencies, answers, ownStallMs] = [[], {}, 0];
      return found;
    },
    stop: () =>
      new Promise((resolve) => {
        clearInterval(timer);
        if (open === 0) resolve();
        else idle.push(resolve);
      }),
  };
}

interface Known {
  /** Addresses that a code was sent to. */
  readonly sent: string[];
  readonly registered: string[];
  next: number;
}

interface Asked {
  readonly line: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** What is known once it is answered. */
  readonly done?: () => void;
}

const KNOWN_MAX = 10_000;
const QUIET_ONE_IN = 400;

/** Half look-ups and checks, a third the way to a registration, the rest what pages ask for. */
function pick(vault: SoakedVault, people: Known, draw: Draw): Asked {
  const roll = draw.below(100);
  const n = people.next++;
  // Each stream hears of it.
  if (draw.below(QUIET_ONE_IN) === 0)
    return { line: 'POST /api/sessions', body: sessionOf(`quiet${n}`), headers: { 'X-Vault-App': QUIET_APP } };
  if (roll < 15) return { line: 'GET /api/status' };
  if (roll < 30) return { line: `GET /api/sessions/check?identifier=soak${n}&channel=handle` };
  if (roll < 60 && people.registered.length > 0) {
    const credential = people.registered[draw.below(people.registered.length)];
    return { line: `GET /api/dids/lookup?credentialId=${credential}` };
  }
  if (roll < 75) return send(people, `soak${n}@example.com`);
  if (roll < 88) return check(vault, people) ?? { line: 'GET /pay' };
  return register(people, n);
}

function send(people: Known, identifier: string): Asked {
  const done = () => remember(people.sent, identifier);
  return { line: 'POST /api/verify/send', body: { identifier, channel: 'email' }, done };
}

/** Verifies the newest code that is known. */
function check(vault: SoakedVault, people: Known): Asked | undefined {
  const identifier = people.sent.pop();
  const code = identifier === undefined ? undefined : vault.takeCode(identifier);
  if (code === undefined) return undefined;
  return { line: 'POST /api/verify/check', body: { identifier, channel: 'email', code } };
}

function register(people: Known, n: number): Asked {
  const credentialId = Buffer.from(`soak${n}`.padEnd(16, '.')).toString('base64url');
  const body = { ...sessionOf(`reg${n}`), credentialId, txHash: `0x${n.toString(16).padStart(64, '0')}` };
  return { line: 'POST /api/dids', body, done: () => remember(people.registered, credentialId) };
}

function sessionOf(handle: string) {
  return { handle, did: `did:key:z${handle}` };
}

function remember(list: string[], one: string): void {
  list.push(one);
  if (list.length > KNOWN_MAX) list.shift();
}

function clientOf(draw: Draw): string {
  return `10.${draw.below(256)}.${draw.below(256)}.${draw.below(256)}`;
}
